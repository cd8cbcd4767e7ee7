package properties

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/internal/bugs"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// refereed runs a seed of a scenario, with the referee or without.
func refereed(t *testing.T, name string, seed uint64, referee bool, ids ...bugs.ID) *cluster.Result {
	t.Helper()
	s, err := scenario.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := s.Expand(seed, scenario.Overrides{Bugs: ids})
	if err != nil {
		t.Fatal(err)
	}
	result, err := cluster.Run(cluster.Config{Plan: plan, Seed: seed, Monitor: func(w *cluster.World) cluster.Monitor {
		return New(w, Options{Referee: referee})
	}})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestRefereeAgrees judges a few runs of scenarios with seeded histories, damage and old builds.
func TestRefereeAgrees(t *testing.T) {
	for _, name := range []string{"rolling-upgrade", "bad-history", "torn-acks", "orphans"} {
		for seed := uint64(1); seed <= 3; seed++ {
			result := refereed(t, name, seed, true)
			for _, v := range result.Violations {
				t.Errorf("%s, seed %d: %s", name, seed, v.Message)
			}
			if result.Digest != refereed(t, name, seed, false).Digest {
				t.Errorf("%s, seed %d: the referee changes the trace", name, seed)
			}
		}
	}
}

func TestRefereeRefuses(t *testing.T) {
	for _, c := range []struct {
		bug  bugs.ID
		want string
	}{
		{"provider/filter-ignored", "the filter does not admit the pin"},
		{"provider/timer-visible-at-once", "none of its messages is visible yet"},
	} {
		seen := 0
		for _, v := range refereed(t, "rolling-upgrade", 1, true, c.bug).Violations {
			if v.Property != refereeID {
				continue
			}
			if seen++; v.Class != cluster.ClassInternal || !strings.Contains(v.Message, c.want) {
				t.Errorf("%s: %+v", c.bug, v)
			}
		}
		if seen != 1 {
			t.Errorf("%s: the referee has refused %d answers, expected the first wrong one", c.bug, seen)
		}
	}
}
