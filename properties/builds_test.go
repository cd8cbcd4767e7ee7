package properties_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
)

// mixWork is the work that the clusters in this file do.
const mixWork = `
faults light
instance loop-1 runs Eternal at 1s expect eternal
instance loop-2 runs Eternal at 2s expect eternal
load 30 instances from 1s over 40s
  mix 8 ProcessOrder
    raise approval topic orders data yes after 2s..12s
  mix 2 Eternal expect eternal
  mix 4 Counter with 3..8
  mix 3 FanOut with 2..5
  mix 3 Parent
  mix 3 Approval with 2s..8s
    raise approval after 1s..9s
  mix 5 Chain with 6..16
  mix 2 Cancellable expect any
    cancel because "the customer left" after 3s..10s
`

// mixUpgrade is a rolling upgrade of three nodes that do this work.
const mixUpgrade = mixWork + `
at 12s..14s upgrade A to 2.0.0
at 22s..24s upgrade B to 2.0.0
at 32s..34s upgrade C to 2.0.0
`

// mixOnly lists bugs in a build that show only in a cluster of mixed builds.
var mixOnly = []faults.BugID{
	"engine/handler-of-latest@2.0.0",
	"provider/filter-ignored@1.5.0",
	"provider/filter-after-lock@1.5.0",
	"engine/writes-newer-kind@2.0.0",
	"provider/filter-after-count@1.5.0",
	"engine/filter-not-declared@1.5.0",
	"provider/filter-after-decode@1.5.0",
	"engine/version-check-missing@1.5.0",
	"provider/decode-before-filter@1.5.0",
	"provider/head-of-line-block@1.5.0",
	"provider/pin-inherited@2.0.0",
}

// TestBugsOfTheMix checks that each of these bugs violates one of its properties in a rolling upgrade, and none in a
// cluster with a single build.
func TestBugsOfTheMix(t *testing.T) {
	parse := func(text string) *scenario.Scenario {
		return sample.Must(scenario.Parse("mix.txt", []byte("scenario mix\nfault-phase 45s\n"+text)))(t)
	}
	upgrade := parse("nodes A B C run 1.5.0" + mixUpgrade)
	alone := []*scenario.Scenario{parse("nodes A B C run 1.5.0" + mixWork), parse("nodes A B C run 2.0.0" + mixWork)}
	for _, id := range sample.Of(mixOnly, 8) {
		t.Run(string(id), func(t *testing.T) {
			bug, _ := faults.Lookup(id)
			for i, s := range alone {
				for seed := uint64(1); seed <= sample.Number(3, 10); seed++ {
					if v := runWith(t, s, seed, id); len(v) > 0 {
						t.Errorf("cluster %d of one build, seed %d: %s is violated", i+1, seed, v[0].Property)
					}
				}
			}
			breaks(t, upgrade, bug, id, func(p *plan.Plan) *plan.Plan { return p })
		})
	}
}

// TestReleasedFixes checks that a release's fixes show while the cluster is upgraded to it node by node. The old nodes
// have the bug, and the new ones do not.
func TestReleasedFixes(t *testing.T) {
	var mended []faults.Bug
	for _, b := range faults.Catalogue() {
		if b.Mended != "" {
			mended = append(mended, b)
		}
	}
	for _, bug := range sample.Of(mended, 4) {
		t.Run(string(bug.ID), func(t *testing.T) {
			s := lookup(t, bug.Scenario)
			old := s.Template.Nodes[0].Build
			switch bug.ID {
			case "duroxide-0.1.26/duplicate-start-code": // a second start already gets the newer handlers
				old = "2.0.0"
			case "duroxide-0.1.26/poison-on-old-execution": // nodes of 1.5.0 seldom get that far
				old = "2.0.0"
			}
			breaks(t, s, bug, bug.ID+faults.BugID("@"+old), func(p *plan.Plan) *plan.Plan { return rolling(p, old) })
		})
	}
}

// breaks checks that one of the bug's properties is violated within the number of seeds that the catalogue gives.
func breaks(t *testing.T, s *scenario.Scenario, bug faults.Bug, id faults.BugID, change func(*plan.Plan) *plan.Plan) {
	t.Helper()
	for seed := uint64(1); seed <= caughtWithin; seed++ {
		cfg := config(t, s, seed, scenario.Overrides{Bugs: []faults.BugID{id}}, properties.Options{})
		cfg.Plan = change(cfg.Plan)
		if slices.ContainsFunc(run(t, cfg).Violations, func(v cluster.Violation) bool { return slices.Contains(bug.Properties, v.Property) }) {
			return
		}
	}
	t.Errorf("%s breaks none of %v in %d seeds", id, bug.Properties, caughtWithin)
}

// rolling upgrades each node that runs the old build and that the plan leaves alone. The upgrades happen one after
// another in the last third of the fault phase.
func rolling(p *plan.Plan, old string) *plan.Plan {
	next := map[string]string{"0.8.0": "1.5.0", "1.5.0": "2.0.0", "2.0.0": "3.0.0"}[old]
	end := p.FaultPhase
	if end == 0 {
		for _, i := range p.Instances {
			end = max(end, i.StartAt+10*time.Second)
		}
		p.FaultPhase = end
	}
	for i, n := range p.Nodes {
		busy := slices.ContainsFunc(p.Schedule, func(s plan.Step) bool { return s.Node == n.Name })
		if n.Build != old || n.Absent || busy || next == "" {
			continue
		}
		at := end*2/3 + end/3*time.Duration(i)/time.Duration(len(p.Nodes)+1)
		p.Schedule = append(p.Schedule, plan.Step{At: at.Truncate(time.Millisecond), Verb: plan.VerbUpgrade, Node: n.Name, Build: next})
	}
	slices.SortStableFunc(p.Schedule, func(a, b plan.Step) int { return int(a.At - b.At) })
	return p
}

// TestRolling checks that the generated upgrade includes every node that the plan leaves alone.
func TestRolling(t *testing.T) {
	p := rolling(&plan.Plan{FaultPhase: 48 * time.Second, Nodes: []plan.Node{{Name: "A", Build: "1.5.0"}, {Name: "B", Build: "2.0.0"}, {Name: "C", Build: "1.5.0"}}}, "1.5.0")
	var got []string
	for _, s := range p.Schedule {
		got = append(got, fmt.Sprint(s.At, " ", s.Node, " ", s.Build))
	}
	if want := "32s A 2.0.0, 40s C 2.0.0"; strings.Join(got, ", ") != want {
		t.Errorf("%s, want %s", strings.Join(got, ", "), want)
	}
}
