// Package explore runs a small scenario exhaustively. It tries the schedule steps in every order and at every moment,
// and crashes every node at every moment.
//
//	report, err := explore.Run(explore.Options{Plan: p, Config: config, Crashes: 1, Within: 10 * time.Second})
//	if report.Failed > 0 { ... report.Plan violates report.Properties ... }
//
// A moment is a time at which the store, a node, or a call in flight changes. Nothing is random: there are no faults,
// calls take the minimum time, and simultaneous events happen in the order in which they were scheduled. Only the
// placement of the actions (steps and crashes) among the moments varies.
//
// Two runs that reach the same state with the same actions remaining continue identically, so explore continues only
// the first. Two states are the same if their stores, nodes and calls in flight are equal apart from times, tokens and
// row numbers. This is an abstraction: explore misses a failure that only occurs when the same state is reached at a
// different time. Every run is checked against every property, right to its end.
package explore
