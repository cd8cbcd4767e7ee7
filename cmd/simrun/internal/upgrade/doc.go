// Package upgrade tries an operator's upgrade before the operator does it.
//
//	report, err := upgrade.Try(upgrade.Config{Scenario: s, Snapshot: shot, Builds: builds, First: 1, Seeds: 100})
//	fmt.Print(report.Preflight(), report.Text())
//
// Preflight holds the steps against what the store holds: which instances no node can take, and which a node takes and
// cannot read, from which step on. Try runs the upgrade for many seeds, and also every beginning of it: stopping after each
// step, and rolling back from there, which names the point of no return. Orders tries the steps in other orders.
//
// Work that nobody admits is stranded: it waits until a node that admits it is back. Every run ends with relief, which
// brings up a node of the pinned build, or of a newer one, and takes none above its own build; so it shows what of the
// stranded work no build of the plan takes.
package upgrade
