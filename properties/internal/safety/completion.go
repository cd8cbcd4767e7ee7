package safety

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
)

// completionChecker checks rule S13: each schedule has at most one completion, and it is the right one. It compares the
// completions that nodes commit with the messages that were delivered to them.
type completionChecker struct{ check.Base }

func newCompletionChecker(m *check.Run) check.Checker { return &completionChecker{check.Base{Run: m}} }

func (*completionChecker) Ends() check.Ends {
	return check.Ends{OK: check.SetOf(observe.CallAckOrchestrationItem)}
}

func (k *completionChecker) Ended(c *model.Call, o *observe.Observation) {
	if c.Request.Ack == nil || c.Caller.Node == 0 {
		return
	}
	in := model.HeldBy(c)
	if in == nil {
		return
	}
	ex := in.Execution(c.Request.Ack.ExecutionID)
	if ex == nil {
		return
	}
	for i := range c.Request.Ack.HistoryDelta {
		e := &c.Request.Ack.HistoryDelta[i]
		class := classOfEvent(e.Data)
		if class < classActivityCompleted || class > classChildFailed {
			continue
		}
		k.checkOne(c, in, ex, e, class)
	}
}

// checkOne judges one completion and records it with its schedule.
func (k *completionChecker) checkOne(c *model.Call, in *model.Instance, ex *model.Execution, e *engine.Event, class messageClass) {
	report := func(format string, args ...any) {
		k.Run.Safety("S13", c.Caller.Node, in.No, "%s committed event %d (%s) to execution %d with token %s, "+format,
			append([]any{k.Run.Who(c.Caller), e.EventID, e.Kind(), ex.ID, c.Request.Token}, args...)...)
	}
	stored := ex.Event(e.EventID)
	schedule := ex.Event(e.SourceEventID)
	if stored == nil {
		return // reported under S06
	}
	if schedule == nil {
		report("which completes event %d, but there is no such event: expected the schedule in the same execution", e.SourceEventID)
		return
	}
	want := k.Run.Model.Kinds.Completes[stored.Kind]
	if schedule.Kind != want && schedule.Kind != model.KindDamaged && schedule.Kind != model.KindForeign && want != 0 {
		report("which completes event %d (%s): expected one of kind %s", e.SourceEventID, k.Run.Model.Kinds.Name(schedule.Kind), k.Run.Model.Kinds.Name(want))
		return
	}
	if schedule.ClosedBy != 0 {
		report("which completes event %d, as event %d did before: expected one completion", e.SourceEventID, schedule.ClosedBy)
		return
	}
	schedule.ClosedBy = e.EventID
	if in.BatchToken != c.Request.Token {
		return
	}
	for _, no := range in.Batch {
		r := k.Run.Model.Row(no)
		if r.Item == nil || r.Damaged || classOf(r.Kind) == class && r.Execution == ex.ID && r.ID == e.SourceEventID {
			return
		}
	}
	report("which completes event %d, but no message of the delivery does; the delivery was: %s", e.SourceEventID, k.Run.BatchText(in.Batch))
}
