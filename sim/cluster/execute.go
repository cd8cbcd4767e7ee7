package cluster

import (
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/record"
)

var (
	drawsRetryableError      = drawnKindOf(faults.RetryableError)
	drawsCrashAfterCommit    = drawnKindOf(faults.CrashAfterCommit)
	drawsDuplicateCompletion = drawnKindOf(faults.DuplicateCompletion)
	drawsCorruptEvent        = drawnKindOf(faults.CorruptEvent)
	drawsCorruptMessage      = drawnKindOf(faults.CorruptMessage)
	drawsUnavailable         = drawnKindOf(faults.Unavailable)
	drawsPermanentError      = drawnKindOf(faults.PermanentError)
	drawsAckStepError        = drawnKindOf(faults.AckStepError)
)

// execute carries out a call. This is the instant at which the call takes effect.
func (nw *network) execute(c *callState) {
	nw.changed = true
	if !c.emptyPoll {
		c.tries++
		c.triedAt = nw.kernel.Now()
	}
	if nw.fleet.schema.stops(c) {
		c.state = callDone
		return
	}
	nw.recordCall(record.CallExecuting, c)
	before := nw.observed
	nw.storeCall = 0
	nw.executing = c
	answer := &nw.answer
	nw.perform(c, answer)
	nw.ackStep = -1
	c.storeCall = nw.storeCall
	answer.Call = c.id
	if c.state != callDone {
		c.answer = *answer
	}
	nw.recordExecuted(c, answer)
	if !c.alive() {
		c.state = callDone
		return
	}
	n := c.owner
	if c.kind == observe.CallAckOrchestrationItem && answer.Err == nil && nw.draws(drawsCrashAfterCommit, n.plan.Name, c.key) {
		nw.fleet.crashByFault(n, faults.CrashAfterCommit)
		return
	}
	if answer.Err == nil {
		nw.corrupt(c)
		nw.repeatCompletion(c)
	}
	if c.state == callDone {
		return
	}
	nothing := isFetch(c.kind) && answer.Err == nil && answer.Orchestration == nil && answer.Work == nil
	if nothing && nw.observed == before && !c.cancelled && !c.once {
		nw.parking.park(c)
		return
	}
	nw.reply(c)
}

// perform makes the call unless a fault makes the store reject it.
func (nw *network) perform(c *callState, answer *machine.Answer) {
	*answer = machine.Answer{}
	if c.refused {
		answer.Err = errRefused
		return
	}
	if err := nw.refuse(c.kind); err != nil {
		answer.Err = err
		return
	}
	a := call.Pass(nw.ctx, c.provider, c.request)
	answer.Err, answer.Orchestration, answer.Work, answer.Count, answer.Value, answer.Events = a.Err, a.Orchestration, a.Work, a.Count, a.Value, a.Events
}

// errRefused is the store's answer to an ack that must not take effect.
var errRefused = engine.Permanentf(observe.CallAckWorkItem.String(), "storage refuses the activity's result")

// isQueueCall reports whether a call is one on the two queues, not a read or session upkeep.
func isQueueCall(k observe.CallKind) bool {
	switch k {
	case observe.CallFetchOrchestrationItem, observe.CallAckOrchestrationItem, observe.CallAbandonOrchestrationItem, observe.CallRenewOrchestrationItemLock,
		observe.CallFetchWorkItem, observe.CallAckWorkItem, observe.CallAbandonWorkItem, observe.CallRenewWorkItemLock:
		return true
	}
	return false
}

// repeatCompletion delivers the completion that a worker has just acknowledged a second time, if that fault is drawn.
func (nw *network) repeatCompletion(c *callState) {
	if c.kind != observe.CallAckWorkItem || !nw.drawn[drawsDuplicateCompletion].included {
		return
	}
	r, ok := c.request.(call.AckWorkItem)
	if !ok || r.Completion == nil || !nw.draws(drawsDuplicateCompletion, c.owner.plan.Name, c.key) {
		return
	}
	nw.recordFault(faults.DuplicateCompletion, c)
	if err := nw.clients.provider.EnqueueForOrchestrator(nw.ctx, r.Completion, 0); err == nil {
		nw.record(&Record{Kind: record.ClientAccepted, Instance: r.Completion.Target(), Item: r.Completion, StoreCall: nw.storeCall})
	}
}

// corrupt damages the data that a call has just written, if that fault is drawn.
func (nw *network) corrupt(c *callState) {
	name := c.owner.plan.Name
	if c.kind == observe.CallAckOrchestrationItem && nw.drawn[drawsCorruptEvent].included {
		r, ok := c.request.(call.AckOrchestrationItem)
		if ok && len(r.HistoryDelta) > 0 && nw.draws(drawsCorruptEvent, name, c.key) {
			e := r.HistoryDelta[len(r.HistoryDelta)-1]
			if nw.damages(call.CorruptEvent{Instance: e.InstanceID, ExecutionID: r.ExecutionID, EventID: e.EventID}) && nw.store.Damage(e.InstanceID, r.ExecutionID, e.EventID, damaged(damagedEvents, c)) == nil {
				nw.recordFault(faults.CorruptEvent, c)
			}
		}
	}
	if nw.lastRowCall == nw.storeCall && nw.lastRow != 0 && nw.draws(drawsCorruptMessage, name, c.key) {
		if nw.damages(call.CorruptMessage{Item: nw.lastItem}) && nw.store.DamageMessage(nw.lastRow, damaged(damagedMessages, c)) == nil {
			nw.recordFault(faults.CorruptMessage, c)
		}
	}
}

// damaged returns one of the forms, by the key of the call.
func damaged(forms []string, c *callState) []byte {
	return []byte(forms[c.key.Hash()%uint64(len(forms))])
}

// unavailableMax is the maximum time for which the store rejects every call.
const unavailableMax = 3 * time.Second

// refuse decides whether the store rejects the call that is being executed. It also arms errors inside acks.
func (nw *network) refuse(kind observe.CallKind) error {
	c := nw.executing
	if c.emptyPoll {
		return nil
	}
	key, name := tryKey(c.key, c.tries), c.owner.plan.Name
	if nw.kernel.Now() < nw.downUntil || nw.fleet.schema.locked() {
		return engine.Retryablef(kind.String(), "storage is unavailable")
	}
	reads := kind == observe.CallGetKVValue // refused permanently, it fails its activity, and no plan says how such work ends
	switch {
	case !reads && nw.fleet.schema.fails(c):
		nw.recordFault(faults.PermanentError, c)
		return engine.Permanentf(kind.String(), "the statement was prepared for another schema")
	case nw.draws(drawsUnavailable, name, key):
		nw.downUntil = nw.kernel.Now().Add(sim.Between(nw.chooser, key.Name(labelFault, "window"), 100*time.Millisecond, unavailableMax))
		nw.recordFault(faults.Unavailable, c)
		return engine.Retryablef(kind.String(), "storage is unavailable")
	case nw.draws(drawsRetryableError, name, key):
		nw.recordFault(faults.RetryableError, c)
		return engine.Retryablef(kind.String(), "storage is busy")
	case !reads && nw.draws(drawsPermanentError, name, key):
		nw.recordFault(faults.PermanentError, c)
		return engine.Permanentf(kind.String(), "storage refuses the call")
	case kind == observe.CallAckOrchestrationItem && (nw.foreign == nil || nw.foreign.store.FailAckStep != nil) && nw.draws(drawsAckStepError, name, key):
		nw.ackStep = int(nw.chooser.Choose(key.Name(labelFault, "step"), memprovider.AckSteps))
		nw.recordFault(faults.AckStepError, c)
	}
	return nil
}

// beforeAckStep is the store's hook. It makes an ack fail before the step that a fault has chosen.
func (nw *network) beforeAckStep(step memprovider.AckStep) error {
	if nw.ackStep == int(step) {
		return engine.Retryablef("ack_orchestration_item", "storage failed before step %d of the ack", nw.ackStep)
	}
	return nil
}
