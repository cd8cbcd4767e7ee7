package sim

import (
	"fmt"
	"slices"
)

// Recording holds the decisions of a chooser in one run, in the order in which it was asked. It is plain data: it can
// be written down, edited and shrunk, and Replay turns it back into a chooser.
type Recording struct {
	// Seed and SeededOrder order the events due at the same time that have no entry in Priorities: as Random does
	// with this seed or, without SeededOrder, in the order in which they were added. No draw depends on Seed.
	Seed        uint64
	SeededOrder bool
	// Complete keeps choices of value 0 too. A choice that is missing on replay is then a divergence; otherwise it
	// just takes the benign value. Set it before Record.
	Complete bool
	// Choices are the draws: those that are not 0, or all of them when Complete.
	Choices []RecordedChoice
	// Priorities override the order of single events. Their N is zero.
	Priorities []RecordedChoice
}

// RecordedChoice is one decision: key, number of values, and value chosen. Replay looks it up by the key's hash.
type RecordedChoice struct {
	Key Key
	// N is the number of values to choose from.
	N uint64
	// Value is the value chosen. Invariant: for a choice, below N; for a priority, anything.
	Value uint64
}

// baseOrderer is a chooser whose priorities follow from a seed, or are all zero, apart from named exceptions. Only such
// a chooser is recorded without writing down each priority.
type baseOrderer interface {
	baseOrder() (seed uint64, seeded bool)
}

// recorder asks another chooser and writes down the answers.
type recorder struct {
	inner      Chooser
	into       *Recording
	order      random // the order from Recording's Seed, if SeededOrder
	asked      map[uint64]uint64
	priorities map[uint64]struct{}
	reused     []Key
}

// Record returns a chooser that decides as inner does and appends each decision to the recording into. It copies Seed and
// SeededOrder from inner, and stores only priorities that these do not determine: none for Random and FIFO, the overrides
// for a Chooser that Replay returned, all nonzero ones for any other. Keys built from RootKey(true) make the recording
// readable; others make it a list of hashes that replays just as well.
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
	if again {
		r.reused = append(r.reused, k)
		if first == v {
			return
		}
	} else {
		r.asked[k.hash] = v
	}
	if v != 0 || r.into.Complete {
		r.into.Choices = append(r.into.Choices, RecordedChoice{Key: k, N: n, Value: v})
	}
}

// Reused returns the keys that were asked for more than once. Each is a caller's mistake: two draws that share a
// key are not independent, and only the first can be replayed.
func (r *recorder) Reused() []Key { return r.reused }

// replayer answers from a recording, and reports where the run departed from it.
type replayer struct {
	rec *Recording
	// Invariant: choices and priorities map a hash to an index into the recording's slice of the same name.
	choices        map[uint64]int
	priorities     map[uint64]int
	usedChoices    []bool
	usedPriorities []bool
	order          random
	asked          uint64
	defaulted      uint64
	divergences    []string
	unnamed        uint64
}

// maxDivergences bounds the divergences that are named. A run that departs from its recording tends to do so all over.
const maxDivergences = 100

// Replay returns a chooser that answers from a recording, by key. A choice that the recording does not have gets
// the benign value 0, never a fresh draw. So does one that was recorded among a different number of values, or with a
// value out of range, and that is a divergence. Priorities come from the recording's Priorities; for the rest they
// follow from its Seed when SeededOrder is set, and are 0, first come first served, when not.
//
// The recording is read, not copied and not changed: leave it alone while the chooser is in use. Divergences tells where the run departed from it.
func Replay(rec *Recording) Chooser { return newReplayer(rec) }

func newReplayer(rec *Recording) *replayer {
	r := &replayer{
		rec:            rec,
		choices:        make(map[uint64]int, len(rec.Choices)),
		priorities:     make(map[uint64]int, len(rec.Priorities)),
		usedChoices:    make([]bool, len(rec.Choices)),
		usedPriorities: make([]bool, len(rec.Priorities)),
		order:          *newRandom(rec.Seed),
	}
	r.index(r.choices, r.usedChoices, rec.Choices, "choice")
	r.index(r.priorities, r.usedPriorities, rec.Priorities, "priority")
	return r
}

func (r *replayer) index(byHash map[uint64]int, used []bool, recorded []RecordedChoice, what string) {
	for i, c := range recorded {
		if first, twice := byHash[c.Key.hash]; twice {
			used[i] = true // Named here, so it need not be listed as unused as well.
			r.diverge("%s %v is recorded twice, as %d and as %d; the first counts", what, c.Key,
				recorded[first].Value, c.Value)
			continue
		}
		byHash[c.Key.hash] = i
	}
}

// Choose implements Chooser.
func (r *replayer) Choose(k Key, n uint64) uint64 {
	mustN(k, n)
	return r.answer(k, n)
}

// Weigh implements Chooser. It returns the recorded outcome even if its odds are now zero.
func (r *replayer) Weigh(k Key, odds Odds) uint64 { return r.answer(k, odds.N()) }

func (r *replayer) answer(k Key, n uint64) uint64 {
	r.asked++
	i, ok := r.choices[k.hash]
	if !ok {
		r.defaulted++
		if r.rec.Complete {
			r.diverge("choice %v of %d is not in the recording; took 0", k, n)
		}
		return 0
	}
	r.usedChoices[i] = true
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
		r.usedPriorities[i] = true
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

// Divergences lists, in the order met, each choice in which the run with a chooser that Replay returned differs from the
// recorded run: asked among a different number of values, recorded out of range or twice or, if the recording is
// Complete, missing from it. After the first hundred they are only counted, in a last line. For any other chooser it
// returns nil.
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

// Unused returns the keys that were recorded but not asked for so far: choices first, then priorities, as recorded.
func (r *replayer) Unused() []Key {
	var keys []Key
	for i, used := range r.usedChoices {
		if !used {
			keys = append(keys, r.rec.Choices[i].Key)
		}
	}
	for i, used := range r.usedPriorities {
		if !used {
			keys = append(keys, r.rec.Priorities[i].Key)
		}
	}
	return keys
}

// Asked returns the number of choices asked for so far.
func (r *replayer) Asked() uint64 { return r.asked }

// Defaulted returns how many choices got 0 because the recording did not have them. With a recording that is not
// Complete this is ordinary: choices of value 0 are not kept.
func (r *replayer) Defaulted() uint64 { return r.defaulted }
