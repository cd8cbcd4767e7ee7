package sim

import (
	"fmt"
	"math/bits"
)

// Chooser makes the decisions that a run leaves open: the result of each draw, and the order of events that are due at
// the same time. Runs are randomized, replayed, recorded and enumerated through this interface.
//
// Value 0 is always benign: no fault, the lowest latency, the first in line. A key names one draw of a run, so asking
// twice with the same key may give the same answer. Implementations must depend only on the questions asked so far.
// They are not safe for concurrent use.
type Chooser interface {
	// Choose returns a number in [0,n), all equally likely. It panics if n is 0.
	Choose(k Key, n uint64) uint64
	// Weigh returns a number in [0,odds.N()), distributed according to odds. It is separate from Choose so that the
	// outcome itself (fault or no fault) is recorded, rather than the raw number behind it. Callers use Chance and
	// Pick. Implementations must not retain odds, because its weights belong to the caller.
	Weigh(k Key, odds Odds) uint64
	// Priority orders events that are due at the same time: lower values first, ties in order of addition.
	Priority(k Key) uint64
}

// Random returns the default chooser, in which each draw and each priority depends only on the seed and the key. Adding
// a draw or an event therefore changes no other draw or priority.
func Random(seed uint64) Chooser { return newRandom(seed) }

// FIFO returns a chooser that draws like Random but keeps events that are due at the same time in the order in which
// they were added.
func FIFO(seed uint64) Chooser { return &fifo{random: *newRandom(seed)} }

// random holds the seed, expanded in advance into three words, so that a draw costs only two mixes.
type random struct {
	seed  uint64
	salt  uint64
	draw  uint64
	order uint64
}

func newRandom(seed uint64) *random {
	return &random{
		seed:  seed,
		salt:  Mix(seed + golden),
		draw:  Mix(seed ^ 0x64726177_64726177), // "draw"
		order: Mix(seed ^ 0x6f726465_6f726465), // "orde"; makes priorities independent of draws
	}
}

func (r *random) Choose(k Key, n uint64) uint64 {
	mustN(k, n)
	return scale(r.raw(k), n)
}

func (r *random) Weigh(k Key, odds Odds) uint64 { return odds.Outcome(r.raw(k)) }

func (r *random) Priority(k Key) uint64 { return Mix(Mix(k.hash^r.salt) + r.order) }

func (r *random) raw(k Key) uint64 { return Mix(Mix(k.hash^r.salt) + r.draw) }

func (r *random) baseOrder() (seed uint64, seeded bool) { return r.seed, true }

type fifo struct{ random }

func (f *fifo) Priority(Key) uint64 { return 0 }

func (f *fifo) baseOrder() (seed uint64, seeded bool) { return f.seed, false }

// scale maps a raw 64-bit draw to [0,n) by taking the high half of a product. The probability of an outcome is off by
// at most n in 2^64, which no campaign can detect. Unlike a rejection loop, scale always takes exactly one draw.
func scale(raw, n uint64) uint64 {
	hi, _ := bits.Mul64(raw, n)
	return hi
}

func mustN(k Key, n uint64) {
	if n == 0 {
		panic(fmt.Sprintf("sim: choice %v has no values to choose from", k))
	}
}
