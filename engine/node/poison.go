package node

import (
	"strconv"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/replay"
)

// PoisonCause is why the deliveries of a poisoned batch did not end in a commit, as far as the node that poisons can see.
type PoisonCause uint8

// The causes, in the order in which they are looked for.
const (
	PoisonUndecodable  PoisonCause = iota // its history or a message cannot be decoded here
	PoisonIncompatible                    // its pin is outside this node's range
	PoisonNoHandler                       // this node lacks its handler
	PoisonUnsupported                     // its turn asks for what this version does not do yet
	PoisonCrashes                         // none of these: crashes, expired locks, lost answers
)

// poisonCause finds the cause, with its text.
func (n *Node) poisonCause(d *delivery) (PoisonCause, string) {
	switch handler, found := d.resolve(n.registry); {
	case d.undecodable():
		return PoisonUndecodable, "undecodable history"
	case !n.rules.Admits(n.admitted, d.pin):
		return PoisonIncompatible, n.incompatible(d)
	case !found:
		return PoisonNoHandler, missingHandler(d)
	default:
		if err := replay.FindUnsupported(n.turnInput(d, handler)); err != nil {
			return PoisonUnsupported, err.Error()
		}
	}
	return PoisonCrashes, "crashes"
}

// poisons ends what was delivered too often (contract/runtime.md section 10, design.md section 6). A decodable batch for
// an execution that has continued as new, without the start of the next one, is not the next one's end: it waits.
func (n *Node) poisons(s *slot, d *delivery) bool {
	if !n.rules.ExceedsMaxAttempts(d.AttemptCount, n.options.MaxAttempts) {
		return false
	}
	continued := d.status == engine.StatusContinuedAsNew && n.rules.PoisonWaitsForStart()
	if continued && d.begin == nil && !d.undecodable() {
		return false
	}
	cause, text := n.poisonCause(d)
	ack := n.poisonAck(d, continued, text)
	s.hold.execution = ack.ExecutionID
	n.logPoison(d, text)
	n.counters.countPoison(cause)
	note := Note{Decision: DecidePoison, Cause: text, Dropped: d.dropAll(DropPoison)}
	n.note(s, note)
	n.counters.countDrops(note.Dropped)
	n.startRenewing(s)
	n.commit(s, DecidePoison, AckOrchestration{Ack: ack})
	return true
}

// poisonAck is the end of the execution. Where there is none yet it is begun first, so that its history reads like any
// other: the start of a new instance, or the successor of one that has continued as new, which stays as it is. An
// undecodable history gets one event far beyond its own.
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
	failed := engine.OrchestrationFailed{Details: details}
	event := func(id uint64, data engine.EventData) engine.Event {
		return n.event(d.Item.Instance, ack.ExecutionID, id, data)
	}
	switch {
	case begins:
		started := poisonStart(d, parent)
		ack.HistoryDelta = []engine.Event{event(engine.InitialEventID, started), event(engine.InitialEventID+1, failed)}
		pin, m := n.build.Version, &ack.Metadata
		m.OrchestrationName, m.OrchestrationVersion, m.PinnedVersion = started.Name, started.Version, &pin
		m.ParentInstanceID, m.ParentExecutionID, m.ParentEventID = started.ParentInstance, started.ParentExecutionID, started.ParentID
	case d.undecodable():
		ack.HistoryDelta = []engine.Event{event(engine.CorruptedPoisonEventID, failed)}
		// The name makes the instance, should its very start be what cannot be decoded.
		ack.Metadata.OrchestrationName, ack.Metadata.OrchestrationVersion = orUnknown(d.Item.OrchestrationName), orUnknown(d.Item.Version)
	default:
		last := lastEventID(d.Item.History) + 1
		ack.HistoryDelta = []engine.Event{event(last, failed)}
		if n.rules.PoisonCancels() {
			n.cancelRunning(d, &ack, last)
		}
	}
	ack.OrchestratorItems = append(ack.OrchestratorItems, d.refusals()...)
	return ack
}

// cancelRunning cancels what an execution leaves running when it is poisoned, like any other end: its activities, each
// with an event after the last one, and its children. Open waits get no breadcrumb: which they are takes a replay, and
// nobody reads it.
func (n *Node) cancelRunning(d *delivery, ack *engine.OrchestrationAck, last uint64) {
	instance := d.Item.Instance
	activities, children := running(d.Item.History)
	for _, schedule := range activities {
		last++
		e := n.event(instance, ack.ExecutionID, last, engine.ActivityCancelRequested{Reason: engine.ReasonTerminalFailed})
		e.SourceEventID = schedule
		ack.HistoryDelta = append(ack.HistoryDelta, e)
		ack.CancelledActivities = append(ack.CancelledActivities, engine.ScheduledActivityIdentifier{
			Instance: instance, ExecutionID: ack.ExecutionID, ActivityID: schedule,
		})
	}
	for _, child := range children {
		ack.OrchestratorItems = append(ack.OrchestratorItems, engine.CancelInstanceItem{
			Instance: replay.ChildInstance(instance, child), Reason: engine.ReasonParentDroppedFuture,
		})
	}
}

// running are the schedule ids of the activities, and the instances as scheduled of the children, that a history leaves
// without a completion and without a cancel request, in the order of their schedules.
func running(history []engine.Event) (activities []uint64, children []string) {
	closed := make(map[uint64]bool)
	for i := range history {
		switch history[i].Data.(type) {
		case engine.ActivityCompleted, engine.ActivityFailed, engine.ActivityCancelRequested,
			engine.SubOrchestrationCompleted, engine.SubOrchestrationFailed, engine.SubOrchestrationCancelRequested:
			closed[history[i].SourceEventID] = true
		}
	}
	for i := range history {
		if closed[history[i].EventID] {
			continue
		}
		switch e := history[i].Data.(type) {
		case engine.ActivityScheduled:
			activities = append(activities, history[i].EventID)
		case engine.SubOrchestrationScheduled:
			children = append(children, e.Instance)
		}
	}
	return activities, children
}

// poisonStart is the first event of an execution that only begins in order to fail.
func poisonStart(d *delivery, parent *engine.ParentLink) engine.OrchestrationStarted {
	started := engine.OrchestrationStarted{Name: orUnknown(d.Item.OrchestrationName), Version: orUnknown(d.Item.Version)}
	if b := d.begin; b != nil {
		started.Name, started.Input = b.name, b.input
		started.CarryForwardEvents, started.InitialCustomStatus = b.carried, b.initialCustomStatus
		if b.version != "" {
			started.Version = b.version
		}
	}
	if parent != nil {
		started.ParentInstance, started.ParentExecutionID, started.ParentID = parent.Instance, parent.ExecutionID, parent.EventID
	}
	return started
}

// poisonDetails is the error of a poisoned batch. Its message is the batch as JSON, or the decoding error.
func (n *Node) poisonDetails(d *delivery, execution uint64, cause string) engine.ErrorDetails {
	p := &engine.PoisonError{
		AttemptCount: d.AttemptCount, MaxAttempts: n.options.MaxAttempts,
		MessageType: engine.PoisonType{Kind: engine.PoisonOrchestration, Instance: d.Item.Instance, ExecutionID: execution, Cause: cause},
	}
	if d.undecodable() {
		// The kind and the error say it all.
		p.MessageType.Kind, p.MessageType.Error, p.MessageType.Cause = engine.PoisonFailedDeserialization, d.Item.HistoryError, ""
		p.Message = d.Item.HistoryError
	} else {
		p.Message = n.messagesText(d.Item.Messages)
	}
	return engine.ErrorDetails{Poison: p}
}

// messagesText is a JSON array of messages; one that this build does not write stands there by its kind.
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

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}
