package sim

import (
	"fmt"
	"slices"
)

// Recording holds the decisions that a chooser made in one run, in the order in which it was asked. It is plain data
// that can be stored, edited and shrunk. Replay turns it back into a chooser.
type Recording struct {
	// Seed and SeededOrder determine the order of events that are due at the same time and have no entry in Priorities.
	// With SeededOrder, they are ordered as by Random with this seed; without it, in the order in which they were
	// added. No draw depends on Seed.
	Seed        uint64
	SeededOrder bool
	// Complete makes a recording include choices of value 0. On replay, a choice missing from a complete recording is a
	// divergence; a choice missing from any other recording gets the benign value. Set Complete before calling Record.
	Complete bool
	// Choices holds the draws that are not 0, or all draws if Complete is set.
	Choices []RecordedChoice
	// Priorities overrides the order of individual events. Their N is zero.
	Priorities []RecordedChoice
}

// RecordedChoice is one decision: the key, the number of values, and the value chosen. Replay looks it up by the key's
// hash.
type RecordedChoice struct {
	Key Key
	// N is the number of possible values.
	N uint64
	// Value is the value chosen. Invariant: for a choice, it is below N; for a priority, it can be anything.
	Value uint64
}

// baseOrderer is implemented by choosers whose priorities follow from a seed, or are all zero, apart from listed
// exceptions. Only for these can a recording omit priorities.
type baseOrderer interface {
	baseOrder() (seed uint64, seeded bool)
}

// recorder forwards to another chooser and records its answers.
type recorder struct {
	inner      Chooser
	into       *Recording
	order      random // orders by the Recording's Seed, if SeededOrder
	asked      map[uint64]uint64
	priorities map[uint64]struct{}
}

// Record returns a chooser that makes the same decisions as inner and appends each of them to the recording. It copies
// Seed and SeededOrder from inner and stores only priorities that these do not determine: none for Random and FIFO, the
// overrides for a Chooser returned by Replay, and all nonzero ones for any other. With keys derived from RootKey(true),
// the recording is readable; with other keys it is a list of hashes, which can be replayed just as well.
func Record(inner Chooser, into *Recording) Chooser {
	r := &recorder{inner: inner, into: into, asked: map[uint64]uint64{}, priorities: map[uint64]struct{}{}}
	into.Seed, into.SeededOrder = r.baseOrder()
	r.order = *newRandom(into.Seed)
	return r
}

func (r *recorder) baseOrder() (seed uint64, seeded bool) {
	if o, ok := r.inner.(baseOrderer); ok {
		return o.baseOrder()
	}
	return 0, false
}

// Choose implements Chooser.
func (r *recorder) Choose(k Key, n uint64) uint64 {
	v := r.inner.Choose(k, n)
	r.keep(k, n, v)
	return v
}

// Weigh implements Chooser.
func (r *recorder) Weigh(k Key, odds Odds) uint64 {
	v := r.inner.Weigh(k, odds)
	r.keep(k, odds.N(), v)
	return v
}

// Priority implements Chooser.
func (r *recorder) Priority(k Key) uint64 {
	p := r.inner.Priority(k)
	base := uint64(0)
	if r.into.SeededOrder {
		base = r.order.Priority(k)
	}
	if p == base {
		return p
	}
	if _, known := r.priorities[k.hash]; !known {
		r.priorities[k.hash] = struct{}{}
		r.into.Priorities = append(r.into.Priorities, RecordedChoice{Key: k, Value: p})
	}
	return p
}

func (r *recorder) keep(k Key, n, v uint64) {
	first, again := r.asked[k.hash]
	if again && first == v {
		return
	}
	if !again {
		r.asked[k.hash] = v
	}
	if v != 0 || r.into.Complete {
		r.into.Choices = append(r.into.Choices, RecordedChoice{Key: k, N: n, Value: v})
	}
}

// replayer answers from a recording and keeps track of where the run diverges from it.
type replayer struct {
	rec *Recording
	// Invariant: choices and priorities map a hash to an index into the recording's slice with the same name.
	choices     map[uint64]int
	priorities  map[uint64]int
	order       random
	divergences []string
	unnamed     uint64
}

// maxDivergences limits how many divergences are listed. A run that diverges from its recording tends to do so
// everywhere.
const maxDivergences = 100

// Replay returns a chooser that answers from a recording, by key. A choice that is not in the recording gets the benign
// value 0, never a new draw. A choice that was recorded with a different number of values, or with a value out of
// range, also gets 0 and counts as a divergence. Priorities are taken from the recording's Priorities. All others
// follow from its Seed if SeededOrder is set; otherwise they are 0, which means first come, first served.
//
// The chooser uses the recording without copying or modifying it. Do not modify it while the chooser is in use.
// Divergences reports where the run diverged from it.
func Replay(rec *Recording) Chooser {
	r := &replayer{rec: rec, order: *newRandom(rec.Seed)}
	r.choices, r.priorities = r.index(rec.Choices, "choice"), r.index(rec.Priorities, "priority")
	return r
}

func (r *replayer) index(recorded []RecordedChoice, what string) map[uint64]int {
	byHash := make(map[uint64]int, len(recorded))
	for i, c := range recorded {
		if first, twice := byHash[c.Key.hash]; twice {
			r.diverge("%s %v is recorded twice, as %d and as %d; the first is used", what, c.Key, recorded[first].Value, c.Value)
		} else {
			byHash[c.Key.hash] = i
		}
	}
	return byHash
}

// Choose implements Chooser.
func (r *replayer) Choose(k Key, n uint64) uint64 {
	mustN(k, n)
	return r.answer(k, n)
}

// Weigh implements Chooser. It returns the recorded outcome even if its odds are now zero.
func (r *replayer) Weigh(k Key, odds Odds) uint64 { return r.answer(k, odds.N()) }

func (r *replayer) answer(k Key, n uint64) uint64 {
	i, ok := r.choices[k.hash]
	if !ok {
		if r.rec.Complete {
			r.diverge("choice %v of %d is not in the recording; took 0", k, n)
		}
		return 0
	}
	c := r.rec.Choices[i]
	switch {
	case c.N != n:
		r.diverge("choice %v is of %d, recorded as %d of %d; took 0", k, n, c.Value, c.N)
		return 0
	case c.Value >= n:
		r.diverge("choice %v is of %d, recorded value %d is out of range; took 0", k, n, c.Value)
		return 0
	}
	return c.Value
}

// Priority implements Chooser.
func (r *replayer) Priority(k Key) uint64 {
	if i, ok := r.priorities[k.hash]; ok {
		return r.rec.Priorities[i].Value
	}
	if r.rec.SeededOrder {
		return r.order.Priority(k)
	}
	return 0
}

func (r *replayer) baseOrder() (seed uint64, seeded bool) { return r.rec.Seed, r.rec.SeededOrder }

func (r *replayer) diverge(format string, args ...any) {
	if len(r.divergences) == maxDivergences {
		r.unnamed++
		return
	}
	r.divergences = append(r.divergences, fmt.Sprintf(format, args...))
}

// Divergences lists, in order of occurrence, the choices in which a run with a chooser returned by Replay differs from
// the recorded run. A choice differs if it was requested with a different number of values, was recorded twice or out
// of range, or is missing from a Complete recording. Divergences lists the first hundred and counts the rest in a final
// line. For any other chooser it returns nil.
func Divergences(c Chooser) []string {
	r, ok := c.(*replayer)
	if !ok {
		return nil
	}
	all := slices.Clone(r.divergences)
	if r.unnamed > 0 {
		all = append(all, fmt.Sprintf("and %d more", r.unnamed))
	}
	return all
}
