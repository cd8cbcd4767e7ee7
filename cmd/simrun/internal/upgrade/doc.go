// Package upgrade simulates an upgrade before an operator performs it.
//
//	report, err := upgrade.Try(upgrade.Config{Scenario: s, Snapshot: shot, Builds: builds, First: 1, Seeds: 100})
//	fmt.Print(report.Preflight(), report.Text())
//
// Preflight checks the steps against the contents of the store. It reports the instances that no node can take and
// those that a node takes but cannot read, with the step after which this begins. Try runs the upgrade for many seeds.
// It also stops after each step and rolls back from there, which determines the point of no return. TryOrders tries the
// steps in other orders.
//
// Work that no node admits is stranded: it waits until a node that admits it is back. Every run ends with relief, which
// starts a node of the pinned build or a newer one; that node takes no work above its own build. Relief thus shows the
// stranded work that no build of the plan takes.
package upgrade
