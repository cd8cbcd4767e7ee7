package stray_test

import (
	"slices"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/dev/selfcheck"
	"github.com/durosim/durosim/internal/dev/stray"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
)

// TestStrayMessages runs the seeds that the scenario asks for, with its own faults and with full ones, and every judge.
func TestStrayMessages(t *testing.T) {
	full, err := scenario.NamedFaults("full")
	if err != nil {
		t.Fatal(err)
	}
	for _, over := range []scenario.Overrides{{}, {Faults: &full}} {
		options := stray.Options()
		if over.Faults != nil {
			options.Expectations = nil
		}
		all := stray.Campaign(over, options)
		all.First, all.Count, all.Workers, all.Twice = 1, 20, 1, 1
		sum, err := campaign.Run(all)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range sum.Violations {
			t.Errorf("seed %d: %s: %s", v.Seed, v.Property, v.Message)
		}
		if len(sum.Internal)+len(sum.Drifts) > 0 {
			t.Errorf("%v, %v", sum.Internal, sum.Drifts)
		}
		for _, e := range options.Expectations {
			reached := slices.ContainsFunc(sum.Coverage, func(p cluster.Point) bool { return p.Name == e.PointName() && p.Count > 0 })
			if e.Mode == plan.ModeSometimes && !reached {
				t.Errorf("never: %s", e.PointName())
			}
		}
	}
}

// TestBugsAreCaught checks that S24 catches the planted bugs that only these histories show.
func TestBugsAreCaught(t *testing.T) {
	for _, bug := range selfcheck.Catalogue() {
		if bug.Scenario != selfcheck.StrayMessages {
			continue
		}
		p, err := stray.Expand(1, scenario.Overrides{Bugs: []faults.BugID{bug.ID}})
		if err != nil {
			t.Fatal(err)
		}
		cfg := cluster.Config{Plan: p, Seed: 1}
		run := stray.Run()
		run.Monitor = selfcheck.Watch
		run.Configure(&cfg, stray.Options())
		r, err := cluster.Run(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(r.Violations, func(v cluster.Violation) bool { return v.Property == "S24" }) {
			t.Errorf("%s: %v", bug.ID, r.Violations)
		}
	}
}
