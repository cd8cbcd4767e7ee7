package cluster

import (
	"slices"

	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim/record"
)

// Observe writes one of the store's observations to the trace and passes it to the monitor and the narrator.
func (nw *network) Observe(o *observe.Observation) {
	switch o.Kind {
	case observe.CallBegin:
		nw.storeCall, nw.caller = o.Call, o.Caller
	case observe.CallEnd:
	case observe.LockTaken:
		nw.observed++
		h := nw.holding(o)
		*h = holding{by: nw.caller, wrote: h.wrote}
	case observe.EventAppended:
		nw.observed++
		if by := nw.caller; by.Node != 0 && nw.fleet.list[by.Node-1].inc == by.Incarnation { // or it has gone
			nw.holding(o).wrote = nw.fleet.list[by.Node-1].running
		}
	case observe.LockReleased:
		nw.observed++
		if c := nw.executing; c != nil && (c.kind == observe.CallAbandonOrchestrationItem || c.kind == observe.CallAbandonWorkItem) && call.LockToken(c.request) == o.Token {
			nw.holding(o).back = &givenBack{nw.nowMs(), c.cause}
		}
	case observe.InstanceRemoved, observe.RowRemoved:
		nw.observed++
		switch {
		case o.Queue == observe.QueueWorker:
			take(&nw.workers, func(h held) bool { return h.message == o.Message })
		case o.Kind == observe.InstanceRemoved || o.Reason == observe.RemovedDeleted:
			nw.holding(o).deleted = !o.Undo
		}
	case observe.RowInserted:
		nw.observed++
		if o.Queue == observe.QueueOrchestrator {
			nw.lastRow, nw.lastRowCall, nw.lastItem = o.Message, o.Call, o.Item
		}
	default:
		nw.observed++
	}
	nw.clients.open.Touch(o.Instance)
	nw.clients.idle.Touch(o.Instance)
	nw.traceObservation(o)
	if nw.monitor != nil {
		nw.monitor.Observe(o)
	}
	if nw.narrator != nil {
		nw.narrator.observe(o)
	}
}

// holding returns the entry of the instance or the activity whose lock an observation is about.
func (nw *network) holding(o *observe.Observation) *holding {
	if o.Queue == observe.QueueWorker {
		i := slices.IndexFunc(nw.workers, func(h held) bool { return h.message == o.Message })
		if i < 0 {
			i, nw.workers = len(nw.workers), append(nw.workers, held{message: o.Message})
		}
		return &nw.workers[i].holding
	}
	for len(nw.holders) <= int(o.Instance) {
		nw.holders = append(nw.holders, holding{})
	}
	return &nw.holders[o.Instance]
}

func (nw *network) openCall(kind record.Kind, c *callState) *Record {
	r := nw.newRecord(kind, c.node, c.inc)
	r.Call, r.CallKind, r.Request, r.Cadence, r.Slot, r.StoreCall = c.no, c.kind, c.request, c.cadence, c.slot, c.storeCall
	r.Deadline, r.Once = c.deadline, c.once
	return r
}

// recordCall records something about a call that needs no further fields.
func (nw *network) recordCall(kind record.Kind, c *callState) {
	nw.openCall(kind, c)
	nw.emit()
}

// recordExecuted records a call's outcome at the instant it takes effect.
func (nw *network) recordExecuted(c *callState, a *machine.Answer) {
	r := nw.openCall(record.CallExecuted, c)
	r.Outcome, r.Err = outcomeOf(c.kind, a), a.Err
	nw.emit()
	if nw.narrator != nil {
		nw.narrator.executed(c, *a)
	}
}

// recordAnswered records what the node receives: the answer, or the error that replaces it once the deadline has
// passed.
func (nw *network) recordAnswered(c *callState, a *machine.Answer, text string) {
	r := nw.openCall(record.Answered, c)
	r.Outcome, r.Err, r.Text = outcomeOf(r.CallKind, a), a.Err, text
	r.Fetched, r.Work, r.Count, r.Value = a.Orchestration, a.Work, a.Count, a.Value
	nw.emit()
}

func (nw *network) recordFault(kind faults.Kind, c *callState) {
	nw.record(&Record{Kind: record.Fault, Fault: kind, Node: c.node, Incarnation: c.inc, Call: c.no, CallKind: c.kind})
}
