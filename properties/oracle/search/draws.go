package search

import (
	"math/rand/v2"
)

// draws makes the random choices of one sequence. They depend only on the sequence's seed.
type draws struct{ r *rand.Rand }

func newDraws(seed uint64) *draws { return &draws{rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))} }

// between returns a number from lo to hi, inclusive.
func (d *draws) between(lo, hi int) int { return lo + d.r.IntN(hi-lo+1) }

// id is like between, for ids.
func (d *draws) id(lo, hi uint64) uint64 { return lo + d.r.Uint64N(hi-lo+1) }

// oneIn returns true with a probability of 1 in n.
func (d *draws) oneIn(n int) bool { return d.r.IntN(n) == n-1 }

func pick[T any](d *draws, from []T) T { return from[d.r.IntN(len(from))] }
