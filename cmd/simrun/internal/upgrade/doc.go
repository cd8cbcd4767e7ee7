// Package upgrade simulates an upgrade before an operator performs it.
//
//	report, err := upgrade.Try(upgrade.Config{Scenario: s, Snapshot: shot, Builds: builds, First: 1, Seeds: 100})
//	fmt.Print(report.Preflight(), report.Text())
//
// Preflight checks the steps against the contents of the store. For each step, it reports the instances that no node
// admits, and those that a node admits but cannot read. Try runs the upgrade with many seeds. To find the point of no
// return, it also stops after each step and rolls back from there. TryOrders tries the steps in other orders.
//
// Work that no node admits is stranded: it waits until a node that admits it is back. Every run ends with relief, which
// starts a node of the pinned build or a newer one. That node takes no work above its own build. Relief thus reveals
// which stranded work no build in the plan can take.
package upgrade
