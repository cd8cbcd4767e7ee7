// Package kernel runs a simulation: a virtual clock, a queue of events, and a trace with a digest. It knows nothing about
// the simulated system.
//
//	k, err := kernel.New[event](kernel.Options{Chooser: sim.Random(seed)})
//	for e, ok := k.Next(); ok; e, ok = k.Next() {
//		handle(e) // Uses k.After, sim.Chance(k.Chooser(), …), k.Step, trace.Begin …
//	}
//	fmt.Println(trace.Digest())
//
// The owner adds plain values of its own event type to a [Kernel], removes them one by one, acts on each, and records
// the result in a [Trace]. Time passes only when an event is taken out. Next returns false when no event is waiting, or
// when the budget of steps is spent (Exhausted).
//
// A step is an event that changed something or made a call; a budget of them bounds a run.
//
// # Guarantees
//
//   - The same events under the same seed come out in the same order and give the same digest, on every platform.
//   - Events come out by time, then priority, then the order in which they were added.
//   - Handles are values. A handle that outlives its event does nothing.
//   - The step budget, and sixteen times as many events, end every run.
//
// Time is counted in whole microseconds and is never negative. Misuse, such as an event in the past, panics. Nothing
// here is safe for concurrent use.
package kernel
