package sim

import (
	"fmt"
	"time"
)

// Odds holds the likelihood of each outcome of Chooser.Weigh as a whole number. Outcome 0 is benign. Odds is a small
// value, and a ratio needs no allocation.
type Odds struct {
	// Invariant: weights is nil for a ratio; otherwise num and den are zero.
	weights  []uint32
	num, den uint64
}

// Ratio returns the odds of two outcomes: 1 with probability num in den, otherwise 0. If num is at least den, outcome 1
// is certain. Ratio panics if den is zero.
func Ratio(num, den uint64) Odds {
	if den == 0 {
		panic(fmt.Sprintf("sim: a chance of %d in 0", num))
	}
	return Odds{num: num, den: den}
}

// Weights returns the odds with one outcome per weight. The caller keeps the slice and must not modify it while the
// Odds are in use. Weights panics if the slice is empty. If all weights are zero, the outcome is 0.
func Weights(weights []uint32) Odds {
	if len(weights) == 0 {
		panic("sim: odds without a weight")
	}
	return Odds{weights: weights}
}

// N returns the number of outcomes, including those whose weight is zero.
func (o Odds) N() uint64 {
	if o.weights == nil {
		return 2
	}
	return uint64(len(o.weights))
}

// Outcome maps a uniformly distributed 64-bit number to an outcome. A raw number that satisfies a ratio also satisfies
// every higher ratio with the same den, so raising a fault's rate adds occurrences without moving existing ones.
func (o Odds) Outcome(raw uint64) uint64 {
	if o.weights == nil {
		if scale(raw, o.den) < o.num {
			return 1
		}
		return 0
	}
	return uint64(outcome(o.weights, raw))
}

func outcome(weights []uint32, raw uint64) int {
	sum := uint64(0)
	for _, w := range weights {
		sum += uint64(w)
	}
	if sum == 0 {
		return 0
	}
	rest := scale(raw, sum)
	for i, w := range weights {
		if rest < uint64(w) {
			return i
		}
		rest -= uint64(w)
	}
	panic(fmt.Sprintf("sim: weights %v changed while in use", weights))
}

// benign reports whether 0 is the only possible outcome.
func (o Odds) benign() bool {
	if o.weights == nil {
		return o.num == 0
	}
	for _, w := range o.weights[1:] {
		if w != 0 {
			return false
		}
	}
	return true
}

// Chance reports whether something with probability num in den happens; false is benign. The recorded value is 0 or 1.
// If num is zero, the chooser is not asked, so a disabled fault leaves nothing in a recording. Chance panics if den is
// zero.
func Chance(c Chooser, k Key, num, den uint64) bool {
	odds := Ratio(num, den)
	return !odds.benign() && c.Weigh(k, odds) == 1
}

// ChanceOf is Chance for the key k.Then(s). Nearly all draws of a run have this form, because they decide whether a
// fault happens at an opportunity. For these, the default chooser needs only the key's hash.
func ChanceOf(c Chooser, k Key, s *Segment, num, den uint64) bool {
	if r, ok := c.(*random); ok && den > 0 {
		return scale(r.raw(Key{hash: k.then(s)}), den) < num
	}
	return Chance(c, k.Then(s), num, den)
}

// Pick returns an index into weights, chosen with a probability proportional to its weight; index 0 is benign. The
// recorded value is the index. If only index 0 has a nonzero weight, the chooser is not asked. The caller keeps the
// slice. Pick panics if the slice is empty.
func Pick(c Chooser, k Key, weights []uint32) int {
	odds := Weights(weights)
	if odds.benign() {
		return 0
	}
	if r, ok := c.(*random); ok { // the default chooser; see ChanceOf
		return outcome(weights, r.raw(k))
	}
	return int(c.Weigh(k, odds))
}

// Between returns a duration from lo to hi, both inclusive, in steps of a microsecond counted from lo; lo is benign.
// The recorded value is the number of microseconds above lo. If lo equals hi, the chooser is not asked. Between panics
// if hi is below lo.
func Between(c Chooser, k Key, lo, hi time.Duration) time.Duration {
	if hi < lo {
		panic(fmt.Sprintf("sim: draw %v between %v and %v", k, lo, hi))
	}
	// The difference is unsigned, so it is correct even if it exceeds the range of Duration.
	steps := (uint64(hi) - uint64(lo)) / uint64(time.Microsecond)
	if steps == 0 {
		return lo
	}
	var n uint64
	if r, ok := c.(*random); ok {
		n = scale(r.raw(k), steps+1)
	} else {
		n = c.Choose(k, steps+1)
	}
	return time.Duration(uint64(lo) + n*uint64(time.Microsecond))
}
