// Package search makes random sequences of calls on a provider, through both of its interfaces and over time, and
// judges each answer against the specification. It shrinks a sequence with a rejected answer, and shows the result. In
// a test:
//
//	search.Check(t, undertest.Factory{New: newStore}, search.Options{Sequences: 20000})
//
// A sequence depends only on its seed, so a seed that found a mistake finds it again. The calls use few instances,
// keys, sessions and versions, so that they interact. Time moves to just before, exactly to and just after the instants
// at which something may change. Everything that the store lets a test damage gets damaged.
package search
