package matrix

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/durosim/durosim/internal/dev/mutate"
)

// drawn returns the mutants to try. It takes the same number from each room, or all if the room has fewer. A larger
// sample contains every smaller one, as long as names do not change.
func (t *trials) drawn() []*mutate.Mutant {
	hash := func(m *mutate.Mutant) string { h := sha256.Sum256([]byte(t.draw + m.Key())); return string(h[:]) }
	list := slices.SortedFunc(slices.Values(t.mutants), func(a, b *mutate.Mutant) int { return cmp.Compare(hash(a), hash(b)) })
	if t.sample == 0 {
		return list
	}
	rank, taken := map[*mutate.Mutant]int{}, map[string]int{}
	for _, m := range list {
		a := t.areas[t.path(m)]
		room := cmp.Or(a.room, a.path)
		rank[m] = taken[room]
		taken[room]++
	}
	slices.SortStableFunc(list, func(a, b *mutate.Mutant) int { return cmp.Compare(rank[a], rank[b]) })
	return list[:min(t.sample, len(list))]
}

func (t *trials) tryAll() {
	next := make(chan *mutate.Mutant)
	var all sync.WaitGroup
	for range t.jobs {
		all.Go(func() {
			for m := range next {
				t.keep(m, t.try(m))
			}
		})
	}
	for _, m := range t.drawn() {
		if _, known := t.results[m.Key()]; !known {
			next <- m
		}
	}
	close(next)
	all.Wait()
}

// try runs the checks on mutant m.
func (t *trials) try(m *mutate.Mutant) result {
	r := result{Key: m.Key(), Package: m.Package, Kind: m.Kind, Fate: idle, Where: fmt.Sprintf("%s/%s:%d", m.Package, m.File, m.Line)}
	began := time.Now()
	for times := 1; !t.checkers && r.Fate != caught && times <= t.deep; times += max(t.deep-1, 1) {
		t.judged(m, &r, times)
	}
	if r.Fate != caught {
		t.tested(m, &r)
	}
	r.Seconds = time.Since(began).Seconds()
	return r
}

// judged runs the judges that execute the mutated place on m, with times as many seeds as usual.
func (t *trials) judged(m *mutate.Mutant, r *result, times int) {
	judges := t.reaching(m, times)
	if len(judges) == 0 {
		return
	}
	list, crash := t.ask(m.ID, times, "-only", strings.Join(judges, ","))
	for _, a := range list {
		if a.objection != "" {
			r.Fate, r.By, r.Seeds = caught, a.judge, a.seeds
			r.Property, _, _ = strings.Cut(a.objection, ":")
			return
		}
		if a.digest != t.digests[a.judge+strconv.Itoa(times)] {
			r.Fate = unseen
		}
	}
	if crash != "" {
		r.Fate, r.By, r.Property = caught, "crash", crash
	}
}

// tested runs the area's tests on m.
func (t *trials) tested(m *mutate.Mutant, r *result) {
	for _, ts := range t.areas[t.path(m)].tests {
		if t.ignored[testsOf+ts.path] {
			continue
		}
		if err := t.runTests(m.ID, ts); err != nil {
			r.By, r.Property, r.Fate = testsOf+ts.path, string(r.Fate), byTests
			if t.checkers || ts == tables {
				r.Fate = caught
			}
			return
		}
	}
}

const testsOf = "tests of "

// runTests runs tests with mutant active; mutant 0 is the original. The time limit is four times the duration on the
// original, but at least 120 s.
func (t *trials) runTests(mutant int, ts tests) error {
	times := max(4, 1+int(4*t.testTime[ts]/t.timeout))
	_, err := t.start(mutant, times, t.program(ts), root+ts.path, "-test.failfast", "-test.short", "-test.run", ts.run)
	return err
}

// originalTests runs the tests on the original. A test that fails on the original cannot be used to judge mutants.
func (t *trials) originalTests() {
	t.testTime = map[tests]time.Duration{}
	for _, path := range slices.Sorted(maps.Keys(t.areas)) {
		for _, ts := range t.areas[path].tests {
			if _, known := t.testTime[ts]; known {
				continue
			}
			began := time.Now()
			err := t.runTests(0, ts)
			t.testTime[ts] = time.Since(began)
			if err != nil {
				t.ignored[testsOf+ts.path] = true
				fmt.Fprintf(os.Stderr, "matrix: the tests of %s fail without a mutant: %v\n", ts.path, err)
			}
		}
	}
}
