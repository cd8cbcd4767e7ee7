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

// messageClass names messages that leave the same kind of event.
type messageClass string

// An external event is of either generation, depending on the execution's pin. No map is iterated over.
var (
	classOf = map[engine.WorkItemKind]messageClass{
		engine.ItemStartOrchestration: "starts", engine.ItemContinueAsNew: "starts", engine.ItemActivityCompleted: "activity results",
		engine.ItemActivityFailed: "activity failures", engine.ItemTimerFired: "timers", engine.ItemSubOrchCompleted: "child results",
		engine.ItemSubOrchFailed: "child failures", engine.ItemExternalRaised: "external events", engine.ItemExternalRaised2: "external events",
		engine.ItemQueueMessage: "queue messages", engine.ItemCancelInstance: "cancels",
	}
	classOfEvent = map[engine.EventKind]messageClass{
		eventdata.KindOrchestrationStarted: "starts", eventdata.KindActivityCompleted: "activity results",
		eventdata.KindActivityFailed: "activity failures", eventdata.KindTimerFired: "timers", eventdata.KindSubOrchestrationCompleted: "child results",
		eventdata.KindSubOrchestrationFailed: "child failures", eventdata.KindExternalEvent: "external events", eventdata.KindExternalEvent2: "external events",
		eventdata.KindQueueEventDelivered: "queue messages", eventdata.KindOrchestrationCancelRequested: "cancels",
	}
)

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
	owed := func(class messageClass) (left int) {
		for i, no := range in.Batch {
			if !droppedByRule(n, i) && classOf[k.Run.Model.Row(no).Kind] == class {
				left++
			}
		}
		for i := range c.Request.Ack.HistoryDelta {
			if classOfEvent[c.Request.Ack.HistoryDelta[i].Kind()] == class {
				left--
			}
		}
		return left
	}
	for _, no := range in.Batch {
		if class := classOf[k.Run.Model.Row(no).Kind]; class != "" && owed(class) > 0 {
			k.Run.Safety("S12", c.Caller.Node, in.No, "a turn by %s with token %s consumed %s, and %d of the %s left no event and were not dropped by a rule: expected an event or a rule for each message",
				k.Run.Who(c.Caller), n.Token, k.Run.BatchText(in.Batch), owed(class), class)
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
