package replay

import (
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// prep turns the batch into events at the start of the delta, in message order, and lists the messages that it drops.
// It records events and queue messages whether or not the code waits for them. A message that cannot belong to this
// history leaves no event and fails the turn; if there are several, the last one determines the failure. A completion
// whose error is not an application error is recorded and fails the turn, unless the turn has already failed.
func (t *turn) prep() error {
	start := t.startMessage()
	for i, m := range t.in.Messages {
		switch m := m.(type) {
		case engine.StartItem:
			if i != start {
				t.drop(i, dropDuplicateStart)
				t.refuse(m)
			}
		case engine.ContinueAsNewItem:
			if i != start {
				t.drop(i, dropDuplicateStart)
			}
		case engine.ActivityCompletedItem:
			t.complete(i, m.ExecutionID, m.ID, scheduleActivity, eventdata.ActivityCompleted{Result: m.Result}, nil)
		case engine.ActivityFailedItem:
			t.complete(i, m.ExecutionID, m.ID, scheduleActivity, eventdata.ActivityFailed{Details: m.Details}, &m.Details)
		case engine.TimerFiredItem:
			t.complete(i, m.ExecutionID, m.ID, scheduleTimer, eventdata.TimerFired{FireAtMs: m.FireAtMs}, nil)
		case engine.SubOrchCompletedItem:
			t.complete(i, m.ParentExecutionID, m.ParentID, scheduleChild, eventdata.SubOrchestrationCompleted{Result: m.Result}, nil)
		case engine.SubOrchFailedItem:
			t.complete(i, m.ParentExecutionID, m.ParentID, scheduleChild, eventdata.SubOrchestrationFailed{Details: m.Details}, &m.Details)
		case engine.ExternalRaisedItem:
			t.add(0, eventdata.ExternalEvent{Name: m.Name, Data: m.Data})
		case engine.ExternalRaised2Item:
			if t.writes(eventdata.KindExternalEvent2) {
				t.add(0, eventdata.ExternalEvent2{Name: m.Name, Topic: m.Topic, Data: m.Data})
			} else {
				t.add(0, eventdata.ExternalEvent{Name: m.Name, Data: m.Data})
			}
		case engine.QueueMessageItem:
			t.add(0, eventdata.QueueEventDelivered{Name: m.Name, Data: m.Data})
		case engine.CancelInstanceItem:
			if t.cancelled {
				t.drop(i, dropDuplicateCancel)
				continue
			}
			t.cancelled, t.reason = true, m.Reason
			t.add(0, eventdata.OrchestrationCancelRequested{Reason: m.Reason})
		case engine.ActivityExecuteItem:
			t.drop(i, dropNotOrchestrator)
		default:
			return fmt.Errorf("replay: message %d has no known kind", i)
		}
	}
	return nil
}

// startMessage returns the index of the message that produced Input.Start, or -1. On a first turn, this is the first
// start of the kind that begins this execution. On later turns, it is the first start of any kind.
func (t *turn) startMessage() int {
	if len(t.in.History) > 0 {
		return -1
	}
	first := -1
	for i, m := range t.in.Messages {
		switch k := m.Kind(); {
		case k != engine.ItemStartOrchestration && k != engine.ItemContinueAsNew:
		case (k == engine.ItemStartOrchestration) == (t.in.ExecutionID == engine.InitialExecutionID):
			return i
		case first < 0:
			first = i
		}
	}
	return first
}

// complete records or drops a completion. details is nil for a success.
func (t *turn) complete(message int, execution, id uint64, kind scheduleKind, data engine.EventData, details *engine.ErrorDetails) {
	if !t.rules.ForThisExecution(t.in.ExecutionID, execution) {
		t.drop(message, DropStaleExecution)
		return
	}
	if t.rules.Completes != nil {
		id = t.rules.Completes(id, func() []uint64 { return t.openOf(kind) })
	}
	pos := t.find(id)
	if pos < 0 || t.sched[pos].kind == notSchedule {
		t.drop(message, dropNoSchedule)
		t.disagree(mismatch(noMatchingSchedule, id, fmt.Sprintf("no matching schedule for %s id=%d", completionNames[kind], id)))
		return
	}
	s := &t.sched[pos]
	if s.kind != kind {
		t.drop(message, dropKindMismatch)
		t.disagree(mismatch(completionKindMismatch, id, fmt.Sprintf("completion kind mismatch for id=%d, expected '%v', got '%v'", id, s.kind, kind)))
		return
	}
	if t.rules.IsDuplicate(s.closed, s.failed == (details != nil), kind == scheduleActivity && details != nil) {
		t.drop(message, dropDuplicate)
		return
	}
	s.closed, s.failed = true, details != nil
	t.add(id, data)
	if details != nil && details.Application == nil && t.abort.IsZero() {
		t.abort = *details
	}
}

// openOf returns, in ascending order, the ids of schedules of that kind that are neither completed nor withdrawn.
func (t *turn) openOf(kind scheduleKind) (ids []uint64) {
	for pos := range t.sched {
		if s := &t.sched[pos]; s.kind == kind && !s.closed && !s.withdrawn {
			ids = append(ids, t.at(pos).EventID)
		}
	}
	return ids
}

// completionNames holds each kind's name for messages about completions without a schedule.
var completionNames = [...]string{
	scheduleActivity: "completion", scheduleTimer: "timer", scheduleChild: "sub-orchestration",
}

func (t *turn) drop(message int, rule string) {
	t.out.Dropped = append(t.out.Dropped, Dropped{Index: message, Rule: rule})
}

// dropAll drops a batch that arrived after the end of the execution.
func (t *turn) dropAll() {
	for i, m := range t.in.Messages {
		t.drop(i, DropTerminal)
		if start, ok := m.(engine.StartItem); ok {
			t.refuse(start)
		}
	}
	t.out.OrchestratorItems = t.refusals
}

func (t *turn) refuse(start engine.StartItem) {
	if answer, ok := RefuseStart(start, t.parent); ok && t.rules.AnswersRefusedStart {
		t.refusals = append(t.refusals, answer)
	}
}

// LinkOf returns the parent link in a message or an event, or nil if there is no parent. Old runtimes do not record the
// parent's execution. In that case, LinkOf takes it from told, the link supplied by the provider, provided that told
// refers to the same schedule. Failing that, it assumes the first execution.
func LinkOf(instance string, execution, event uint64, told *engine.ParentLink) *engine.ParentLink {
	if instance == "" {
		return nil
	}
	if execution == 0 && told != nil && told.Instance == instance && told.EventID == event {
		execution = told.ExecutionID
	}
	return &engine.ParentLink{Instance: instance, ExecutionID: max(execution, engine.InitialExecutionID), EventID: event}
}

// RefuseStart returns the failure to send to the parent of a start whose instance already exists. It returns false if
// no answer is needed. None is needed if the start has no parent, or if it is a duplicate: own, the link to the
// schedule that created the instance, is also the start's own link.
func RefuseStart(start engine.StartItem, own *engine.ParentLink) (engine.SubOrchFailedItem, bool) {
	link := LinkOf(start.ParentInstance, start.ParentExecutionID, start.ParentID, nil)
	if link == nil || own != nil && *own == *link {
		return engine.SubOrchFailedItem{}, false
	}
	return engine.SubOrchFailedItem{
		ParentInstance: link.Instance, ParentExecutionID: link.ExecutionID, ParentID: link.EventID,
		Details: orchestrationFailed("instance already exists: " + start.Instance),
	}, true
}
