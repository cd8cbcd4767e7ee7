// Package liveness checks that everything that must happen happens within a bound: the L properties.
//
//	m.Add(liveness.Checks(state)...) // m is a check.Monitor, state a track.State
//
// Bounds are computed from the options of the nodes and from actual backoffs; the message of a violation shows the
// sum with its terms. Obligations are checked when the world asks which are open, and at the end of each phase.
package liveness
