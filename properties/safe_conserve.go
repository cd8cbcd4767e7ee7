package properties

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim/cluster"
)

// conserveChecker asks that no message is lost: S12. A row leaves its queue for one of the reasons that the contract
// knows, and each reason is checked; what a node consumes must have left an event, or been dropped by a rule that the
// node named in its note.
type conserveChecker struct{ base }

func newConserveChecker(m *run) checker { return &conserveChecker{base{m}} }

func (*conserveChecker) observes() []engine.ObservationKind {
	return []engine.ObservationKind{engine.ObsCallEnd}
}

func (*conserveChecker) records() []cluster.RecordKind { return nil }

func (k *conserveChecker) observe(o *engine.Observation) {
	c := k.m.store.call(o.Call)
	if c == nil {
		return
	}
	switch c.kind {
	case engine.CallEnqueueForOrchestrator, engine.CallEnqueueForWorker:
		k.checkEnqueued(c)
		return
	case engine.CallAckOrchestrationItem:
		if o.Outcome == engine.OutcomeOK {
			k.checkConsumed(c)
		}
	}
	for _, r := range c.rows {
		if r.present || !r.was.present || r.removedBy != c.id {
			continue
		}
		if wrong := k.wrongRemoval(c, r); wrong != "" {
			k.report(c, r, "left its queue ("+c.kind.String()+" by "+k.m.who(c.caller)+"): "+wrong)
			return
		}
	}
}

func (k *conserveChecker) report(c *callState, r *rowState, seen string) {
	k.m.violate(finding{
		property: "S12", class: cluster.ClassSafety, node: c.caller.Node, instance: r.instance.no, item: itemText(r),
		message: itemText(r) + " " + seen,
	})
}

// checkEnqueued: an enqueue that is accepted adds one row, any other none.
func (k *conserveChecker) checkEnqueued(c *callState) {
	rows, want := 0, 0
	for _, r := range c.rows {
		if r.present && r.insertedBy == c.id {
			rows++
		}
	}
	if c.outcome == engine.OutcomeOK {
		want = 1
	}
	if rows == want {
		return
	}
	instance, item := engine.InstanceNo(0), "a message"
	if w := c.request.Item; w != nil {
		instance, item = k.m.store.number(w.Target()), string(w.Kind())
	}
	k.m.safety("S12", c.caller.Node, instance, "%s of %s by %s ended with %s; rows added: %d, expected %d",
		c.kind, item, k.m.who(c.caller), outcomeText(c.outcome), rows, want)
}

// wrongRemoval says what is wrong with the reason for which a row left, empty if nothing is.
func (k *conserveChecker) wrongRemoval(c *callState, r *rowState) string {
	in := r.instance
	switch r.removed {
	case engine.RemovedAcked:
		switch {
		case r.queue == engine.QueueWorker && c.kind == engine.CallAckWorkItem:
			return ""
		case r.queue == engine.QueueWorker || c.kind != engine.CallAckOrchestrationItem:
			return "only an ack consumes messages"
		case in.batchToken != c.request.Token || r.delivered != in.batchCall || r.delivered == 0:
			return "the ack of token " + c.request.Token + " consumed it, but that token's delivery was: " + k.batchOf(in, c.request.Token) +
				"; expected only delivered messages to be consumed"
		}
	case engine.RemovedCancelled:
		if c.request.Ack != nil {
			for _, id := range c.request.Ack.CancelledActivities {
				if id.Instance == in.name && id.ExecutionID == r.execution && id.ActivityID == r.id {
					return ""
				}
			}
		}
		return "it was removed as cancelled, but no ack cancelled it"
	case engine.RemovedOrphan:
		return k.wrongOrphan(c, r)
	case engine.RemovedDeleted:
		if c.kind != engine.CallAdmin {
			return "it was removed as deleted, but nobody deleted the instance"
		}
	case engine.RemovedUndone:
		return "an insert was taken back that the call had not made"
	default:
		return "no reason was given"
	}
	return ""
}

func (k *conserveChecker) batchOf(in *instanceState, token string) string {
	if in.batchToken != token {
		return "nothing of this instance"
	}
	return k.m.batchText(in.batch)
}

// wrongOrphan: only a queue message is an orphan, only if the instance was never started, and not while a start for it
// is queued, visible or not (docs/contract-decisions.md#row-4).
func (k *conserveChecker) wrongOrphan(c *callState, r *rowState) string {
	in := r.instance
	switch {
	case c.kind != engine.CallFetchOrchestrationItem:
		return "only a fetch drops orphans"
	case r.kind != engine.ItemQueueMessage:
		return "it was dropped as an orphan: expected only queue messages to be"
	case in.created:
		return "it was dropped as an orphan, although its instance exists"
	}
	if ex := in.latest(); ex != nil && ex.kinds.has(k.m.store.kinds.started) {
		return "it was dropped as an orphan, although its instance was started"
	}
	for _, other := range in.queue {
		if isStart(other.kind) {
			return "it was dropped as an orphan, although " + itemText(other) + " is queued: expected it to wait for the start"
		}
	}
	return ""
}

// messageClass groups the messages that leave the same events.
type messageClass uint8

const (
	classNone messageClass = iota
	classStart
	classActivityCompleted
	classActivityFailed
	classTimer
	classChildCompleted
	classChildFailed
	classExternal // of either generation: the execution's pin decides which event is written
	classQueue
	classCancel
	messageClasses
)

var classNames = [messageClasses]string{
	"other messages", "starts", "activity results", "activity failures", "timers", "child results", "child failures",
	"external events", "queue messages", "cancels",
}

func classOf(k engine.WorkItemKind) messageClass {
	switch k {
	case engine.ItemStartOrchestration, engine.ItemContinueAsNew:
		return classStart
	case engine.ItemActivityCompleted:
		return classActivityCompleted
	case engine.ItemActivityFailed:
		return classActivityFailed
	case engine.ItemTimerFired:
		return classTimer
	case engine.ItemSubOrchCompleted:
		return classChildCompleted
	case engine.ItemSubOrchFailed:
		return classChildFailed
	case engine.ItemExternalRaised, engine.ItemExternalRaised2:
		return classExternal
	case engine.ItemQueueMessage:
		return classQueue
	case engine.ItemCancelInstance:
		return classCancel
	}
	return classNone
}

// classOfEvent is the class of the messages that leave such an event.
func classOfEvent(d engine.EventData) messageClass {
	switch d.(type) {
	case engine.OrchestrationStarted:
		return classStart
	case engine.ActivityCompleted:
		return classActivityCompleted
	case engine.ActivityFailed:
		return classActivityFailed
	case engine.TimerFired:
		return classTimer
	case engine.SubOrchestrationCompleted:
		return classChildCompleted
	case engine.SubOrchestrationFailed:
		return classChildFailed
	case engine.ExternalEvent, engine.ExternalEvent2:
		return classExternal
	case engine.QueueEventDelivered:
		return classQueue
	case engine.OrchestrationCancelRequested:
		return classCancel
	}
	return classNone
}

// checkConsumed compares the batch that a node acknowledges with the events that it leaves and with what the node says
// that it dropped. Without a note for the token nothing is known of the reasons: the caller is no node.
func (k *conserveChecker) checkConsumed(c *callState) {
	in := heldBy(c)
	if in == nil || in.batchToken != c.request.Token || in.note.token != c.request.Token || c.request.Ack == nil {
		return
	}
	n := &in.note
	switch n.decision {
	case node.DecideTurn:
	case node.DecideHistoryError, node.DecideIncompatible, node.DecideWaitForStart, node.DecideNoHandler, node.DecideDrained:
		k.m.safety("S12", c.caller.Node, in.no, "%s acknowledged token %s, which it had decided to hand back (%s); the batch is lost: %s",
			k.m.who(c.caller), n.token, n.decision, k.m.batchText(in.batch))
		return
	default:
		return // dropped as a whole, by the rule that the decision names
	}
	var owed [messageClasses]int
	for i, no := range in.batch {
		if !droppedByRule(n, i) {
			owed[classOf(k.m.store.row(no).kind)]++
		}
	}
	for i := range c.request.Ack.HistoryDelta {
		owed[classOfEvent(c.request.Ack.HistoryDelta[i].Data)]--
	}
	for class := classStart; class < messageClasses; class++ {
		if owed[class] > 0 {
			k.m.safety("S12", c.caller.Node, in.no, "a turn by %s with token %s consumed %s, and %d of the %s left no event and were not dropped by a rule: expected an event or a rule for each message",
				k.m.who(c.caller), n.token, k.m.batchText(in.batch), owed[class], classNames[class])
			return
		}
	}
}

func droppedByRule(n *noteState, index int) bool {
	for _, d := range n.dropped {
		if d.Index == index && d.Rule != "" {
			return true
		}
	}
	return false
}
