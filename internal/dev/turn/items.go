package turn

import (
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// same checks that a list of items is the wanted one.
func (c *ackCheck) same(what string, want, got []engine.WorkItem) {
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got):
			c.say("%s %d is missing: expected %s %s", what, i+1, want[i].Kind(), shown(want[i]))
			return
		case i >= len(want):
			c.say("%s %d is %s %s: expected no further item", what, i+1, got[i].Kind(), shown(got[i]))
			return
		case !same(want[i], got[i]):
			c.say("%s %d is %s %s: expected %s %s", what, i+1, got[i].Kind(), shown(got[i]), want[i].Kind(), shown(want[i]))
			return
		}
	}
}

// checkItems checks that the items that a turn sends follow from its events (docs/contract/runtime.md#r7.10).
func (c *ackCheck) checkItems() {
	ack := &c.t.Ack
	work, messages := c.work[:0], c.messages[:0]
	cancelled := c.endsCancelled()
	for i := range c.delta {
		e := &c.delta[i]
		switch d := e.Data.(type) {
		case eventdata.ActivityScheduled:
			work = send(work, ack.WorkerItems, engine.ActivityExecuteItem{
				Instance: c.t.Instance, ExecutionID: c.t.Execution, ID: e.EventID, Name: d.Name, Input: d.Input, SessionID: d.SessionID, Tag: d.Tag,
			})
		case eventdata.TimerCreated:
			if c.terminal == nil {
				messages = send(messages, ack.OrchestratorItems, engine.TimerFiredItem{Instance: c.t.Instance, ExecutionID: c.t.Execution, ID: e.EventID, FireAtMs: d.FireAtMs})
			}
		case eventdata.SubOrchestrationScheduled:
			if c.terminal == nil {
				messages = send(messages, ack.OrchestratorItems, engine.StartItem{
					Instance: c.child(d), Orchestration: d.Name, Input: d.Input, Version: c.versionAt(len(messages)),
					ParentInstance: c.t.Instance, ParentID: e.EventID, ParentExecutionID: c.t.Execution, ExecutionID: engine.InitialExecutionID,
				})
			}
		case eventdata.OrchestrationChained:
			if !cancelled {
				messages = send(messages, ack.OrchestratorItems, engine.StartItem{
					Instance: d.Instance, Orchestration: d.Name, Input: d.Input, Version: c.versionAt(len(messages)), ExecutionID: engine.InitialExecutionID,
				})
			}
		}
	}
	c.work = work
	if c.terminal != nil {
		work = nil
	}
	switch c.terminal.(type) {
	case nil:
		messages = append(messages, c.cancels()...)
	case eventdata.OrchestrationContinuedAsNew:
		if next := c.next(len(messages)); next != nil {
			messages = append(messages, next)
		}
		messages = append(messages, c.cancels()...)
	default:
		if cancelled {
			messages = append(append(messages, c.cancels()...), c.answer()...)
		} else {
			messages = append(append(messages, c.answer()...), c.cancels()...)
		}
	}
	c.same("work", work, ack.WorkerItems)
	c.messages = append(messages, c.refused...)
	c.same("message", c.messages, ack.OrchestratorItems)
	c.checkWithdrawn()
}

// send appends an item that the turn should send. If the turn sends an equal item at this position, send appends that
// one instead, which saves memory.
func send[T interface {
	comparable
	engine.WorkItem
}](list, sent []engine.WorkItem, want T) []engine.WorkItem {
	if i := len(list); i < len(sent) {
		if got, ok := sent[i].(T); ok && got == want {
			return append(list, sent[i])
		}
	}
	return append(list, want)
}

// versionAt returns the version in the i-th message. The code chooses this version, so any is accepted.
func (c *ackCheck) versionAt(i int) string {
	if items := c.t.Ack.OrchestratorItems; i < len(items) {
		if s, ok := items[i].(engine.StartItem); ok {
			return s.Version
		}
	}
	return ""
}

// child returns a child's full id. If the id is automatic, or comes from the code but looks automatic, it gets the
// parent's id as a prefix.
func (c *ackCheck) child(d eventdata.SubOrchestrationScheduled) string {
	if strings.HasPrefix(d.Instance, "sub::") {
		return c.t.Instance + "::" + d.Instance
	}
	return d.Instance
}

// cancels returns the messages that cancel children. First come the children that the code has dropped, in the order of
// their breadcrumbs. At an end, the children that are still running follow. If a turn ends the execution, children
// scheduled in that turn are never started and need no message.
func (c *ackCheck) cancels() (items []engine.WorkItem) {
	cancel := func(s *schedule, reason string) {
		if s.old || c.terminal == nil {
			items = append(items, engine.CancelInstanceItem{Instance: c.child(s.event.Data.(eventdata.SubOrchestrationScheduled)), Reason: reason})
		}
	}
	for _, e := range c.delta {
		if _, ok := e.Data.(eventdata.SubOrchestrationCancelRequested); ok {
			cancel(c.schedule(e.SourceEventID), eventdata.ReasonParentDroppedFuture)
		}
	}
	if c.terminal == nil {
		return items
	}
	reason := eventdata.ReasonParentDroppedFuture
	if c.endsCancelled() {
		reason = eventdata.ReasonParentCancelled
	}
	for i := range c.schedules {
		if s := &c.schedules[i]; kindOf(s.event.Data) == "suborchestration" && s.closed == 0 && !s.withdrawn {
			cancel(s, reason)
		}
	}
	return items
}

// answer returns the messages to the parent at the end of an execution. There are none without a parent.
func (c *ackCheck) answer() []engine.WorkItem {
	p := c.parent
	if p == nil {
		return nil
	}
	switch d := c.terminal.(type) {
	case eventdata.OrchestrationCompleted:
		return []engine.WorkItem{engine.SubOrchCompletedItem{
			ParentInstance: p.Instance, ParentExecutionID: p.ExecutionID, ParentID: p.EventID, Result: d.Output,
		}}
	case eventdata.OrchestrationFailed:
		return []engine.WorkItem{failedChild(p, d.Details)}
	}
	return nil
}

// next returns the message that begins the next execution. Its version and its queue messages depend on the code; S17
// judges the latter.
func (c *ackCheck) next(at int) engine.WorkItem {
	items := c.t.Ack.OrchestratorItems
	if at >= len(items) || items[at].Kind() != engine.ItemContinueAsNew {
		c.say("message %d: expected the start of the next execution", at+1)
		return nil
	}
	got := items[at].(engine.ContinueAsNewItem)
	want := engine.ContinueAsNewItem{
		Instance: c.t.Instance, Input: c.terminal.(eventdata.OrchestrationContinuedAsNew).Input, Version: got.Version,
		CarryForwardEvents: got.CarryForwardEvents,
	}
	want.Orchestration, want.InitialCustomStatus = c.nameAndStatus()
	if p := c.parent; p != nil {
		want.ParentInstance, want.ParentExecutionID, want.ParentID = p.Instance, p.ExecutionID, p.EventID
	}
	return want
}

// checkWithdrawn checks that the turn tells the provider to remove exactly the activities that it records as cancelled.
func (c *ackCheck) checkWithdrawn() {
	var want []engine.ScheduledActivityIdentifier
	for _, e := range c.delta {
		if _, ok := e.Data.(eventdata.ActivityCancelRequested); ok {
			want = append(want, engine.ScheduledActivityIdentifier{Instance: c.t.Instance, ExecutionID: c.t.Execution, ActivityID: e.SourceEventID})
		}
	}
	got := c.t.Ack.CancelledActivities
	if len(want)+len(got) > 0 && !same(want, got) {
		c.say("the activities %+v are withdrawn: expected %+v, which the turn records as cancelled", got, want)
	}
}

// checkMetadata checks the metadata. A first turn names the instance, its parent and its pin; a turn that ends the
// execution has its status and output. Nothing else may be set.
func (c *ackCheck) checkMetadata() {
	var want engine.ExecutionMetadata
	if len(c.t.History) == 0 {
		d := c.delta[0].Data.(eventdata.OrchestrationStarted)
		want.OrchestrationName, want.OrchestrationVersion = d.Name, d.Version
		want.ParentInstanceID, want.ParentExecutionID, want.ParentEventID = d.ParentInstance, d.ParentExecutionID, d.ParentID
		if want.PinnedVersion = c.t.Ack.Metadata.PinnedVersion; c.t.Build != (engine.Version{}) {
			want.PinnedVersion = &c.t.Build
		}
	}
	output := ""
	switch d := c.terminal.(type) {
	case eventdata.OrchestrationCompleted:
		want.Status, output = engine.StatusCompleted, d.Output
	case eventdata.OrchestrationFailed:
		want.Status, output = engine.StatusFailed, Text(d.Details)
	case eventdata.OrchestrationContinuedAsNew:
		want.Status, output = engine.StatusContinuedAsNew, d.Input
	}
	if want.Status != "" {
		want.Output = &output
	}
	if !sameMetadata(&want, &c.t.Ack.Metadata) {
		c.say("the metadata is %s: expected %s", metadata(c.t.Ack.Metadata), metadata(want))
	}
}

func sameMetadata(a, b *engine.ExecutionMetadata) bool {
	x, y := *a, *b
	x.Output, x.PinnedVersion, y.Output, y.PinnedVersion = nil, nil, nil, nil
	return x == y && sameText(a.Output, b.Output) && sameVersion(a.PinnedVersion, b.PinnedVersion)
}

// metadata formats metadata without printing any addresses.
func metadata(m engine.ExecutionMetadata) string {
	text := "{" + m.OrchestrationName + "@" + m.OrchestrationVersion + " " + string(m.Status)
	if m.Output != nil {
		text += " " + shown(*m.Output)
	}
	if m.PinnedVersion != nil {
		text += " pin " + m.PinnedVersion.String()
	}
	if m.ParentInstanceID != "" {
		text += " child of " + m.ParentInstanceID
	}
	return text + "}"
}

func sameVersion(a, b *engine.Version) bool { return a == b || a != nil && b != nil && *a == *b }

func (c *ackCheck) endsCancelled() bool {
	failed, _ := c.terminal.(eventdata.OrchestrationFailed)
	return failed.Details.Application != nil && failed.Details.Application.Kind == eventdata.AppCancelled
}

// nameAndStatus returns the orchestration of the execution, and its custom status after the turn.
func (c *ackCheck) nameAndStatus() (name string, status *string) {
	c.events(func(e *engine.Event) {
		switch d := e.Data.(type) {
		case eventdata.OrchestrationStarted:
			name, status = d.Name, d.InitialCustomStatus
		case eventdata.CustomStatusUpdated:
			status = d.Status
		}
	})
	return name, status
}
