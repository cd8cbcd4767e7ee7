package command

import (
	"testing"

	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
)

func TestTheWorstStatusCounts(t *testing.T) {
	order := []int{exitInternal, exitDrift, exitHandler, exitSafety, exitLiveness, exitPlan, exitVacuous, exitOK}
	for i, a := range order {
		for _, b := range order[i:] {
			if worst(a, b) != a || worst(b, a) != a {
				t.Errorf("of %d and %d it is %d and %d, want %d", a, b, worst(a, b), worst(b, a), a)
			}
		}
	}
}

func TestSummaryStatus(t *testing.T) {
	violated := func(classes ...cluster.Class) *campaign.Summary {
		s := &campaign.Summary{}
		for _, c := range classes {
			s.Properties = append(s.Properties, campaign.PropertyCount{Class: c})
		}
		return s
	}
	missed := []string{"rescue"}
	drifted := violated(cluster.ClassSafety)
	drifted.Drifts = []campaign.Drift{{Seed: 3}}
	crashed := violated()
	crashed.Internal = []campaign.InternalError{{Seed: 3}}
	for _, c := range []struct {
		name   string
		sum    *campaign.Summary
		missed []string
		want   int
	}{
		{"nothing", violated(), nil, exitOK},
		{"safety over liveness", violated(cluster.ClassLiveness, cluster.ClassSafety), missed, exitSafety},
		{"liveness over vacuity", violated(cluster.ClassLiveness), missed, exitLiveness},
		{"safety over plan", violated(cluster.ClassPlan, cluster.ClassSafety), nil, exitSafety},
		{"plan over vacuous", violated(cluster.ClassPlan), []string{"x"}, exitPlan},
		{"handler over safety", violated(cluster.ClassSafety, cluster.ClassHandler), nil, exitHandler},
		{"an internal violation is ours", violated(cluster.ClassInternal, cluster.ClassSafety), nil, exitInternal},
		{"vacuity", violated(), missed, exitVacuous},
		{"drift over safety", drifted, missed, exitDrift},
		{"a crash", crashed, missed, exitInternal},
	} {
		if got := summaryExit(c.sum, c.missed); got != c.want {
			t.Errorf("%s: status %d, want %d", c.name, got, c.want)
		}
	}
}
