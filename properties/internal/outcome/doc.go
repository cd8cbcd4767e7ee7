// Package outcome compares how each of a plan's instances ended with the end that the plan expects.
//
//	m.Add(outcome.New(m.Run, state)) // m is a check.Monitor, state a track.State
//
// The Checker records how instances ended and why, why nodes refused them, what recovery and rescue did for them, and
// how long they waited for a build. When a run finishes, it determines each instance's fate. For each unexpected end,
// it reports a violation of the property "outcome", class plan. It does not judge whether the contract was kept.
package outcome
