package turn

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// checkClauses judges the clauses of a turn whose other events and items need not be the specified ones.
func (c *ackCheck) checkClauses() {
	for c.at < len(c.delta) && len(c.wrong) == 0 {
		e := &c.delta[c.at]
		c.at++
		c.breaksClause(e)
		c.enter(e, false)
	}
	if len(c.wrong) == 0 && !c.isPoison() {
		c.checkQueue()
	}
	if len(c.wrong) == 0 {
		c.checkWork()
		c.checkDeeds()
	}
	_, continues := c.terminal.(eventdata.OrchestrationContinuedAsNew)
	for _, w := range c.t.Ack.OrchestratorItems {
		if next, is := w.(engine.ContinueAsNewItem); is && continues && len(c.wrong) == 0 {
			_, status := c.nameAndStatus()
			c.checkCrossing(&next, status)
		}
	}
}

// breaksClause reports whether an arrival breaks Completions or Queue by itself. If so, it records that.
func (c *ackCheck) breaksClause(e *engine.Event) bool {
	had := len(c.wrong)
	switch e.Data.(type) {
	case eventdata.QueueEventDelivered:
		c.checkQueue()
	case eventdata.ActivityCompleted, eventdata.ActivityFailed, eventdata.TimerFired, eventdata.SubOrchestrationCompleted, eventdata.SubOrchestrationFailed:
		c.checkCompletion(e)
	}
	return len(c.wrong) > had
}

// checkCompletion checks that a completion has an open schedule and a message of the batch that names it.
func (c *ackCheck) checkCompletion(e *engine.Event) {
	kind := "suborchestration"
	switch e.Data.(type) {
	case eventdata.ActivityCompleted, eventdata.ActivityFailed:
		kind = "activity"
	case eventdata.TimerFired:
		kind = "timer"
	}
	s := c.schedule(e.SourceEventID)
	switch c.refusal(e.SourceEventID, kind) {
	case noSchedule:
		c.breaks(Completions, "%s completes event %d, but there is no such schedule: expected one in the same execution", event(e), e.SourceEventID)
	case kindMismatch:
		c.breaks(Completions, "%s completes event %d (%s): expected a schedule of the kind %s", event(e), e.SourceEventID, s.event.Kind(), kind)
	case duplicate:
		c.breaks(Completions, "%s completes event %d, as event %d did before: expected one completion", event(e), e.SourceEventID, s.closed)
	default:
		if !slices.ContainsFunc(c.t.Batch, func(m engine.WorkItem) bool { return c.completes(m, e) }) {
			c.breaks(Completions, "%s completes event %d, but no message of the delivery does", event(e), e.SourceEventID)
		}
	}
}

// completes reports whether a message completes the schedule that a completion of this execution names, in the same way.
func (c *ackCheck) completes(m engine.WorkItem, e *engine.Event) bool {
	kind, execution, id := eventdata.Kind(""), uint64(0), uint64(0)
	switch m := m.(type) {
	case engine.ActivityCompletedItem:
		kind, execution, id = eventdata.KindActivityCompleted, m.ExecutionID, m.ID
	case engine.ActivityFailedItem:
		kind, execution, id = eventdata.KindActivityFailed, m.ExecutionID, m.ID
	case engine.TimerFiredItem:
		kind, execution, id = eventdata.KindTimerFired, m.ExecutionID, m.ID
	case engine.SubOrchCompletedItem:
		kind, execution, id = eventdata.KindSubOrchestrationCompleted, m.ParentExecutionID, m.ParentID
	case engine.SubOrchFailedItem:
		kind, execution, id = eventdata.KindSubOrchestrationFailed, m.ParentExecutionID, m.ParentID
	}
	return kind == e.Kind() && execution == c.t.Execution && id == e.SourceEventID
}

// checkQueue checks that queue messages arrive in order: first those that the execution's start carries over, then those
// of the batch.
func (c *ackCheck) checkQueue() {
	var want []engine.CarriedEvent
	if len(c.delta) > 0 {
		if started, is := c.delta[0].Data.(eventdata.OrchestrationStarted); is {
			want = started.CarryForwardEvents
		}
	}
	carried := len(want)
	want = slices.Clip(want)
	for _, m := range c.t.Batch {
		if m, is := m.(engine.QueueMessageItem); is {
			want = append(want, engine.CarriedEvent{Name: m.Name, Data: m.Data})
		}
	}
	for i := range c.delta {
		d, is := c.delta[i].Data.(eventdata.QueueEventDelivered)
		if !is {
			continue
		}
		for carried == 0 && len(want) > 0 && want[0] != engine.CarriedEvent(d) {
			want = want[1:]
		}
		if len(want) == 0 || want[0] != engine.CarriedEvent(d) {
			c.breaks(Queue, "%s is the arrival of %q of queue %s: expected the messages that are carried over, then those of the batch, in order", event(&c.delta[i]), d.Data, d.Name)
			return
		}
		want, carried = want[1:], max(0, carried-1)
	}
	if carried > 0 {
		c.breaks(Queue, "the execution begins without %q of queue %s: expected it, since it is carried over", want[0].Data, want[0].Name)
	}
}

// checkWork checks that each activity that a turn sends has a schedule in this execution.
func (c *ackCheck) checkWork() {
	for _, w := range c.t.Ack.WorkerItems {
		a, is := w.(engine.ActivityExecuteItem)
		if s := c.schedule(a.ID); is && (a.Instance != c.t.Instance || a.ExecutionID != c.t.Execution || s == nil || kindOf(s.event.Data) != "activity") {
			c.breaks(Work, "activity %s is sent as event %d of execution %d of %s, which schedules no activity: expected a committed schedule", a.Name, a.ID, a.ExecutionID, a.Instance)
			return
		}
	}
}

// checkDeeds checks that a turn starts and withdraws what it records. A turn that a cancel ends starts nothing.
func (c *ackCheck) checkDeeds() {
	ack := &c.t.Ack
	for i := range c.delta {
		e := &c.delta[i]
		switch d := e.Data.(type) {
		case eventdata.OrchestrationChained:
			if !c.endsCancelled() && !slices.ContainsFunc(ack.OrchestratorItems, func(w engine.WorkItem) bool {
				s, is := w.(engine.StartItem)
				return is && s.Instance == d.Instance
			}) {
				c.breaks(Deeds, "it records %s, but sends no start of %s: expected a turn to do what it records", event(e), d.Instance)
			}
		case eventdata.ActivityCancelRequested:
			if !slices.ContainsFunc(ack.CancelledActivities, func(a engine.ScheduledActivityIdentifier) bool { return a.ActivityID == e.SourceEventID }) {
				c.breaks(Deeds, "it records %s, but does not withdraw activity %d: expected a turn to do what it records", event(e), e.SourceEventID)
			}
		}
	}
}

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

// checkCrossing checks what a continue-as-new carries over: the custom status, and of the queue messages those of this
// execution that no dequeue has read, in the order of their arrival. Of each name, all must be carried over, up to the
// limit. The limit does not apply to what the previous execution carried over.
func (c *ackCheck) checkCrossing(next *engine.ContinueAsNewItem, status *string) {
	if !samePointed(next.InitialCustomStatus, status) {
		c.breaks(Queue, "the next execution begins with the custom status %s: expected %s", text(next.InitialCustomStatus), text(status))
	}
	var arrived, handed []engine.CarriedEvent
	got := next.CarryForwardEvents
	asked, cut := map[string]int{}, len(got) >= c.most.CarriedEvents
	c.events(func(e *engine.Event) {
		switch d := e.Data.(type) {
		case eventdata.OrchestrationStarted:
			handed = d.CarryForwardEvents
		case eventdata.QueueEventDelivered:
			arrived = append(arrived, engine.CarriedEvent(d))
		case eventdata.QueueSubscribed:
			asked[d.Name]++
		case eventdata.QueueSubscriptionCancelled:
			if s := c.schedule(e.SourceEventID); s != nil {
				if q, ok := s.event.Data.(eventdata.QueueSubscribed); ok {
					asked[q.Name]-- // this dequeue returned no message
				}
			}
		}
	})
	n := 0
	for i, m := range arrived {
		switch {
		case n < len(got) && got[n] == m:
			if n++; n > c.most.CarriedEvents && i >= len(handed) {
				c.breaks(Queue, "%d queue messages are carried over: expected at most %d", len(got), c.most.CarriedEvents)
				return
			}
		case asked[m.Name] > 0:
			asked[m.Name]--
		default:
			if !cut || n < len(got) || i < len(handed) {
				how := "is not carried over: expected it to be, since no dequeue has read it"
				if slices.Contains(got[min(n, len(got)):], m) {
					how = "is carried over behind later ones: expected unread messages in the order of their arrival"
				}
				c.breaks(Queue, "the queue message %q of %s "+how, shown(m.Data), m.Name)
			}
			return
		}
	}
	if n < len(got) {
		c.breaks(Queue, "the queue message %q of %s is carried over out of order, twice, or without having arrived: expected the messages of this execution, in order", shown(got[n].Data), got[n].Name)
	}
}

func samePointed[E comparable](a, b *E) bool { return a == b || a != nil && b != nil && *a == *b }

// text formats a text that may be missing, for messages.
func text(s *string) string {
	if s == nil {
		return "none"
	}
	return shown(*s)
}
