// Package sim is a deterministic simulation kernel: a virtual clock, a queue of events, keyed random draws, choices
// that can be recorded and replayed, and a trace with a digest. It knows nothing about the simulated system.
//
//	k, err := sim.New[event](sim.Options{Chooser: sim.Random(seed)}) // then k.After and k.Next, as below
//
// # Terms
//
// A key names a place in the simulated domain, segment by segment, for example "node:2/run:1/call:7/latency". A draw
// is a random value; it is a function of the seed and its key. A choice is a draw, or the priority of an event, treated
// as a decision that another party may make. A chooser makes the choices. A step is an event that changed something or
// made a call; a budget of them bounds a run.
//
// # How a run goes
//
// The owner adds plain values of its own event type to a [Kernel], takes them out again one by one, acts on each, and
// tells a [Trace] what happened. Time passes only when an event is taken out.
//
//	k, err := sim.New[event](sim.Options{Chooser: sim.Random(seed)})
//	...
//	for {
//		e, ok := k.Next()
//		if !ok {
//			break // No event is waiting, or k.Exhausted().
//		}
//		handle(e) // Uses k.After, sim.Chance(k.Chooser(), …), k.Step, trace.Begin …
//	}
//	fmt.Println(trace.Digest())
//
// # Guarantees
//
//   - The same events under the same seed come out in the same order and give the same draws and the same digest, on
//     every platform that Go runs on, including 32-bit ones. Tests pin the values; changing one is a change of format.
//   - Events come out by time, then priority, then the order in which they were added. Under [Random] a priority is a
//     function of seed and key, so adding or cancelling one event leaves the order of the others as it was, unless two
//     share both time and key.
//   - A draw disturbs no other draw: there is no shared stream of random numbers to shift.
//   - Value 0 of every choice is benign, and a [Recording] may leave it out. On replay, a choice that is not
//     recorded is benign. It is never drawn afresh.
//   - A chooser handles outcomes, not raw numbers: yes or no, an index, microseconds above the least. So a recording
//     can be read and edited by hand.
//   - Handles are values. A handle that outlives its event does nothing.
//   - The step budget, and sixteen times as many events, end every run.
//
// # Limits
//
//   - Nothing here is safe for concurrent use. Runs share nothing, so each goroutine can have its own run.
//   - Keys are 64-bit hashes. Numbered siblings never collide; other keys do so with a chance of about n²/2⁶⁵ for n
//     keys, and then share a draw.
//   - A key names one draw. Two draws with one key give the same or related values; [Recorder.Reused] finds such keys.
//   - Time is counted in whole microseconds and is never negative.
//   - A broken rule of use, such as an event in the past, panics.
package sim
