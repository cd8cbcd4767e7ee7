package sim

import (
	"fmt"
	"time"
)

// Odds holds the likelihood of each outcome of Chooser.Weigh, in whole numbers. Outcome 0 is benign. Odds is a small
// value that needs no allocation for a ratio.
type Odds struct {
	// Invariant: weights is nil for a ratio; otherwise num and den are zero.
	weights  []uint32
	num, den uint64
}

// Ratio returns the odds of two outcomes: 1 with num chances in den, else 0. A num of at least den makes 1 certain. A
// den of zero panics.
func Ratio(num, den uint64) Odds {
	if den == 0 {
		panic(fmt.Sprintf("sim: a chance of %d in 0", num))
	}
	return Odds{num: num, den: den}
}

// Weights returns the odds of one outcome for each weight. The caller keeps the slice and must not change it
// while the Odds are in use. An empty slice panics; if all weights are zero, the outcome is 0.
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

// Outcome maps a number that is uniform over 64 bits to an outcome. A raw number that meets a ratio also meets every
// higher ratio of the same den: raising a fault's rate adds occurrences and moves none.
func (o Odds) Outcome(raw uint64) uint64 {
	if o.weights == nil {
		if scale(raw, o.den) < o.num {
			return 1
		}
		return 0
	}
	sum := uint64(0)
	for _, w := range o.weights {
		sum += uint64(w)
	}
	if sum == 0 {
		return 0
	}
	rest := scale(raw, sum)
	for i, w := range o.weights {
		if rest < uint64(w) {
			return uint64(i)
		}
		rest -= uint64(w)
	}
	panic(fmt.Sprintf("sim: weights %v changed while in use", o.weights))
}

// benign reports whether only outcome 0 is possible.
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

// Chance reports whether something with num chances in den happens; false is benign. The recorded value is 0 or 1. If
// num is zero the chooser is not asked, so a fault that is off leaves nothing in a recording. A den of zero panics.
func Chance(c Chooser, k Key, num, den uint64) bool {
	odds := Ratio(num, den)
	return !odds.benign() && c.Weigh(k, odds) == 1
}

// ChanceOf is Chance for the key k.Then(s). Nearly all draws of a run have this form: they decide whether a fault
// happens at an opportunity. The default chooser needs only the hash of the key for them.
func ChanceOf(c Chooser, k Key, s *Segment, num, den uint64) bool {
	if r, ok := c.(*random); ok && den > 0 {
		return scale(r.raw(Key{hash: k.then(s)}), den) < num
	}
	return Chance(c, k.Then(s), num, den)
}

// Pick returns an index into weights, each as likely as its share of their sum; index 0 is benign. The recorded value
// is the index. If only index 0 has a weight, the chooser is not asked. The caller keeps the slice. An empty slice
// panics.
func Pick(c Chooser, k Key, weights []uint32) int {
	odds := Weights(weights)
	if odds.benign() {
		return 0
	}
	return int(c.Weigh(k, odds))
}

// Between returns a duration from lo to hi, both included, in steps of a microsecond counted from lo; lo is benign.
// The recorded value is the number of microseconds above lo. If lo equals hi, the chooser is not asked; hi below lo
// panics.
func Between(c Chooser, k Key, lo, hi time.Duration) time.Duration {
	if hi < lo {
		panic(fmt.Sprintf("sim: draw %v between %v and %v", k, lo, hi))
	}
	// The difference is unsigned, so it is right even where it exceeds a Duration.
	steps := (uint64(hi) - uint64(lo)) / uint64(time.Microsecond)
	if steps == 0 {
		return lo
	}
	return time.Duration(uint64(lo) + c.Choose(k, steps+1)*uint64(time.Microsecond))
}
