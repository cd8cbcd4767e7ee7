package machine

import (
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/replay"
)

// hold is a batch or an activity that a slot holds under a lock.
type hold struct {
	token     string
	instance  string
	execution uint64
	count     uint32
	// batch or activity is the fetched work. It is owned by the provider and must not be modified.
	batch    *engine.FetchedOrchestration
	activity engine.ActivityExecuteItem
	// lockTimeout is the lock's timeout. expiresMs is the time on the node's clock at which the lock has certainly
	// expired.
	lockTimeout time.Duration
	expiresMs   int64
	// renewalTimer and renewalCall identify the renewal's pending timer or call. Both are 0 once renewal has stopped.
	renewalTimer  TimerID
	renewalCall   CallID
	renewalSentMs int64
	// ack is the ack that is in flight or waiting to be sent. If it is nil, turn is used instead, and the node passes
	// only copies of turn's slices to the driver.
	ack      call.Call
	turn     call.AckOrchestrationItem
	decision Decision // the decision that the ack carries out
	// The turn's result, its failure category, and the number of queue messages that it did not carry forward. The
	// counters use these.
	result     replay.Result
	category   string
	notCarried int
	failures   int  // failed attempts to send this ack
	discard    bool // acknowledge a lost activity without a completion
}

// take makes the slot hold fetched work and computes the time by which its lock has certainly expired. The caller fills
// in what the work is.
func (n *Node) take(s *slot, token, instance string, count uint32, lockTimeout time.Duration) *hold {
	h := &s.room
	*h = hold{}
	h.token, h.instance, h.count, h.lockTimeout = token, instance, count, lockTimeout
	h.expiresMs = n.nowMs + lockTimeout.Milliseconds()
	s.hold = h
	return h
}

// startRenewing sets the timer for a lock's first renewal. The interval starts when the answer to the fetch arrives.
// The renewal buffer covers the unknown time for which the lock has been held by then.
func (n *Node) startRenewing(s *slot) {
	h := s.hold
	if interval := n.renewalInterval(s.id.Kind); interval > 0 {
		h.renewalTimer = n.setTimer(interval, timerRenewal)
	}
}

func (n *Node) renewalInterval(kind SlotKind) time.Duration {
	o := &n.options
	if kind == SlotWorker {
		return n.rules.RenewalInterval(o.WorkerLockTimeout, o.WorkerLockRenewalBuffer)
	}
	return n.rules.RenewalInterval(o.OrchestratorLockTimeout, o.OrchestratorLockRenewalBuffer)
}

func (n *Node) stopRenewing(h *hold) {
	n.cancelTimer(&h.renewalTimer)
	h.renewalCall = 0
}

// onRenewalDue sends a renewal unless the lock has certainly expired.
func (n *Node) onRenewalDue(s *slot) {
	h := s.hold
	h.renewalTimer = 0
	if n.nowMs >= h.expiresMs {
		n.onRenewalOver(s, "the lock ran out before it could be renewed", RenewalHandBack)
		return
	}
	var request call.Call = call.RenewOrchestrationItemLock{LockToken: h.token, ExtendFor: h.lockTimeout}
	if s.id.Kind == SlotWorker {
		request = call.RenewWorkItemLock{LockToken: h.token, ExtendFor: h.lockTimeout}
	}
	n.counters.Renewals++
	h.renewalSentMs = n.nowMs
	h.renewalCall = n.ask(s, request)
}

// onRenewed handles the answer to a renewal.
func (n *Node) onRenewed(s *slot, err error) {
	h := s.hold
	h.renewalCall = 0
	if err == nil {
		h.expiresMs = n.nowMs + h.lockTimeout.Milliseconds()
		took := time.Duration(max(n.nowMs-h.renewalSentMs, 0)) * time.Millisecond
		h.renewalTimer = n.setTimer(max(n.renewalInterval(s.id.Kind)-took, time.Millisecond), timerRenewal)
		return
	}
	n.counters.RenewalFailures++
	step := RenewalHandBack
	if s.id.Kind == SlotWorker {
		step = n.rules.ActivityRenewalFailed(err)
	} else if n.rules.TurnRenewalFailed(err) {
		step = RenewalRetry
	}
	if step == RenewalRetry {
		h.renewalTimer = n.setTimer(RenewalRetryDelay(h.lockTimeout), timerRenewal)
		return
	}
	n.onRenewalOver(s, err.Error(), step)
}

// onRenewalOver stops renewing a lock. A turn continues and learns of the lost lock from its ack; a running activity is
// stopped.
func (n *Node) onRenewalOver(s *slot, cause string, step RenewalStep) {
	if s.id.Kind == SlotWorker && s.phase == phaseRunning {
		n.onActivityLost(s, cause, step == RenewalDiscard)
	}
}

// commit sends the ack for the work that the slot holds.
func (n *Node) commit(s *slot, d Decision, ack call.Call) {
	h := s.hold
	h.ack, h.decision, h.failures = ack, d, 0
	if turn, ok := ack.(call.AckOrchestrationItem); ok {
		h.turn, h.ack = turn, nil
	}
	n.sendAck(s)
}

func (n *Node) sendAck(s *slot) {
	s.phase = phaseAcking
	ack := s.hold.ack
	if ack == nil {
		ack = n.arena.cloneAck(&s.hold.turn)
	}
	s.call = n.ask(s, ack)
}

// cloneAck copies an ack and its slices, because the node must not share a slice with the provider.
func (m *Arena) cloneAck(ack *call.AckOrchestrationItem) call.AckOrchestrationItem {
	a := *ack
	a.HistoryDelta = m.events.Clone(a.HistoryDelta)
	a.WorkerItems = m.items.Clone(a.WorkerItems)
	a.OrchestratorItems = m.items.Clone(a.OrchestratorItems)
	a.CancelledActivities = slices.Clone(a.CancelledActivities)
	return a
}

// onAcked handles the answer to an ack. It finishes, retries, or gives up. If a turn's ack fails permanently, the node
// abandons the batch, and the delivery counts as an attempt. A failed ack never makes the orchestration fail
// (docs/contract-decisions.md#row-3).
func (n *Node) onAcked(s *slot, err error) {
	h := s.hold
	if err == nil {
		n.onCommitted(s)
		return
	}
	h.failures++
	step := n.rules.AckFailed(s.id.Kind, err, h.failures)
	if step.Do == AckFail && h.decision == DecideAckFailed { // this ack already reports the failure
		step.Do = AckForget
	}
	n.logAckFailed(s, err, step)
	switch step.Do {
	case AckRetry:
		n.counters.AckRetries++
		s.phase = phaseAckPausing
		s.timer = n.setTimer(step.After, timerAckRetry)
	case AckAbandon:
		n.counters.AckFailures++
		n.abandon(s, Note{Decision: DecideAckFailed, Delay: step.After, Cause: err.Error()})
	case AckForget:
		n.counters.AckFailures++
		n.note(s, Note{Decision: DecideAckFailed, Cause: err.Error()})
		n.stopRenewing(h)
		n.next(s)
	case AckFail:
		n.counters.AckFailures++
		n.note(s, Note{Decision: DecideAckFailed, Cause: err.Error()})
		n.commit(s, DecideAckFailed, n.failureInstead(h, err))
	default:
		panic("unknown ack action")
	}
}

func (n *Node) onCommitted(s *slot) {
	n.counters.countCommit(s.hold)
	if s.hold.decision == DecideWorkRun {
		n.note(s, Note{Decision: DecideWorkDone})
	}
	n.stopRenewing(s.hold)
	n.next(s)
}

// failureInstead builds the ack with which 0.1.26 fails an orchestration whose turn cannot be committed. The ack
// extends the fetched history but names the turn's execution (docs/contract/runtime.md#r5.4).
func (n *Node) failureInstead(h *hold, err error) call.Call {
	details := engine.Infrastructure(err)
	id := lastEventID(h.batch.Item.History) + 1
	output := details.Display()
	return call.AckOrchestrationItem{
		LockToken: h.token, ExecutionID: h.execution,
		HistoryDelta: []engine.Event{n.event(h.instance, h.execution, id, eventdata.OrchestrationFailed{Details: details})},
		Metadata:     engine.ExecutionMetadata{Status: engine.StatusFailed, Output: &output},
	}
}
