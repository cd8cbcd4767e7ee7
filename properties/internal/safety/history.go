package safety

import (
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/check"
)

// historyChecker checks what rule S07 says about decoding: an ack decodes no event that an earlier call has stored.
type historyChecker struct {
	check.Base
	reported uint64 // the call of the last violation, so that a call is reported only once
}

func newHistoryChecker(m *check.Run) check.Checker {
	return &historyChecker{Base: check.Base{Run: m, OnObserve: check.SetOf(observe.EventDecoded)}}
}

func (h *historyChecker) Observe(o *observe.Observation) {
	c := h.Run.Model.Call(o.Call)
	if c == nil || c.Kind != observe.CallAckOrchestrationItem || h.reported == o.Call {
		return
	}
	if ex := h.Run.Model.Instance(o.Instance).Execution(o.Execution); ex != nil {
		if e := ex.Event(o.EventID); e != nil && e.Call == o.Call {
			return
		}
	}
	h.reported = o.Call
	h.Run.Safety("S07", c.Caller.Node, o.Instance, "%s by %s decoded event %d of execution %d, which was stored before: expected an ack to read no old event",
		c.Kind, h.Run.Who(c.Caller), o.EventID, o.Execution)
}
