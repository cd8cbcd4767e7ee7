package replay

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// fail ends the execution with an error.
func (t *turn) fail(r Result, details engine.ErrorDetails) {
	t.out.Details = details
	t.end(r, eventdata.OrchestrationFailed{Details: details}, details.Display())
}

// end ends the execution. It writes breadcrumbs for open waits, appends the terminal event, cancels running work, and
// creates the work items.
func (t *turn) end(r Result, terminal engine.EventData, output string) {
	t.out.Result = r
	carried, lost := []engine.CarriedEvent(nil), []engine.CarriedEvent(nil)
	if r == ResultContinueAsNew {
		carried, lost = t.carried()
	}
	if t.rules.EndRecordsWaits {
		t.endWaits()
	}
	t.add(0, terminal)
	if _, failed := terminal.(eventdata.OrchestrationFailed); failed && !t.rules.StampsFailure {
		e := &t.delta[len(t.delta)-1]
		e.InstanceID, e.ExecutionID = "", 0
	}
	t.endActivities(r)
	t.endChildren(r)

	status, toParent := engine.StatusFailed, engine.WorkItem(nil)
	switch r {
	case ResultCompleted:
		status = engine.StatusCompleted
	case ResultContinueAsNew:
		status = engine.StatusContinuedAsNew
	}
	if p := t.parent; p != nil && t.rules.TellsParent(r) {
		if t.rules.AnswersResult(r) {
			toParent = engine.SubOrchCompletedItem{ParentInstance: p.Instance, ParentExecutionID: p.ExecutionID, ParentID: p.EventID, Result: output}
		} else {
			toParent = engine.SubOrchFailedItem{ParentInstance: p.Instance, ParentExecutionID: p.ExecutionID, ParentID: p.EventID, Details: t.out.Details}
		}
	}
	t.out.Metadata.Status, t.out.Metadata.Output = status, t.arena.outputs.New()
	*t.out.Metadata.Output = output

	if t.rules.StartsDetached(r) {
		t.enqueue()
	}
	items := &t.out.OrchestratorItems
	switch r {
	case ResultContinueAsNew:
		*items = t.arena.items.Append(*items, t.continued(carried))
		t.out.NotCarried = lost
		t.enqueueCancels()
	case ResultCancelled:
		t.enqueueCancels()
		if toParent != nil {
			*items = t.arena.items.Append(*items, toParent)
		}
	default:
		if toParent != nil {
			*items = t.arena.items.Append(*items, toParent)
		}
		t.enqueueCancels()
	}
}

// endWaits writes a breadcrumb for each open wait.
func (t *turn) endWaits() {
	if t.has(scheduleWait) {
		for _, pos := range t.openWaits() {
			t.add(t.at(pos).EventID, eventdata.ExternalSubscribedCancelled{Reason: eventdata.ReasonTerminal})
		}
	}
	if t.has(scheduleDequeue) {
		for _, pos := range t.openDequeues() {
			t.add(t.at(pos).EventID, eventdata.QueueSubscriptionCancelled{Reason: eventdata.ReasonTerminal})
		}
	}
}

// continued returns the message that starts the next execution.
func (t *turn) continued(carried []engine.CarriedEvent) engine.WorkItem {
	item := engine.ContinueAsNewItem{
		Instance: t.in.Instance, Orchestration: t.info.Name, Input: t.continues.Input, Version: t.continues.Version,
		CarryForwardEvents: carried, InitialCustomStatus: t.rules.CarriedStatus(t.handedOn()),
	}
	if p := t.rules.CarriedParent(t.parent); p != nil {
		item.ParentInstance, item.ParentExecutionID, item.ParentID = p.Instance, p.ExecutionID, p.EventID
	}
	return item
}

// endActivities cancels the activities that are in flight.
func (t *turn) endActivities(r Result) {
	reason := eventdata.ReasonTerminalFailed
	switch r {
	case ResultCompleted:
		reason = eventdata.ReasonTerminalCompleted
	case ResultContinueAsNew:
		reason = eventdata.ReasonTerminalContinuedAsNew
	}
	for pos, n := 0, len(t.sched); pos < n; pos++ {
		if s := t.sched[pos]; s.kind == scheduleActivity && !s.closed && !s.withdrawn {
			id := t.at(pos).EventID
			t.add(id, eventdata.ActivityCancelRequested{Reason: reason})
			t.withdrawActivity(id)
		}
	}
}

// endChildren cancels running children that have not been sent a cancel request. If the code dropped a child's future
// by returning, the child is already in t.cancels.
func (t *turn) endChildren(r Result) {
	if !t.rules.CancelsChildren(r, t.returned) {
		return
	}
	reason := eventdata.ReasonParentDroppedFuture
	if r == ResultCancelled {
		reason = eventdata.ReasonParentCancelled
	}
	for pos := range t.sched {
		if s := &t.sched[pos]; s.kind == scheduleChild && !s.closed && !s.withdrawn {
			t.cancelChild(pos, t.at(pos).Data.(eventdata.SubOrchestrationScheduled), reason)
		}
	}
}

// enqueue creates the work items for this turn's schedules. If the execution has ended, it creates only the detached
// starts.
func (t *turn) enqueue() {
	goesOn := t.out.Result == ResultContinue
	items := &t.out.OrchestratorItems
	for _, p := range t.pending {
		e := t.at(p.pos)
		switch d := e.Data.(type) {
		case eventdata.OrchestrationChained:
			*items = t.arena.items.Append(*items, engine.StartItem{
				Instance: d.Instance, Orchestration: d.Name, Input: d.Input, Version: p.version,
				ExecutionID: engine.InitialExecutionID,
			})
		case eventdata.ActivityScheduled:
			if goesOn {
				t.out.WorkerItems = t.arena.items.Append(t.out.WorkerItems, engine.ActivityExecuteItem{
					Instance: t.in.Instance, ExecutionID: t.in.ExecutionID, ID: e.EventID, Name: d.Name, Input: d.Input,
					SessionID: d.SessionID, Tag: d.Tag,
				})
			}
		case eventdata.TimerCreated:
			if goesOn {
				*items = t.arena.items.Append(*items, engine.TimerFiredItem{
					Instance: t.in.Instance, ExecutionID: t.in.ExecutionID, ID: e.EventID, FireAtMs: d.FireAtMs,
				})
			}
		case eventdata.SubOrchestrationScheduled:
			if goesOn {
				own := t.rules.ChildsParent(engine.ParentLink{Instance: t.in.Instance, ExecutionID: t.in.ExecutionID, EventID: e.EventID})
				*items = t.arena.items.Append(*items, engine.StartItem{
					Instance: d.Child(t.in.Instance), Orchestration: d.Name, Input: d.Input, Version: p.version,
					ParentInstance: own.Instance, ParentExecutionID: own.ExecutionID, ParentID: own.EventID,
					ExecutionID: engine.InitialExecutionID,
				})
			}
		}
	}
	if goesOn {
		t.enqueueCancels()
	}
}
