// Package search makes random sequences of calls on a provider, over both of its interfaces and over time, and judges
// each answer by the specification. A sequence with an answer that is refused is shrunk and shown. In a test:
//
//	search.Check(t, undertest.Factory{New: newStore}, search.Options{Sequences: 20000})
//
// A sequence is a function of its seed, so a seed that found something finds it again. The calls are made of few
// instances, keys, sessions and versions, so that they meet; time goes to just before, at and just after the instants at
// which something may change; what the store offers to damage is damaged.
package search
