// Package explore tries a small scenario in every way: it tries each order of the schedule steps, each moment for each
// step, and crashes of any node at any moment.
//
//	report, err := explore.Run(explore.Options{Plan: p, Config: config, Crashes: 1, Within: 10 * time.Second})
//	if report.Failed > 0 { ... report.Plan violates report.Properties ... }
//
// A moment is a time at which the store, a node, or a call in flight changes. Nothing is random: there are no faults,
// calls take the minimum time, and simultaneous events happen in the order in which they were scheduled. Only the
// positions of the actions (steps and crashes) among the moments vary.
//
// Runs that reach the same state with the same remaining actions continue identically, so explore continues only the
// first. Two states are the same if their stores, nodes and calls in flight are equal apart from times, tokens and row
// numbers. This is an abstraction: explore misses a failure that needs the same state at a different time. Every
// property judges every run, up to its end.
package explore
