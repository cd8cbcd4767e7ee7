// Package sim makes a run a function of its seed: it provides keyed draws, choices that can be recorded and replayed,
// and the digest of a run. It knows nothing about the simulated system.
//
//	var rec sim.Recording
//	c := sim.Record(sim.Random(seed), &rec)           // records the choices of a run
//	lost := sim.Chance(c, key, 1, 20)                 // a function of seed and key
//	same := sim.Chance(sim.Replay(&rec), key, 1, 20)  // the recorded value, never a new draw
//
// # Terms
//
// A key names a place in the simulated domain, segment by segment, for example "node:2/run:1/call:7/latency". A draw
// is a random value; it is a function of the seed and its key. A choice is a draw or the priority of an event, seen as
// a decision that can be made elsewhere. A chooser makes the choices.
//
// # Guarantees
//
//   - The same questions under the same seed get the same answers, on every platform that Go runs on, including 32-bit
//     ones. Tests pin the values; changing one is a change of format.
//   - A draw does not affect other draws: there is no shared stream of random numbers.
//   - Under [Random] a priority is a function of seed and key, so adding or cancelling one event leaves the order of the
//     others as it was, unless two share both time and key.
//   - Value 0 of every choice is benign, and a [Recording] may leave it out. On replay, a choice that is not
//     recorded is benign. It is never drawn again.
//   - A chooser handles outcomes, not raw numbers: yes or no, an index, microseconds above the minimum. So a recording
//     can be read and edited by hand.
//
// # Limits
//
//   - Nothing here is safe for concurrent use. Runs share nothing, so each goroutine can have its own run.
//   - Keys are 64-bit hashes. Numbered siblings never collide; other keys do so with a chance of about n²/2⁶⁵ for n
//     keys, and then share a draw.
//   - A key names one draw. Two draws with one key give the same or related values.
package sim
