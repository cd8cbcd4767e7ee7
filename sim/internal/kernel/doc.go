// Package kernel runs a simulation with a virtual clock, an event queue, and a trace with a digest. It knows nothing
// about the simulated system.
//
//	k, err := kernel.New[event](kernel.Options{Chooser: sim.Random(seed)})
//	for e, ok := k.Next(); ok; e, ok = k.Next() {
//		handle(e) // Uses k.After, sim.Chance(k.Chooser(), …), k.Step, trace.Begin …
//	}
//	fmt.Println(trace.Digest())
//
// The owner adds plain values of its own event type to a [Kernel], removes them one at a time, acts on each, and
// records the results in a [Trace]. Time advances only when an event is removed. Next returns false when no event is
// waiting or when the step budget is used up (Exhausted).
//
// A step is an event that changed something or made a call. The budget limits the steps of a run.
//
// # Guarantees
//
//   - Under the same seed, the same events come out in the same order and give the same digest on every platform.
//   - Events are ordered by time, then priority, then the order in which they were added.
//   - Handles are values. A handle that outlives its event has no effect.
//   - Every run ends, by the step budget or after sixteen times as many events.
//
// Time is counted in whole microseconds and is never negative. Misuse, such as adding an event in the past, panics.
// Nothing here is safe for concurrent use.
package kernel
