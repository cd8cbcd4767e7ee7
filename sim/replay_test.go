package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/sim"
)

// drawMany asks c for a mix of choices and priorities and returns all answers.
func drawMany(c sim.Chooser, recording bool) []string {
	var all []string
	for i := range uint64(200) {
		k := sim.RootKey(recording).Num(labelNode, i)
		all = append(all, fmt.Sprint(
			c.Choose(k.Num(labelCall, 0), 5),
			sim.Chance(c, k.Num(labelCall, 1), 1, 4),
			sim.Pick(c, k.Num(labelCall, 2), []uint32{5, 1, 1}),
			sim.Between(c, k.Num(labelCall, 3), time.Second, 2*time.Second),
			c.Priority(k), c.Priority(k)))
	}
	return all
}

// oddOrder is a foreign chooser whose priorities do not depend on a seed.
type oddOrder struct{ sim.Chooser }

func (o oddOrder) Priority(k sim.Key) uint64 { return k.Hash() & 3 }

// questions is a chooser that notes the keys with which it is asked.
type questions struct {
	sim.Chooser
	choices, priorities []sim.Key
}

func (q *questions) Choose(k sim.Key, n uint64) uint64 {
	q.choices = append(q.choices, k)
	return q.Chooser.Choose(k, n)
}

func (q *questions) Weigh(k sim.Key, odds sim.Odds) uint64 {
	q.choices = append(q.choices, k)
	return q.Chooser.Weigh(k, odds)
}

func (q *questions) Priority(k sim.Key) uint64 {
	q.priorities = append(q.priorities, k)
	return q.Chooser.Priority(k)
}

func has(keys []sim.Key, one sim.Key) bool {
	return slices.ContainsFunc(keys, func(k sim.Key) bool { return k.Hash() == one.Hash() })
}

// unused returns the recorded keys that were not asked for: of choices, then of priorities.
func (q *questions) unused(rec *sim.Recording) (keys []sim.Key) {
	for _, c := range rec.Choices {
		if !has(q.choices, c.Key) {
			keys = append(keys, c.Key)
		}
	}
	for _, c := range rec.Priorities {
		if !has(q.priorities, c.Key) {
			keys = append(keys, c.Key)
		}
	}
	return keys
}

// defaulted counts the choices asked for that are not in the recording.
func (q *questions) defaulted(rec *sim.Recording) (n int) {
	for _, k := range q.choices {
		if !slices.ContainsFunc(rec.Choices, func(c sim.RecordedChoice) bool { return c.Key.Hash() == k.Hash() }) {
			n++
		}
	}
	return n
}

func TestReplayGivesWhatWasRecorded(t *testing.T) {
	edited := &sim.Recording{Seed: 4, SeededOrder: true, Priorities: []sim.RecordedChoice{{Key: sim.RootKey(true).Num(labelNode, 3), Value: 0}}}
	for _, c := range []struct {
		name       string
		chooser    func() sim.Chooser
		complete   bool
		priorities int
	}{
		{"random", func() sim.Chooser { return sim.Random(9) }, false, 0},
		{"random, complete", func() sim.Chooser { return sim.Random(9) }, true, 0},
		{"fifo", func() sim.Chooser { return sim.FIFO(9) }, false, 0},
		{"replay of an edited order", func() sim.Chooser { return sim.Replay(edited) }, false, 1},
		{"recorder inside", func() sim.Chooser { return sim.Record(sim.Random(9), &sim.Recording{}) }, false, 0},
		{"foreign order", func() sim.Chooser { return oddOrder{sim.Random(9)} }, false, 160},
	} {
		for _, named := range []bool{true, false} {
			rec := &sim.Recording{Complete: c.complete}
			plain := drawMany(c.chooser(), named)
			if got := drawMany(sim.Record(c.chooser(), rec), named); !slices.Equal(got, plain) {
				t.Errorf("%s: recording changes the run", c.name)
			}
			replayer := &questions{Chooser: sim.Replay(rec)}
			if got := drawMany(replayer, !named); !slices.Equal(got, plain) {
				t.Errorf("%s: replay differs\n%q\n%q", c.name, got, plain)
			}
			if d, u := sim.Divergences(replayer.Chooser), replayer.unused(rec); len(d)+len(u) != 0 {
				t.Errorf("%s: divergences %q, unused %v", c.name, d, u)
			}
			if n := replayer.defaulted(rec); len(replayer.choices) != 800 || n != 800-len(rec.Choices) {
				t.Errorf("%s: asked %d, defaulted %d, recorded %d", c.name, len(replayer.choices), n, len(rec.Choices))
			}
			if len(rec.Priorities) != c.priorities {
				t.Errorf("%s: %d priorities recorded, want %d", c.name, len(rec.Priorities), c.priorities)
			}
			if c.complete && len(rec.Choices) != 800 {
				t.Errorf("%s: %d choices recorded, want all", c.name, len(rec.Choices))
			}
			for _, choice := range rec.Choices {
				if choice.Value >= choice.N || choice.Value == 0 && !c.complete {
					t.Errorf("%s: recorded %v", c.name, choice)
				}
			}
		}
	}
}

func TestReplayOfNothingIsBenign(t *testing.T) {
	r := &questions{Chooser: sim.Replay(&sim.Recording{})}
	for _, line := range drawMany(r, false) {
		if line != "0 false 0 1s 0 0" {
			t.Fatalf("got %q", line)
		}
	}
	if n := r.defaulted(&sim.Recording{}); len(sim.Divergences(r.Chooser)) != 0 || n != 800 {
		t.Errorf("divergences %q, defaulted %d", sim.Divergences(r.Chooser), n)
	}
}

func TestReplayNamesDivergences(t *testing.T) {
	root := sim.RootKey(true)
	a, b, c, d := root.Num(labelCall, 1), root.Num(labelCall, 2), root.Num(labelCall, 3), root.Num(labelCall, 4)
	rec := &sim.Recording{
		Complete:   true,
		Choices:    []sim.RecordedChoice{{Key: a, N: 5, Value: 4}, {Key: b, N: 5, Value: 9}, {Key: a, N: 5, Value: 3}, {Key: d, N: 2, Value: 1}},
		Priorities: []sim.RecordedChoice{{Key: a, Value: 1}, {Key: b, Value: 1}},
	}
	r := &questions{Chooser: sim.Replay(rec)}
	if got := r.Priority(b); got != 1 {
		t.Errorf("priority %d", got)
	}
	for _, ask := range []struct {
		key sim.Key
		n   uint64
	}{{a, 6}, {b, 5}, {c, 7}} {
		if got := r.Choose(ask.key, ask.n); got != 0 {
			t.Errorf("%v of %d: %d", ask.key, ask.n, got)
		}
	}
	want := []string{
		"choice call:1 is recorded twice, as 4 and as 3; the first is used",
		"choice call:1 is of 6, recorded as 4 of 5; took 0",
		"choice call:2 is of 5, recorded value 9 is out of range; took 0",
		"choice call:3 of 7 is not in the recording; took 0",
	}
	if got := sim.Divergences(r.Chooser); !slices.Equal(got, want) {
		t.Errorf("divergences\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := fmt.Sprint(r.unused(rec)); got != "[call:4 call:1]" {
		t.Errorf("unused %s", got)
	}
	if r.Weigh(d, sim.Ratio(0, 1)) != 1 {
		t.Error("a recorded outcome is given whatever its odds are by now")
	}
}

func TestDivergencesAreBounded(t *testing.T) {
	r := sim.Replay(&sim.Recording{Complete: true})
	for i := range uint64(150) {
		r.Choose(sim.RootKey(true).Num(labelCall, i), 2)
	}
	if got := sim.Divergences(r); len(got) != 101 || got[100] != "and 50 more" {
		t.Errorf("%d lines, last %q", len(got), got[len(got)-1])
	}
}

func TestRecorderKeepsARepeatedAnswerOnce(t *testing.T) {
	rec := &sim.Recording{}
	c := sim.Record(sim.Random(1), rec)
	k := sim.RootKey(true).Num(labelCall, 1)
	for range 3 {
		sim.Chance(c, k, 1, 1)
	}
	if len(rec.Choices) != 1 {
		t.Errorf("recorded %v", rec.Choices)
	}
}
