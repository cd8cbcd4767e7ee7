// Package explore tries a small scenario in every way: each order of its schedule steps, each moment for each of them, and
// crashes of any node at any moment.
//
//	report, err := explore.Run(explore.Options{Plan: p, Config: config, Crashes: 1, Within: 10 * time.Second})
//	if report.Failed > 0 { ... report.Plan violates report.Properties ... }
//
// A moment is one after which something has changed in the store, in a node, or in a call on its way. Nothing is left to
// chance: there are no faults, calls take the least time, and simultaneous events come first come, first served. What may
// vary is where the actions, steps and crashes, come between the moments.
//
// Runs that reach the same state with the same actions to come go on alike, so that only the first is continued. Two
// states are the same if store, nodes and calls on their way are, apart from times, tokens and numbers of rows. That is an
// abstraction: a failure that needs another time for the same state is not looked for. Every run is judged by every
// property, up to its end.
package explore
