// Package check defines checkers and what they work with: a Run, which has the world, the model, and the methods that
// report violations.
//
//	m := check.New(world, wants)
//	m.Add(checkers...)
//
// A Monitor passes each observation, each record and the end of each step to the checkers that subscribe to it. Facts
// are events that checkers notice along the way and that other packages may want to count. The package knows
// no property, but for what several of them need: RenewedAfter, RenewalRetry and Backoff say when a node renews a lock and
// for how long it gives back what it cannot run.
package check
