package monitor

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/properties/internal/coverage"
	"github.com/durosim/durosim/sim/plan"
)

// TestMatrix checks that a kind of fault hits all features that runs of one orchestration use, and no others.
func TestMatrix(t *testing.T) {
	tests := []struct {
		kind          faults.Kind
		orchestration string
		input         string
		want          string
	}{
		{faults.SlowTurn, "Studio", "2", "activities sessions tags"},
		{faults.SlowTurn, "Chain", "2", "activities timers"},
		{faults.SlowTurn, "Parent@1.0.0", "", "activities children versions"},
		{faults.SlowTurn, "Clerk", "nobody", "activities system-calls status"},
		{faults.SlowTurn, "Ledger", "2", "timers queues keys status continue-as-new"},
		// A fault in an activity counts only for that activity's own session or tag.
		{faults.LateActivity, "Ledger", "2", ""},
		{faults.LateActivity, "Parent@1.0.0", "", "activities"},
		{faults.ActivityPanic, "Studio", "1", "activities retries sessions tags timers"},
		{faults.DuplicateCompletion, "Diarist", "", "activities system-calls"},
		{faults.ClockSkew, "Leaf", "", "activities"},
		{faults.SlowFetch, "Studio", "1", "activities sessions tags"},
		{faults.CrashBeforeAck, "Leaf", "", "activities"},
		{faults.PauseNode, "Leaf", "", "activities"},
		{faults.AnswerLost, "Namesake", "other", "activities named-children"},
		{faults.DuplicateRequest, "Cancellable", "", "events cancels"},
	}
	for _, test := range tests {
		t.Run(string(test.kind)+" "+test.orchestration, func(t *testing.T) {
			name, version, _ := strings.Cut(test.orchestration, "@")
			p := &plan.Plan{
				Name: "matrix", FaultPhase: time.Minute, Nodes: []plan.Node{{Name: "A", Build: "1.5.0", Options: []plan.Setting{{Name: "worker_tag_filter", Value: "DefaultAnd(gpu)"}}}},
				Faults: faults.Plan{Rates: []faults.Rate{{Kind: test.kind, Num: 1, Den: 2}}},
			}
			for i := range 4 {
				in := plan.Instance{ID: fmt.Sprint("i-", i), Orchestration: name, Version: version, Input: test.input, Expect: plan.EndAny}
				for range 2 {
					in.Actions = append(in.Actions, plan.Action{At: 1e9, Verb: plan.ActionEnqueue, Name: "entries", Data: "one"})
				}
				if name == "Cancellable" {
					in.Actions = []plan.Action{{At: 2e9, Verb: plan.ActionCancel}}
				} else if name != "Ledger" {
					in.Actions = nil
				}
				p.Instances = append(p.Instances, in)
			}
			met := map[string]bool{}
			for seed := range uint64(5) {
				for _, point := range runPlan(t, p, seed, Options{Matrix: true}).Coverage {
					met[point.Name] = true
				}
			}
			var got []string
			for _, f := range coverage.Features {
				if met[coverage.Met(string(test.kind), f.Name)] {
					got = append(got, f.Name)
				}
			}
			want := strings.Fields(test.want)
			if slices.Compare(got, want) != 0 {
				t.Errorf("met %q, want %q", got, want)
			}
		})
	}
}
