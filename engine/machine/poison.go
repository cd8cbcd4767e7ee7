package machine

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/replay"
)

// unknown stands for the name and the version of an orchestration that nobody tells.
const unknown = "unknown"

// undecodableCause is the default cause for undecodable poison.
const undecodableCause = "undecodable history"

// poisonCause explains, from the poisoning node's point of view, why no delivery of a batch led to a commit, and returns
// the counter of such causes.
func (n *Node) poisonCause(d *delivery) (counter *uint64, text string) {
	switch _, found := d.resolve(n.registry, n.rules); {
	case d.undecodable():
		return &n.counters.PoisonedUndecodable, undecodableCause
	case !n.admits(d):
		return &n.counters.PoisonedIncompatible, n.incompatible(d)
	case !found:
		return &n.counters.PoisonedNoHandler, missingHandler(d)
	}
	return &n.counters.PoisonedCrashes, "crashes" // or expired locks, or lost answers
}

// poisons ends work that has exceeded the maximum number of delivery attempts (docs/contract/runtime.md#r10,
// docs/contract-decisions.md). There is one exception: after a continue-as-new, a decodable batch without the next
// execution's start waits for that start.
func (n *Node) poisons(s *slot, d *delivery) bool {
	if !n.rules.ExceedsMaxAttempts(d.AttemptCount, n.options.MaxAttempts) {
		return false
	}
	if n.routing.Stalls && !n.admits(d) {
		return false // a node that can replay it will judge it
	}
	continued := d.status == engine.StatusContinuedAsNew && n.rules.PoisonWaitsForStart
	if continued && d.begin == nil && !d.undecodable() {
		return false
	}
	counter, text := n.poisonCause(d)
	if !n.rules.PoisonEnds {
		n.abandon(s, Note{Decision: DecidePoison, Delay: HistoryErrorDelay, Cause: text})
		return true
	}
	*counter++
	if n.routing.Bounces && counter != &n.counters.PoisonedCrashes {
		text = Unprocessable + ": " + text
	}
	n.logPoison(d, text)
	n.endAsPoison(s, d, DecidePoison, text, dropPoison)
	return true
}

// poisonAck builds the ack that ends the execution. If the execution has not begun, the ack first begins it, so that
// its history reads like any other. This happens for a new instance, and after a continue-as-new, where the old
// execution stays unchanged. An undecodable history gets a single event, with an id far beyond the existing ones.
func (n *Node) poisonAck(d *delivery, continued bool, cause string) engine.OrchestrationAck {
	ack := engine.OrchestrationAck{LockToken: d.LockToken, ExecutionID: d.Item.ExecutionID}
	begins := continued || !d.undecodable() && len(d.Item.History) == 0
	if continued || begins && d.begin != nil && d.begin.next {
		ack.ExecutionID++
	}
	parent := d.parent()
	details := n.poisonDetails(d, ack.ExecutionID, cause)
	output := details.Display()
	ack.Metadata.Status, ack.Metadata.Output = engine.StatusFailed, &output
	if parent != nil && n.rules.PoisonTellsParent(d.undecodable()) {
		ack.OrchestratorItems = append(ack.OrchestratorItems, childFailed(*parent, details))
	}
	failed := eventdata.OrchestrationFailed{Details: details}
	event := func(id uint64, data engine.EventData) engine.Event {
		return n.event(d.Item.Instance, ack.ExecutionID, id, data)
	}
	switch {
	case begins:
		started := poisonStart(d, parent)
		ack.HistoryDelta = []engine.Event{event(engine.InitialEventID, started), event(engine.InitialEventID+1, failed)}
		m := &ack.Metadata
		m.OrchestrationName, m.OrchestrationVersion = started.Name, started.Version
		if n.rules.PoisonPins {
			pin := n.build.Version
			m.PinnedVersion = &pin
		}
		m.ParentInstanceID, m.ParentExecutionID, m.ParentEventID = started.ParentInstance, started.ParentExecutionID, started.ParentID
	case d.undecodable():
		ack.HistoryDelta = []engine.Event{event(eventdata.CorruptedPoisonEventID, failed)}
		// If the undecodable message was the start, the name creates the instance.
		ack.Metadata.OrchestrationName, ack.Metadata.OrchestrationVersion = cmp.Or(d.Item.OrchestrationName, unknown), cmp.Or(d.Item.Version, unknown)
	case n.rules.PoisonCancels:
		n.endRunning(d, &ack, details)
	default:
		ack.HistoryDelta = []engine.Event{event(lastEventID(d.Item.History)+1, failed)}
	}
	if n.rules.PoisonAnswersStarts {
		ack.OrchestratorItems = append(ack.OrchestratorItems, n.refusals(d)...)
	}
	return ack
}

// endRunning ends a running execution as any other end would: it cancels open waits, activities and children.
func (n *Node) endRunning(d *delivery, ack *engine.OrchestrationAck, details engine.ErrorDetails) {
	in := n.turnInput(d, node.Resolved{})
	in.ExecutionID, in.History, in.Start = ack.ExecutionID, d.Item.History, nil
	out, err := replay.End(in, details)
	if err != nil {
		panic(fmt.Sprintf("node %s: end of %s: %v", n.name, d.Item.Instance, err))
	}
	ack.HistoryDelta, ack.CancelledActivities = out.Delta, out.Cancelled
	for _, item := range out.OrchestratorItems {
		if cancel, ok := item.(engine.CancelInstanceItem); ok {
			ack.OrchestratorItems = append(ack.OrchestratorItems, cancel)
		}
	}
}

// poisonStart returns the first event of an execution that begins only in order to fail.
func poisonStart(d *delivery, parent *engine.ParentLink) eventdata.OrchestrationStarted {
	started := eventdata.OrchestrationStarted{Name: cmp.Or(d.Item.OrchestrationName, unknown), Version: cmp.Or(d.Item.Version, unknown)}
	if b := d.begin; b != nil {
		started.Name, started.Input = b.Name, b.Input
		started.CarryForwardEvents, started.InitialCustomStatus = b.CarryForwardEvents, b.InitialCustomStatus
		started.Version = cmp.Or(b.Version, started.Version)
	}
	if parent != nil {
		started.ParentInstance, started.ParentExecutionID, started.ParentID = parent.Instance, parent.ExecutionID, parent.EventID
	}
	return started
}

// poisonDetails builds the error for a poisoned batch. The error's message is the batch as JSON or, for an undecodable
// batch, the decoding error.
func (n *Node) poisonDetails(d *delivery, execution uint64, cause string) engine.ErrorDetails {
	p := &eventdata.PoisonError{
		AttemptCount: d.AttemptCount, MaxAttempts: n.options.MaxAttempts,
		MessageType: eventdata.PoisonType{Kind: eventdata.PoisonOrchestration, Instance: d.Item.Instance, ExecutionID: execution, Cause: cause},
	}
	if d.undecodable() {
		// The kind and the error are sufficient.
		p.MessageType.Kind, p.MessageType.Error, p.MessageType.Cause = eventdata.PoisonFailedDeserialization, d.Item.HistoryError, ""
		if cause != undecodableCause {
			p.MessageType.Error = cause + ": " + d.Item.HistoryError
		}
		p.Message = p.MessageType.Error
	} else {
		p.Message = n.messagesText(d.Item.Messages)
	}
	return engine.ErrorDetails{Poison: p}
}

// messagesText formats messages as a JSON array. If this build does not write a message's kind, the array contains only
// the kind.
func (n *Node) messagesText(messages []engine.WorkItem) string {
	text := []byte{'['}
	for i, m := range messages {
		if i > 0 {
			text = append(text, ',')
		}
		text = n.appendItem(text, m)
	}
	return string(append(text, ']'))
}

func (n *Node) appendItem(text []byte, m engine.WorkItem) []byte {
	size := len(text)
	text, err := n.build.Codec.AppendWorkItem(text, m)
	if err != nil {
		text = strconv.AppendQuote(text[:size], string(m.Kind()))
	}
	return text
}
