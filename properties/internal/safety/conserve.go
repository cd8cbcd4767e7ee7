package safety

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
)

// conserveChecker checks what rule S12 says about nodes: a message that a node consumes must have left an event, or the
// node's note must name the rule by which it was dropped.
type conserveChecker struct{ check.Base }

func newConserveChecker(m *check.Run) check.Checker {
	return &conserveChecker{check.Base{Run: m, OnEnd: check.Ends{OK: check.SetOf(observe.CallAckOrchestrationItem)}}}
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

// Ended compares the batch that a node acknowledges with the events that it left and with the drops in the node's note.
// If there is no note for the token, the caller is not a node, and the reasons are unknown.
func (k *conserveChecker) Ended(c *model.Call, _ *observe.Observation) {
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
	return slices.ContainsFunc(n.Dropped, func(d machine.DroppedMessage) bool { return d.Index == index && d.Rule != "" })
}
