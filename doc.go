// Package durosim runs your orchestrations on clusters of mixed-version nodes, under go test: upgrades, rollbacks,
// crashes and bad data, from one seed. Test is the face of it:
//
//	durosim.Test(t, durosim.Config{Scenario: "plans/upgrade.txt", Seeds: 50, Handlers: register})
//
// Test runs a scenario over many seeds, checks every property (package properties), and reports a failure as the
// smallest plan that shows it, with a command that reproduces it. Shrink finds that plan. Config.EachRun adds your own
// invariants and monitors.
package durosim
