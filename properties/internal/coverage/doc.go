// Package coverage counts the points that a run reaches: named states that a campaign should see.
//
//	counter := coverage.New(m.Run, state) // state is a track.State
//	for _, p := range coverage.All() { ... } // all points, reached or not
//
// A Counter receives facts from the checkers and from package track. It does not judge anything.
package coverage
