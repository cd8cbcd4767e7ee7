// Package liveness checks that whatever must happen does happen within a bound. It has the checkers for the L
// properties.
//
//	m.Add(liveness.Checks(state)...) // m is a check.Monitor, state a track.State
//
// Bounds are computed from the nodes' options and from actual backoffs; a violation's message shows the sum with its
// terms (bound.go; stallBound is that of an instance without a committed turn). Obligations are checked whenever the world asks which of them are open, and at the end of each phase.
package liveness
