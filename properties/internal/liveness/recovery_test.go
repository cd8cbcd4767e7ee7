package liveness_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/properties/internal/rig"
	"github.com/durosim/durosim/sim/plan"
)

// TestRecovery tells the stories of locks that run out, of clusters that have been upgraded, and of cancels.
func TestRecovery(t *testing.T) {
	const upA = "0 up A 1.5.0\n"
	const held = "0 up B 1.5.0\n" + upA + "0 seed x 1.5.0\n0 send x\n10 fetch A x\n20 crash A\n100 phase calm\n"
	const upgraded = upA + "0 up B 2.0.0\n0 seed x 1.5.0\n10 crash A\n20 up A 2.0.0\n"
	tests := []struct {
		name  string
		story string
		want  []string
	}{
		// L08: what a dead or stalled holder had is eligible again at its expiry.
		{"L08_ok_taken_over", held + "5020 fetch B x\n5020 note B turn\n5021 commit B Completed\n30000 tick\n30000 finish", nil},
		{"L08_ok_still_locked", held + "5000 tick", nil},
		{"L08_ok_nobody_admits_it", held + "200 crash B\n30000 tick\n30000 finish", nil},
		{"L08_ok_renewed_in_time", upA + "0 seed x 1.5.0\n0 send x\n10 fetch A x\n5009 renew A", nil},
		{"L08_bad_not_taken", held + "30000 tick\n30000 finish", []string{"L08 x"}},
		{"L08_bad_revived", upA + "0 seed x 1.5.0\n0 send x\n10 fetch A x\n5010 renew A", []string{"L08 x"}},

		// L09: once all run the highest build, nothing waits for its node.
		{"L09_ok_taken", upgraded + "100 phase calm\n100 send x\n110 tick\n200 fetch B x\n200 note B turn\n201 commit B Completed\n30000 tick\n30000 finish", nil},
		{"L09_ok_not_all_upgraded", upA + "0 up B 2.0.0\n0 seed x 1.5.0\n100 phase calm\n100 send x\n110 tick\n30000 tick\n30000 finish", nil},
		{"L09_ok_pin_of_no_build_of_the_run", upgraded + "0 seed y 1.6.0\n100 phase calm\n100 send y\n110 tick\n30000 tick\n30000 finish", nil},
		{"L09_ok_own_range", upA + "0 seed x 1.5.0\n10 crash A\n20 up A 2.0.0 range=2.0.0..2.0.0\n100 phase calm\n100 send x\n110 tick\n30000 tick\n30000 finish", nil},
		{"L09_bad_waits", upgraded + "100 phase calm\n100 send x\n110 tick\n30000 tick\n30000 finish", []string{"L09 x"}},

		// L10: a cancel ends its instance.
		{"L10_ok_ends", upA + "0 seed x 1.5.0\n0 cancel x\n10 fetch A x\n10 note A turn\n11 commit A Failed", nil},
		{"L10_bad_consumed", upA + "0 seed x 1.5.0\n0 cancel x\n10 fetch A x\n10 note A turn\n11 commit A", []string{"L10 x"}},
		{"L10_bad_continues", upA + "0 seed x 1.5.0\n0 cancel x\n10 fetch A x\n10 note A turn\n11 commit A ContinuedAsNew", []string{"L10 x"}},
		{"L10_bad_never_ends", upA + "0 seed x 1.5.0\n100 phase calm\n110 cancel x\n" +
			rig.Repeat(5, 20000, 20000, "%d send x\n%d tick") + "105000 finish", []string{"L10 x"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := rig.New(t, plan.Plan{}, monitor.Options{Properties: []string{"L08", "L09", "L10"}})
			if got := r.Tell(test.story); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
				for _, v := range r.M.Violations() {
					t.Log(v.Property, v.Message)
				}
			}
		})
	}
}

// A family is a parent whose second execution schedules a child, and the child's last turn: what it ends as, and what its
// ack sends.
func TestParentTold(t *testing.T) {
	toParent := func(execution uint64) engine.WorkItem {
		return engine.SubOrchCompletedItem{ParentInstance: "parent", ParentExecutionID: execution, ParentID: 2, Result: "done"}
	}
	failed := engine.SubOrchFailedItem{ParentInstance: "parent", ParentExecutionID: 2, ParentID: 2}
	for _, c := range []struct {
		name    string
		before  func(r *rig.Rig) // before the parent schedules the child
		between func(r *rig.Rig) // before the child's last turn
		status  string
		sends   []engine.WorkItem
		want    string // empty if all is well
	}{
		{name: "L06_ok_completed", status: "Completed", sends: []engine.WorkItem{toParent(2)}},
		{name: "L06_ok_failed", status: "Failed", sends: []engine.WorkItem{failed}},
		{name: "L06_ok_goes_on"},
		{name: "L06_ok_continues_as_new", status: "ContinuedAsNew"},
		{name: "L06_ok_client_was_first", status: "Completed", before: func(r *rig.Rig) { r.Insert("child", engine.StartItem{Instance: "child", Orchestration: "H"}) }},
		{name: "L06_ok_start_damaged", status: "Failed", between: func(r *rig.Rig) {
			r.Observe(observe.Observation{Kind: observe.Damaged, Message: 2, Instance: r.Instance("child"), Bytes: []byte("?")})
		}},
		{name: "L06_bad_not_told", status: "Completed", want: "ends as Completed but does not report it"},
		{name: "L06_bad_other_execution", status: "Completed", sends: []engine.WorkItem{toParent(1)}, want: "does not report it"},
		{name: "L06_bad_twice", status: "Completed", sends: []engine.WorkItem{toParent(2), toParent(2)}, want: "reports its end twice"},
		{name: "L06_bad_wrong_end", status: "Completed", sends: []engine.WorkItem{failed}, want: "ends as Completed but reports SubOrchFailed"},
		{name: "L06_bad_too_early", sends: []engine.WorkItem{toParent(2)}, want: "reports its end but has not ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rig.New(t, plan.Plan{}, monitor.Options{Properties: []string{"L06"}})
			r.Tell("0 up A 1.5.0\n0 seed parent 1.5.0\n0 send parent")
			if c.before != nil {
				c.before(r)
			}
			schedule := engine.Event{EventID: 2, Data: eventdata.SubOrchestrationScheduled{Name: "H", Instance: "child"}}
			start := engine.StartItem{Instance: "child", Orchestration: "H", ParentInstance: "parent", ParentExecutionID: 2, ParentID: 2}
			r.Tell("10 fetch A parent")
			r.Turn("A", 2, "", schedule, start)
			r.Tell("20 fetch A child")
			if c.between != nil {
				c.between(r)
			}
			r.Turn("A", 1, c.status, engine.Event{EventID: 1, Data: eventdata.OrchestrationStarted{Name: "H", Version: "1.0.0"}}, c.sends...)
			switch found := r.M.Violations(); {
			case c.want == "" && len(found) > 0:
				t.Errorf("found %s", found[0].Message)
			case c.want != "" && (len(found) != 1 || !strings.Contains(found[0].Message, c.want)):
				t.Errorf("found %+v, want %q", found, c.want)
			}
		})
	}
}
