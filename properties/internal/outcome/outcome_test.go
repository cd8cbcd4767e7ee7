package outcome_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/internal/planterm"
	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/properties/internal/rig"
	"github.com/durosim/durosim/sim/plan"
)

// TestOutcome tells the ends of an instance x, whatever ends it.
func TestOutcome(t *testing.T) {
	const begun = "0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n10 fetch A x\n11 note A turn\n"
	cancel := []plan.Action{{Verb: plan.ActionCancel}}
	for _, test := range []struct {
		name    string
		expect  plan.End
		actions []plan.Action
		story   string
		want    string // in the evidence; empty if all is well
	}{
		{"ok_completed", "", nil, begun + "12 commit A Completed\n40 finish", ""},
		{"ok_failed_as_expected", planterm.EndFailed, nil, begun + "12 commit A Failed\n40 finish", ""},
		{"ok_one_of_two", "completed|failed", nil, begun + "12 commit A Failed\n40 finish", ""},
		{"ok_the_other_of_two", "completed|failed", nil, begun + "12 commit A Completed\n40 finish", ""},
		{"bad_neither_of_two", "completed|poison", nil, begun + "12 commit A Failed\n40 finish", "x is failed, but the plan expects completed or poison"},
		{"bad_never_begun_of_two", "completed|failed", nil, "0 up A 1.5.0\n40 finish", "x is never begun, but the plan expects completed or failed"},
		{"ok_any", planterm.EndAny, nil, "0 up A 1.5.0\n40 finish", ""},
		{"bad_failed", "", nil, begun + "12 commit A Failed\n40 finish", "x is failed, but the plan expects completed. It ended at 12ms, step 0, by an ack of A (1.5.0)"},
		{"bad_failed_with_a_cancel_in_the_plan", "", cancel, begun + "12 commit A Failed\n40 finish", "x is failed"},
		{"bad_completed", planterm.EndFailed, nil, begun + "12 commit A Completed\n40 finish", "x is completed, but the plan expects failed"},
		{"bad_poison", "", nil, "0 up A 1.5.0\n0 seed x 1.5.0\n0 send x\n10 fetch A x\n11 note A poison\n12 commit A Failed\n40 finish", "x is poisoned, but the plan expects completed"},
		{"bad_refused", "", nil, begun[:strings.Index(begun, "11")] + "11 note A no-handler\n12 abandon A 5\n40 fetch A x\n41 note A poison\n42 commit A Failed\n50 finish", "A (1.5.0) gave it back once"},
		{"bad_never_begun", "", nil, "0 up A 1.5.0\n40 finish", "x is never begun, but the plan expects completed"},
		{"bad_nobody_there", "", nil, "0 up A 1.5.0\n0 seed x 1.5.0\n5 crash A\n40 finish", "Cause: no node is up. To end as completed: a node must be up until it has ended; A is down"},
		{"bad_only_by_relief", "", nil, begun[:strings.Index(begun, "10")] + "5 phase calm\n6 phase relief\n10 fetch A x\n11 note A turn\n12 commit A Completed\n40 finish", "x is completed only by relief, which is not part of the plan"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := plan.Plan{Instances: []plan.Instance{{ID: "x", Orchestration: "H", Expect: test.expect, Actions: test.actions}}}
			r := rig.New(t, p, monitor.Options{Properties: []string{"outcome"}})
			found := r.Tell(test.story)
			switch {
			case test.want == "" && len(found) > 0:
				t.Errorf("found %q: %s", found, r.M.Violations()[0].Message)
			case test.want != "" && !slices.Equal(found, []string{"outcome x"}):
				t.Errorf("found %q, want outcome of x", found)
			case test.want != "" && !strings.Contains(r.M.Violations()[0].Message, test.want):
				t.Errorf("got %s\nwant %s", r.M.Violations()[0].Message, test.want)
			}
		})
	}
}
