package safety

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/machine"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
)

// conserveChecker checks rule S12: no message is lost. A row leaves its queue for one of the reasons that the contract
// lists, and the checker verifies that reason. A message that a node consumes must have left an event, or the node's
// note must name the rule by which it was dropped.
type conserveChecker struct{ check.Base }

func newConserveChecker(m *check.Run) check.Checker { return &conserveChecker{check.Base{Run: m}} }

func (*conserveChecker) Ends() check.Ends {
	return check.Ends{Any: check.SetOf(observe.CallEnqueueForOrchestrator, observe.CallEnqueueForWorker), Touched: check.AnyCall}
}

func (k *conserveChecker) Ended(c *model.Call, o *observe.Observation) {
	switch c.Kind {
	case observe.CallEnqueueForOrchestrator, observe.CallEnqueueForWorker:
		k.checkEnqueued(c)
		return
	case observe.CallAckOrchestrationItem:
		if o.Outcome == observe.OutcomeOK {
			k.checkConsumed(c)
		}
	}
	for _, r := range c.Rows {
		if !r.Was.Present || r.RemovedBy != c.ID {
			continue
		}
		if wrong := k.wrongRemoval(c, r); wrong != "" {
			k.report(c, r, "left its queue ("+c.Kind.String()+" by "+k.Run.Who(c.Caller)+"): "+wrong)
			return
		}
	}
}

func (k *conserveChecker) report(c *model.Call, r *model.Row, seen string) {
	k.Run.Violate(check.Breach{
		Property: "S12", Class: cluster.ClassSafety, Node: c.Caller.Node, Instance: r.Instance.No, Item: model.ItemText(r),
		Message: model.ItemText(r) + " " + seen,
	})
}

// checkEnqueued checks that an accepted enqueue adds exactly one row, and that a rejected one adds none.
func (k *conserveChecker) checkEnqueued(c *model.Call) {
	rows, want := 0, 0
	for _, r := range c.Rows {
		if r.Present && r.InsertedBy == c.ID {
			rows++
		}
	}
	if c.Outcome == observe.OutcomeOK {
		want = 1
	}
	if rows == want {
		return
	}
	instance, item := observe.InstanceNo(0), "a message"
	if w := c.Request.Item; w != nil {
		instance, item = k.Run.Model.Number(w.Target()), string(w.Kind())
	}
	k.Run.Safety("S12", c.Caller.Node, instance, "%s of %s by %s ended with %s; rows added: %d, expected %d",
		c.Kind, item, k.Run.Who(c.Caller), outcomeText(c.Outcome), rows, want)
}

// wrongRemoval describes what is wrong with the reason for removing a row, or returns "" if nothing is.
func (k *conserveChecker) wrongRemoval(c *model.Call, r *model.Row) string {
	in := r.Instance
	switch r.Removed {
	case observe.RemovedAcked:
		switch {
		case r.Queue == observe.QueueWorker && c.Kind == observe.CallAckWorkItem:
			return ""
		case r.Queue == observe.QueueWorker || c.Kind != observe.CallAckOrchestrationItem:
			return "only an ack consumes messages"
		case in.BatchToken != c.Request.Token || r.Delivered != in.BatchCall:
			return "the ack of token " + c.Request.Token + " consumed it, but the delivery with that token was: " + k.batchOf(in, c.Request.Token) +
				"; expected only delivered messages to be consumed"
		}
	case observe.RemovedCancelled:
		if c.Request.Ack != nil {
			for _, id := range c.Request.Ack.CancelledActivities {
				if id.Instance == in.Name && id.ExecutionID == r.Execution && id.ActivityID == r.ID {
					return ""
				}
			}
		}
		return "it was removed as cancelled, but no ack cancelled it"
	case observe.RemovedOrphan:
		return k.wrongOrphan(c, r)
	case observe.RemovedDeleted:
		if c.Kind != observe.CallAdmin {
			return "it was removed as deleted, but no call deleted the instance"
		}
	case observe.RemovedUndone:
		return "the call undid an insert that it had not made"
	default:
		return "no reason was given"
	}
	return ""
}

func (k *conserveChecker) batchOf(in *model.Instance, token string) string {
	if in.BatchToken != token {
		return "nothing of this instance"
	}
	return k.Run.BatchText(in.Batch)
}

// wrongOrphan describes why a row that was dropped as an orphan was not one. An orphan is a queue message to an
// instance that has never started, while no start for that instance is queued, visible or not
// (docs/contract-decisions.md#row-4).
func (k *conserveChecker) wrongOrphan(c *model.Call, r *model.Row) string {
	in := r.Instance
	switch {
	case c.Kind != observe.CallFetchOrchestrationItem:
		return "only a fetch drops orphans"
	case r.Kind != engine.ItemQueueMessage:
		return "it was dropped as an orphan: expected only queue messages to be dropped"
	case in.Created:
		return "it was dropped as an orphan, although its instance exists"
	}
	if ex := in.Latest(); ex != nil && ex.Kinds.Has(k.Run.Model.Kinds.Started) {
		return "it was dropped as an orphan, although its instance was started"
	}
	for _, other := range in.Queue {
		if model.IsStart(other.Kind) {
			return "it was dropped as an orphan, although " + model.ItemText(other) + " is queued: expected it to wait for the start"
		}
	}
	return ""
}

// messageClass groups messages that leave the same kind of event.
type messageClass uint8

const (
	classNone messageClass = iota
	classStart
	classActivityCompleted
	classActivityFailed
	classTimer
	classChildCompleted
	classChildFailed
	classExternal // of either generation; which event is written depends on the execution's pin
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

// classOfEvent returns the class of messages that leave this kind of event.
func classOfEvent(d engine.EventData) messageClass {
	switch d.(type) {
	case eventdata.OrchestrationStarted:
		return classStart
	case eventdata.ActivityCompleted:
		return classActivityCompleted
	case eventdata.ActivityFailed:
		return classActivityFailed
	case eventdata.TimerFired:
		return classTimer
	case eventdata.SubOrchestrationCompleted:
		return classChildCompleted
	case eventdata.SubOrchestrationFailed:
		return classChildFailed
	case eventdata.ExternalEvent, eventdata.ExternalEvent2:
		return classExternal
	case eventdata.QueueEventDelivered:
		return classQueue
	case eventdata.OrchestrationCancelRequested:
		return classCancel
	}
	return classNone
}

// checkConsumed compares the batch that a node acknowledges with the events that it left and with the drops in the
// node's note. If there is no note for the token, the caller is not a node, and the reasons are unknown.
func (k *conserveChecker) checkConsumed(c *model.Call) {
	in := model.HeldBy(c)
	if in == nil || in.BatchToken != c.Request.Token || in.Note.Token != c.Request.Token || c.Request.Ack == nil {
		return
	}
	n := &in.Note
	switch n.Decision {
	case machine.DecideTurn:
	case machine.DecideHistoryError, machine.DecideIncompatible, machine.DecideWaitForStart, machine.DecideNoHandler, machine.DecideDrained, machine.DecideLooked:
		k.Run.Safety("S12", c.Caller.Node, in.No, "%s acknowledged token %s, although it had decided to give the batch back (%s); the batch is lost: %s",
			k.Run.Who(c.Caller), n.Token, n.Decision, k.Run.BatchText(in.Batch))
		return
	default:
		return // the batch was dropped as a whole, under the rule that the decision names
	}
	var owed [messageClasses]int
	for i, no := range in.Batch {
		if !droppedByRule(n, i) {
			owed[classOf(k.Run.Model.Row(no).Kind)]++
		}
	}
	for i := range c.Request.Ack.HistoryDelta {
		owed[classOfEvent(c.Request.Ack.HistoryDelta[i].Data)]--
	}
	for class := classStart; class < messageClasses; class++ {
		if owed[class] > 0 {
			k.Run.Safety("S12", c.Caller.Node, in.No, "a turn by %s with token %s consumed %s, and %d of the %s left no event and were not dropped by a rule: expected an event or a rule for each message",
				k.Run.Who(c.Caller), n.Token, k.Run.BatchText(in.Batch), owed[class], classNames[class])
			return
		}
	}
}

func droppedByRule(n *model.Note, index int) bool {
	for _, d := range n.Dropped {
		if d.Index == index && d.Rule != "" {
			return true
		}
	}
	return false
}
