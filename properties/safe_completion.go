package properties

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
)

// completionChecker asks for one completion of each schedule, and for the right one: S13. It looks at the completions
// that nodes commit and at the messages of the delivery that they were made from.
type completionChecker struct{ base }

func newCompletionChecker(m *run) checker { return &completionChecker{base{m}} }

func (*completionChecker) observes() []engine.ObservationKind {
	return []engine.ObservationKind{engine.ObsCallEnd}
}

func (*completionChecker) records() []cluster.RecordKind { return nil }

func (k *completionChecker) observe(o *engine.Observation) {
	c := k.m.store.call(o.Call)
	if c == nil || c.kind != engine.CallAckOrchestrationItem || o.Outcome != engine.OutcomeOK || c.request.Ack == nil || c.caller.Node == 0 {
		return
	}
	in := heldBy(c)
	if in == nil {
		return
	}
	ex := in.execution(c.request.Ack.ExecutionID)
	if ex == nil {
		return
	}
	for i := range c.request.Ack.HistoryDelta {
		e := &c.request.Ack.HistoryDelta[i]
		class := classOfEvent(e.Data)
		if class < classActivityCompleted || class > classChildFailed {
			continue
		}
		if !k.checkOne(c, in, ex, e, class) {
			return
		}
	}
}

// checkOne judges one completion, and remembers it with its schedule.
func (k *completionChecker) checkOne(c *callState, in *instanceState, ex *executionState, e *engine.Event, class messageClass) bool {
	report := func(format string, args ...any) bool {
		k.m.safety("S13", c.caller.Node, in.no, "%s committed event %d (%s) to execution %d with token %s, "+format,
			append([]any{k.m.who(c.caller), e.EventID, e.Kind(), ex.id, c.request.Token}, args...)...)
		return false
	}
	stored := ex.event(e.EventID)
	schedule := ex.event(e.SourceEventID)
	if stored == nil {
		return true // S06 has that case
	}
	if schedule == nil {
		return report("which completes event %d, and there is none: expected the schedule in the same execution", e.SourceEventID)
	}
	want := k.m.store.kinds.completes[stored.kind]
	if schedule.kind != want && schedule.kind != kindDamaged && schedule.kind != kindForeign && want != 0 {
		return report("which completes event %d (%s): expected one of kind %s", e.SourceEventID, k.m.store.kinds.name(schedule.kind), k.m.store.kinds.name(want))
	}
	if schedule.closedBy != 0 && schedule.closedBy != e.EventID {
		return report("which completes event %d, as event %d did before: expected one completion", e.SourceEventID, schedule.closedBy)
	}
	schedule.closedBy = e.EventID
	if in.batchToken != c.request.Token {
		return true
	}
	for _, no := range in.batch {
		r := k.m.store.row(no)
		if r.item == nil || r.damaged || classOf(r.kind) == class && r.execution == ex.id && r.id == e.SourceEventID {
			return true
		}
	}
	return report("which completes event %d, but no message of the delivery does; it was: %s", e.SourceEventID, k.m.batchText(in.batch))
}
