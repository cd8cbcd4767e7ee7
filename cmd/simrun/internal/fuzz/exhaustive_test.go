package fuzz_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/cmd/simrun/internal/fuzz"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

const small = `nodes A B run 1.5.0
instance one runs Chain with 1
at 1s upgrade A to 2.0.0
at 2s upgrade B to 2.0.0
`

func scope(t *testing.T, text string, bugs ...faults.BugID) fuzz.Scope {
	t.Helper()
	s := sample.Must(scenario.Parse("small.txt", []byte(text)))(t)
	p := sample.Must(s.Expand(1, scenario.Overrides{Bugs: bugs}))(t)
	return fuzz.Scope{Plan: p, Within: 60 * time.Millisecond, Workers: 2, Config: func() cluster.Config {
		return cluster.Config{Monitor: func(w *cluster.World) cluster.Monitor { return properties.New(w, properties.Options{}) }}
	}}
}

func exhaust(t *testing.T, o fuzz.Scope) fuzz.Exploration {
	t.Helper()
	r := sample.Must(fuzz.Exhaust(o))(t)
	return *r
}

// TestStatesAreCounted checks that the number of states does not depend on the number of workers, that all states are
// visited, and that the steps are tried in both orders.
func TestStatesAreCounted(t *testing.T) {
	o := scope(t, small)
	first := exhaust(t, o)
	o.Workers = 1
	if diff := cmp.Diff(first, exhaust(t, o)); diff != "" {
		t.Errorf("-two workers +one worker:\n%s", diff)
	}
	if first.Open != 0 || first.Failed != 0 || first.Longest != 2 || first.States < 60 {
		t.Errorf("the exploration is %+v", first)
	}
	fewer := scope(t, strings.Replace(small, "upgrade B to 2.0.0", "mark end", 1))
	if r := exhaust(t, fewer); r.Longest != 2 || r.States >= first.States {
		t.Errorf("with a step of no node, the exploration is %+v, and without %+v", r, first)
	}
	fewer = scope(t, strings.NewReplacer("at 2s upgrade B to 2.0.0\n", "", "with 1", "with 1 at 5s").Replace(small))
	if one := exhaust(t, fewer); one.States >= first.States || one.Longest != 1 || one.Failed != 0 {
		t.Errorf("with one step there are %d states, with two %d", one.States, first.States)
	}
}

// TestOrdersAndCrashes checks that each node is upgraded first in some run, and that nodes crash.
func TestOrdersAndCrashes(t *testing.T) {
	o := scope(t, small)
	o.Crashes, o.Runs = 1, 80
	ways := map[string]bool{}
	config := o.Config
	o.Workers = 1
	o.Config = func() cluster.Config {
		cfg := config()
		inner := cfg.Monitor
		cfg.Monitor = func(w *cluster.World) cluster.Monitor {
			var order []string
			for _, s := range w.Plan().Schedule {
				order = append(order, string(s.Verb)+" "+s.Node)
			}
			ways[strings.Join(order, ", ")] = true
			return inner(w)
		}
		return cfg
	}
	r := exhaust(t, o)
	for _, want := range []string{"", "upgrade A", "upgrade B", "crash A, start A", "crash B, start B", "upgrade A, upgrade B"} {
		if !ways[want] {
			t.Errorf("no run does %q: %v", want, ways)
		}
	}
	if r.Open == 0 || r.Runs != 80 {
		t.Errorf("cut off after %d runs, with %d ways open", r.Runs, r.Open)
	}
}

// TestBugsAreFound checks that the search finds bugs that show only if steps happen at certain moments, and that it
// returns a plan that shows each of them.
func TestBugsAreFound(t *testing.T) {
	for bug, property := range map[faults.BugID]string{"engine/version-check-missing": "S10", "provider/filter-ignored": "S01"} {
		r := exhaust(t, scope(t, small, bug))
		if r.Failed == 0 || r.Violation.Property != property || len(r.Plan.Schedule) == 0 {
			t.Errorf("%s: %+v", bug, r)
		}
	}
}

func TestScopesTooLarge(t *testing.T) {
	for _, c := range []struct{ more, want string }{
		{"nodes C D run 1.5.0\n", "4 nodes: at most 3"},
		{"instance two runs Chain with 1\ninstance three runs Chain with 1\n", "3 instances"},
		{"at 3s crash A\nafter 1s start A\nafter 1s crash B\n", "5 schedule steps"},
		{"probe P reads 2.0.0 filter any\n", "probes"},
	} {
		if _, err := fuzz.Exhaust(scope(t, small+c.more)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.more, err)
		}
	}
	o := scope(t, small)
	o.Crashes = 3
	if _, err := fuzz.Exhaust(o); err == nil || !strings.Contains(err.Error(), "3 crashes") {
		t.Errorf("three crashes: %v", err)
	}
}
