package properties

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
)

// historyChecker asks that histories only grow: S07. What a fault damages is told as such, and the shadow comparison
// finds bytes that change without being told.
type historyChecker struct {
	base
	reported uint64 // the call of the last finding, so that one wrong call is one finding
}

func newHistoryChecker(m *run) checker { return &historyChecker{base: base{m}} }

func (*historyChecker) observes() []engine.ObservationKind {
	return []engine.ObservationKind{engine.ObsEventAppended, engine.ObsEventRemoved, engine.ObsEventDecoded}
}

func (*historyChecker) records() []cluster.RecordKind { return nil }

func (h *historyChecker) observe(o *engine.Observation) {
	c := h.m.store.call(o.Call)
	if c == nil || h.reported == o.Call {
		return
	}
	switch o.Kind {
	case engine.ObsEventDecoded:
		if c.kind != engine.CallAckOrchestrationItem {
			return
		}
		if e := h.event(o); e == nil || e.call != o.Call {
			h.report(c, o, "%s by %s decoded event %d of execution %d, which was stored before: expected an ack that reads no old event")
		}
	case engine.ObsEventAppended:
		if h.m.store.overwritten {
			h.report(c, o, "%s by %s stored event %d of execution %d, which was there already: expected a permanent error")
		}
	case engine.ObsEventRemoved:
		switch {
		case o.Undo && h.m.store.removedCall == o.Call:
		case !o.Undo && c.kind == engine.CallAdmin:
		case o.Undo:
			h.report(c, o, "%s by %s took back event %d of execution %d, which an earlier call had stored")
		default:
			h.report(c, o, "%s by %s removed event %d of execution %d: expected stored events to stay")
		}
	}
}

func (h *historyChecker) report(c *callState, o *engine.Observation, format string) {
	h.reported = o.Call
	h.m.safety("S07", c.caller.Node, o.Instance, format, c.kind, h.m.who(c.caller), o.EventID, o.Execution)
}

func (h *historyChecker) event(o *engine.Observation) *eventState {
	if ex := h.m.store.instance(o.Instance).execution(o.Execution); ex != nil {
		return ex.event(o.EventID)
	}
	return nil
}
