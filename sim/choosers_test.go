package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim"
)

func named(t *testing.T, name string, seed uint64) sim.Chooser {
	t.Helper()
	make := sample.Must(sim.NamedChooser(name))(t)
	return make(seed)
}

// faultKey names a draw of call n of one of four nodes.
func faultKey(n uint64) sim.Key { return sim.RootKey(true).Num(labelNode, n%4).Num(labelCall, n) }

func TestNamedChooserRefuses(t *testing.T) {
	for _, name := range []string{"", "Random", "random:1", "fifo:2", "pct", "pct:", "pct:0", "pct:9", "pct:x", "delay", "enumerate:-1", "portfolio:2",
		"reseed", "reseed:", "reseed:1", "reseed:1:2:3", "reseed:a:1", "reseed:5:1:5:2"} {
		if _, err := sim.NamedChooser(name); err == nil || !strings.Contains(err.Error(), `"`+name+`"`) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Sets of two among the first four faults come before any with the fifth.
func TestEnumerate(t *testing.T) {
	var got []string
	for seed := uint64(1); seed <= 7; seed++ {
		c := named(t, "enumerate:2", seed)
		var happened []string
		for n := range uint64(20) {
			if sim.Chance(c, faultKey(n), 1, 1000) {
				happened = append(happened, fmt.Sprint(n))
			}
		}
		got = append(got, strings.Join(happened, ","))
	}
	want := []string{"0,1", "0,2", "1,2", "0,3", "1,3", "2,3", "0,4"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDelayHappensSoOften(t *testing.T) {
	for seed := range uint64(20) {
		c := named(t, "delay:3", seed)
		happened, amounts := 0, 0
		for n := range uint64(1 << 16) {
			k := faultKey(n)
			if sim.Chance(c, k, 1, 1_000_000) {
				happened++
			}
			if c.Choose(k.At(labelTimer), 1_000_000) > 0 {
				amounts++
			}
			if p := c.Priority(k); p != 0 {
				t.Fatalf("seed %d: priority %d", seed, p)
			}
		}
		if happened != 3 || amounts != 3 {
			t.Errorf("seed %d: %d faults and %d amounts that are not 0, want 3", seed, happened, amounts)
		}
	}
}

// Under pct an actor draws from one quarter of the range, until it is demoted: then it takes the longest.
func TestPCTDemotes(t *testing.T) {
	const n = 1 << 20
	all := map[uint64]bool{}
	for seed := range uint64(20) {
		c := named(t, "pct:2", seed)
		quarter, slowest := map[uint64]uint64{}, map[uint64]bool{}
		for i := range uint64(1 << 15) {
			k := faultKey(i)
			v, last := c.Choose(k, n), c.Priority(k.At(labelTimer)) == ^uint64(0)
			actor := i % 4
			switch first, known := quarter[actor]; {
			case v == n-1 && last:
				slowest[actor] = true
			case slowest[actor]:
				t.Fatalf("seed %d: the demoted actor %d takes %d at question %d", seed, actor, v, i)
			case !known:
				quarter[actor] = v / (n / 4)
				all[v/(n/4)] = true
			case first != v/(n/4):
				t.Fatalf("seed %d: actor %d draws %d, and before from quarter %d", seed, actor, v, first)
			}
		}
		if len(slowest) == 0 || len(slowest) > 2 {
			t.Errorf("seed %d: %d actors are demoted, want 1 or 2", seed, len(slowest))
		}
	}
	if len(all) != 4 {
		t.Errorf("quarters %v are drawn from, want all", all)
	}
}

func TestReseed(t *testing.T) {
	c, first, second, third := named(t, "reseed:10:7:15:9", 3), sim.Random(3), sim.Random(7), sim.Random(9)
	for n := range uint64(20) {
		want := first
		if n >= 10 {
			want = second
		}
		if n >= 15 {
			want = third
		}
		k := faultKey(n)
		if got := c.Choose(k, 1<<40); got != want.Choose(k, 1<<40) {
			t.Errorf("draw %d is %d", n, got)
		}
		if c.Priority(k) != first.Priority(k) {
			t.Errorf("priority %d is not that of the first seed", n)
		}
	}
}

func TestPortfolioTakesTurns(t *testing.T) {
	var seen []string
	for seed := range uint64(12) {
		name := sim.PortfolioMember(seed)
		seen = append(seen, name)
		a, b := named(t, "portfolio", seed), named(t, name, seed)
		for n := range uint64(100) {
			if k := faultKey(n); a.Choose(k, 1000) != b.Choose(k, 1000) || sim.Chance(a, k, 1, 2) != sim.Chance(b, k, 1, 2) {
				t.Fatalf("seed %d is not %s", seed, name)
			}
		}
	}
	slices.Sort(seen)
	if diff := cmp.Diff(sim.Portfolio(), slices.Compact(seen)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A recording repeats the decisions of any chooser.
func TestNamedChoosersReplay(t *testing.T) {
	for _, name := range append(sim.Portfolio(), "fifo", "enumerate:3", "reseed:50:2") {
		rec := &sim.Recording{}
		ask := func(c sim.Chooser) (answers []uint64) {
			for n := range uint64(500) {
				k := faultKey(n)
				answers = append(answers, c.Weigh(k, sim.Ratio(1, 5)), c.Choose(k.At(labelTimer), 1000), c.Priority(k))
			}
			return answers
		}
		first := ask(sim.Record(named(t, name, 4), rec))
		if diff := cmp.Diff(first, ask(sim.Replay(rec))); diff != "" {
			t.Errorf("%s -first +replayed:\n%s", name, diff)
		}
		if diff := cmp.Diff(first, ask(named(t, name, 4))); diff != "" {
			t.Errorf("%s -first +again:\n%s", name, diff)
		}
	}
}
