package properties

import (
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
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
			repeat(5, 20000, 20000, "%d send x\n%d tick") + "105000 finish", []string{"L10 x"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newLiveRig(t, plan.Plan{}, Options{Properties: []string{"L08", "L09", "L10"}})
			if got := r.tell(test.story); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
				for _, v := range r.m.Violations() {
					t.Log(v.Property, v.Message)
				}
			}
		})
	}
}

// renew extends the lock of what a node was handed last.
func (r *liveRig) renew(name string) {
	h, caller := r.held[name], r.caller(name)
	r.begin(caller, engine.CallRenewOrchestrationItemLock, engine.CallRequest{Token: h.token})
	r.observe(engine.Observation{Kind: engine.ObsLockExtended, Call: r.call, Queue: engine.QueueOrchestrator, Instance: h.instance, Token: h.token, UntilMs: r.w.now + 5000})
	r.end(caller, engine.CallRenewOrchestrationItemLock, engine.Observation{})
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
		before  func(r *liveRig) // before the parent schedules the child
		between func(r *liveRig) // before the child's last turn
		status  string
		sends   []engine.WorkItem
		want    string // empty if all is well
	}{
		{name: "L06_ok_completed", status: "Completed", sends: []engine.WorkItem{toParent(2)}},
		{name: "L06_ok_failed", status: "Failed", sends: []engine.WorkItem{failed}},
		{name: "L06_ok_goes_on"},
		{name: "L06_ok_continues_as_new", status: "ContinuedAsNew"},
		{name: "L06_ok_client_was_first", status: "Completed", before: func(r *liveRig) { r.insert("child", engine.StartItem{Instance: "child", Orchestration: "H"}) }},
		{name: "L06_ok_start_damaged", status: "Failed", between: func(r *liveRig) {
			r.observe(engine.Observation{Kind: engine.ObsDamaged, Message: 2, Instance: r.instance("child"), Bytes: []byte("?")})
		}},
		{name: "L06_bad_not_told", status: "Completed", want: "ended as Completed and did not tell it"},
		{name: "L06_bad_other_execution", status: "Completed", sends: []engine.WorkItem{toParent(1)}, want: "did not tell it"},
		{name: "L06_bad_twice", status: "Completed", sends: []engine.WorkItem{toParent(2), toParent(2)}, want: "told its end twice"},
		{name: "L06_bad_wrong_end", status: "Completed", sends: []engine.WorkItem{failed}, want: "ended as Completed and told SubOrchFailed"},
		{name: "L06_bad_too_early", sends: []engine.WorkItem{toParent(2)}, want: "told its end and has not ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newLiveRig(t, plan.Plan{}, Options{Properties: []string{"L06"}})
			r.tell("0 up A 1.5.0\n0 seed parent 1.5.0\n0 send parent")
			if c.before != nil {
				c.before(r)
			}
			schedule := engine.Event{EventID: 2, Data: engine.SubOrchestrationScheduled{Name: "H", Instance: "child"}}
			start := engine.StartItem{Instance: "child", Orchestration: "H", ParentInstance: "parent", ParentExecutionID: 2, ParentID: 2}
			r.tell("10 fetch A parent")
			r.turn("A", 2, "", schedule, start)
			r.tell("20 fetch A child")
			if c.between != nil {
				c.between(r)
			}
			r.turn("A", 1, c.status, engine.Event{EventID: 1, Data: engine.OrchestrationStarted{Name: "H", Version: "1.0.0"}}, c.sends...)
			switch found := r.m.Violations(); {
			case c.want == "" && len(found) > 0:
				t.Errorf("found %s", found[0].Message)
			case c.want != "" && (len(found) != 1 || !strings.Contains(found[0].Message, c.want)):
				t.Errorf("found %+v, want %q", found, c.want)
			}
		})
	}
}

// turn commits an event of what a node was handed last, in an execution that may be new, and enqueues messages.
func (r *liveRig) turn(name string, execution uint64, status string, e engine.Event, sends ...engine.WorkItem) {
	h, caller := r.held[name], r.caller(name)
	ack := engine.OrchestrationAck{LockToken: h.token, ExecutionID: execution, HistoryDelta: []engine.Event{e}, OrchestratorItems: sends}
	r.begin(caller, engine.CallAckOrchestrationItem, engine.CallRequest{Token: h.token, Ack: &ack})
	for _, no := range h.rows {
		r.remove(no)
	}
	set := func(kind engine.ObservationKind, status string) {
		r.observe(engine.Observation{Kind: kind, Call: r.call, Instance: h.instance, Execution: execution, Status: engine.Status(status)})
	}
	set(engine.ObsExecutionCreated, "Running")
	if status != "" {
		set(engine.ObsStatusSet, status)
	}
	for _, item := range sends {
		r.rows = append(r.rows, rigRow{no: engine.MessageNo(len(r.rows) + 1), instance: r.instance(item.Target()), visible: r.w.now})
		r.observe(engine.Observation{
			Kind: engine.ObsRowInserted, Call: r.call, Queue: engine.QueueOrchestrator, Message: engine.MessageNo(len(r.rows)),
			Instance: r.instance(item.Target()), Item: item, UntilMs: r.w.now,
		})
	}
	r.observe(engine.Observation{Kind: engine.ObsLockReleased, Call: r.call, Queue: engine.QueueOrchestrator, Instance: h.instance, Token: h.token})
	r.end(caller, engine.CallAckOrchestrationItem, engine.Observation{})
}
