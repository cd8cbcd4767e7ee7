// Package outcome compares the end of each instance of a plan with the end that the plan expects.
//
//	m.Add(outcome.New(m.Run, state)) // m is a check.Monitor, state a track.State
//
// Checker records the ends of instances with their causes, why nodes refused them, what calm and relief did for them,
// and how long they waited for a build. At the end of a run it makes a fate for each, and reports a violation of the
// property "outcome", class plan, for each unexpected end. It does not judge whether the contract was kept.
package outcome
