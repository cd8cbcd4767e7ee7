// Package sim makes a run a function of its seed. It provides keyed draws, choices that can be recorded and replayed,
// and the digest of a run. It knows nothing about the simulated system.
//
//	var rec sim.Recording
//	c := sim.Record(sim.Random(seed), &rec)           // records the choices of a run
//	lost := sim.Chance(c, key, 1, 20)                 // a function of seed and key
//	same := sim.Chance(sim.Replay(&rec), key, 1, 20)  // the recorded value, never a new draw
//
// # Terms
//
// A key names a place in the simulated domain, segment by segment, for example "node:2/run:1/call:7/latency". A draw is
// a random value; it is a function of the seed and its key. A choice is a draw or an event's priority, seen as a
// decision that can be made elsewhere. A chooser makes the choices.
//
// # Guarantees
//
//   - Under the same seed, the same questions get the same answers on every platform that Go supports, including 32-bit
//     ones. Tests pin the values; changing one is a format change.
//   - A draw does not affect other draws: there is no shared stream of random numbers.
//   - Under [Random], a priority is a function of seed and key. Adding or cancelling an event therefore does not change
//     the order of the others, unless two of them share both time and key.
//   - Value 0 of every choice is benign, and a [Recording] may leave it out. On replay, a choice that is not in the
//     recording is benign. It is never drawn again.
//   - A chooser deals in outcomes rather than raw numbers: yes or no, an index, microseconds above the minimum. This
//     way a recording can be read and edited by hand.
//
// # Limits
//
//   - Nothing here is safe for concurrent use. Runs share nothing, so each goroutine can have its own run.
//   - Keys are 64-bit hashes. Numbered siblings never collide. Among n other keys, a collision has a probability of
//     about n²/2⁶⁵; keys that collide share a draw.
//   - A key names one draw. Two draws with the same key give the same or related values.
package sim
