// Package search makes random sequences of calls on a provider, over both of its interfaces and over time, and judges
// each answer by the specification. It shrinks a sequence with a rejected answer, and shows it. In a test:
//
//	search.Check(t, undertest.Factory{New: newStore}, search.Options{Sequences: 20000})
//
// A sequence is a function of its seed, so a seed that found a mistake finds it again. The calls use few instances,
// keys, sessions and versions, so that they interact; time moves to just before, at and just after the instants at which
// something may change; and everything that the store lets a test damage is damaged.
package search
