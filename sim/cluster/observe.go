package cluster

import (
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim/record"
)

// Observe writes one of the store's observations to the trace and passes it to the monitor and the narrator.
func (nw *network) Observe(o *observe.Observation) {
	switch o.Kind {
	case observe.CallBegin:
		nw.storeCall, nw.caller = o.Call, o.Caller.Node
	case observe.CallEnd:
	case observe.LockTaken:
		nw.observed++
		if o.Queue == observe.QueueOrchestrator {
			nw.hold(o.Instance)
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

// hold records which node took an instance's lock, for Explain.
func (nw *network) hold(no observe.InstanceNo) {
	for len(nw.holders) <= int(no) {
		nw.holders = append(nw.holders, 0)
	}
	nw.holders[no] = nw.caller
}

// openCall opens a record about a call.
func (nw *network) openCall(kind record.Kind, c *callState) *Record {
	r := nw.newRecord(kind, c.node, c.inc)
	r.Call, r.CallKind, r.Request, r.Cadence, r.Slot, r.StoreCall = c.no, c.kind, c.request, c.cadence, c.slot, c.storeCall
	r.Deadline, r.Once = c.deadline, c.once
	return r
}

// recordCall records something about a call that needs no further fields.
func (nw *network) recordCall(kind record.Kind, c *callState) {
	if nw.silent() {
		nw.traceCall(kind, firstWord(c.node, c.inc, c.kind, 0), c.no, c.slot)
		return
	}
	nw.openCall(kind, c)
	nw.emit()
}

// recordExecuted records a call's outcome at the instant it takes effect.
func (nw *network) recordExecuted(c *callState, a *machine.Answer) {
	if nw.silent() {
		nw.traceCall(record.CallExecuted, firstWord(c.node, c.inc, c.kind, outcomeOf(c.kind, a)), c.no, c.slot)
		return
	}
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
	if nw.silent() && text == "" {
		nw.traceCall(record.Answered, firstWord(c.node, c.inc, c.kind, outcomeOf(c.kind, a)), c.no, c.slot)
		return
	}
	r := nw.openCall(record.Answered, c)
	r.Outcome, r.Err, r.Text = outcomeOf(r.CallKind, a), a.Err, text
	r.Fetched, r.Work, r.Count, r.Value = a.Orchestration, a.Work, a.Count, a.Value
	nw.emit()
}

// recordFault records a fault that affected a call.
func (nw *network) recordFault(kind faults.Kind, c *callState) {
	nw.record(&Record{Kind: record.Fault, Fault: kind, Node: c.node, Incarnation: c.inc, Call: c.no, CallKind: c.kind})
}
