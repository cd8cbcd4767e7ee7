package safety

import (
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
)

// historyChecker checks rule S07: histories only grow. It knows from observations which events a fault damages. If
// bytes change without such an observation, the shadow comparison finds the difference.
type historyChecker struct {
	check.Base
	reported uint64 // the call of the last violation, so that a call is reported only once
}

func newHistoryChecker(m *check.Run) check.Checker { return &historyChecker{Base: check.Base{Run: m}} }

func (*historyChecker) Observes() check.Set[observe.Kind] {
	return check.SetOf(observe.EventAppended, observe.EventRemoved, observe.EventDecoded)
}

func (h *historyChecker) Observe(o *observe.Observation) {
	c := h.Run.Model.Call(o.Call)
	if c == nil || h.reported == o.Call {
		return
	}
	switch o.Kind {
	case observe.EventDecoded:
		if c.Kind != observe.CallAckOrchestrationItem {
			return
		}
		if e := h.event(o); e == nil || e.Call != o.Call {
			h.report(c, o, "%s by %s decoded event %d of execution %d, which was stored before: expected an ack to read no old event")
		}
	case observe.EventAppended:
		if h.Run.Model.Overwritten {
			h.report(c, o, "%s by %s stored event %d of execution %d, which exists already: expected a permanent error")
		}
	case observe.EventRemoved:
		switch {
		case o.Undo && h.Run.Model.RemovedCall == o.Call:
		case !o.Undo && c.Kind == observe.CallAdmin:
		case o.Undo:
			h.report(c, o, "%s by %s undid event %d of execution %d, which an earlier call had stored")
		default:
			h.report(c, o, "%s by %s removed event %d of execution %d: expected stored events to stay")
		}
	}
}

func (h *historyChecker) report(c *model.Call, o *observe.Observation, format string) {
	h.reported = o.Call
	h.Run.Safety("S07", c.Caller.Node, o.Instance, format, c.Kind, h.Run.Who(c.Caller), o.EventID, o.Execution)
}

func (h *historyChecker) event(o *observe.Observation) *model.Event {
	if ex := h.Run.Model.Instance(o.Instance).Execution(o.Execution); ex != nil {
		return ex.Event(o.EventID)
	}
	return nil
}
