package safety

import (
	"fmt"
	"slices"
	"sort"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
)

// turnChecker judges what each node commits, given what it was handed: completions (S13), queue messages and what a
// continue-as-new hands on (S17), sent activities (S21), and starts and withdrawals (S11). It takes the delivery as
// given, so it judges a damaged history or a forged message as the node saw it. Clients and probes are not judged, since
// they may ack whatever they like.
type turnChecker struct {
	check.Base
	own    bool                                 // whether durosim's own nodes are judged
	handed map[string]*engine.OrchestrationItem // keyed by lock token
	turn   turn                                 // the turn being judged; reused
}

// OwnTurns is wanted of runs in which the turns of durosim's own nodes are judged. No handler and no provider can be
// guilty of a wrong turn: it follows from what the node was handed, and from the calls of the code.
const OwnTurns = "own turns"

func newTurnChecker(m *check.Run) check.Checker {
	k := &turnChecker{Base: check.Base{Run: m}, own: m.Wants(OwnTurns), handed: map[string]*engine.OrchestrationItem{}}
	if k.own || slices.ContainsFunc(m.World.Builds(), isReleased) {
		k.OnEnd.OK = check.SetOf(observe.CallFetchOrchestrationItem, observe.CallAbandonOrchestrationItem, observe.CallAckOrchestrationItem)
	}
	return k
}

func isReleased(b *engine.Build) bool {
	// On released nodes, S13, S17 and S21: they are judged in every run. Of durosim's own nodes no code of a user can
	// break them.
	return b.Release != ""
}

func (k *turnChecker) Ended(c *model.Call, o *observe.Observation) {
	if c.Caller.Node == 0 {
		return
	}
	switch c.Kind {
	case observe.CallFetchOrchestrationItem:
		if f := o.Fetched; f != nil {
			k.handed[f.LockToken] = &f.Item
		}
	case observe.CallAbandonOrchestrationItem:
		delete(k.handed, c.Request.Token)
	case observe.CallAckOrchestrationItem:
		ack := c.Request.Ack
		if ack == nil {
			return
		}
		item, inc := k.handed[ack.LockToken], k.Run.Model.Incarnation(c.Caller)
		if item != nil && inc != nil && inc.Build != nil && (k.own || isReleased(inc.Build)) {
			k.judge(c, o, item, inc.Build)
		}
		delete(k.handed, ack.LockToken)
	}
}

func (k *turnChecker) judge(c *model.Call, o *observe.Observation, item *engine.OrchestrationItem, build *engine.Build) {
	ack := c.Request.Ack
	if item.HistoryError != "" || len(item.Messages) == 0 {
		return // S18 judges history errors, and no provider delivers an empty batch
	}
	t := &k.turn
	t.begin(item, ack, build.Limits.CarriedEvents)
	if t.check(); t.property == "" {
		return
	}
	delivery := ""
	if in := model.HeldBy(c); in != nil && in.BatchToken == ack.LockToken {
		delivery = "; the delivery was: " + k.Run.BatchText(in.Batch)
	}
	k.Run.Safety(t.property, o.Caller.Node, o.Instance, "an ack by %s with token %s of execution %d of %s, after %d events, for %d messages: %s%s",
		k.Run.Who(o.Caller), ack.LockToken, ack.ExecutionID, item.Instance, len(item.History), len(item.Messages), t.wrong, delivery)
}

// turn is a committed turn, with what its node was handed.
type turn struct {
	instance  string
	execution uint64
	history   []engine.Event
	batch     []engine.WorkItem
	ack       *engine.OrchestrationAck
	delta     []engine.Event
	terminal  engine.EventData // the delta's terminal event, or nil if the execution continues
	carries   int              // how many queue messages a continue-as-new may carry over
	seen      int              // how many events of the delta are judged
	// property is violated, as wrong says. It is empty as long as nothing is wrong.
	property, wrong string
}

func (t *turn) begin(item *engine.OrchestrationItem, ack *engine.OrchestrationAck, carries int) {
	*t = turn{
		instance: item.Instance, execution: ack.ExecutionID, history: item.History, batch: item.Messages, ack: ack,
		delta: ack.HistoryDelta, carries: carries,
	}
	if carries == 0 {
		t.carries = engine.DefaultLimits().CarriedEvents
	}
	if ack.ExecutionID != item.ExecutionID { // a continue-as-new start in the batch begins the next execution
		t.history = nil
	}
	if i := slices.IndexFunc(t.delta, func(e engine.Event) bool { return endsExecution(e.Data) }); i >= 0 {
		t.terminal = t.delta[i].Data
	}
}

func (t *turn) breaks(property, format string, args ...any) {
	if t.property == "" {
		t.property, t.wrong = property, fmt.Sprintf(format, args...)
	}
}

// check judges the turn, up to the first thing that is wrong.
func (t *turn) check() {
	for i := range t.delta {
		if e := &t.delta[i]; isCompletion(e.Data) {
			t.checkCompletion(e)
		}
		t.seen++
	}
	if !t.isPoison() {
		t.checkQueue()
	}
	t.checkWork()
	t.checkDeeds()
	if _, continues := t.terminal.(eventdata.OrchestrationContinuedAsNew); continues {
		for _, w := range t.ack.OrchestratorItems {
			if next, is := w.(engine.ContinueAsNewItem); is {
				t.checkCrossing(&next)
			}
		}
	}
}

func isCompletion(d engine.EventData) bool {
	switch d.(type) {
	case eventdata.ActivityCompleted, eventdata.ActivityFailed, eventdata.TimerFired, eventdata.SubOrchestrationCompleted, eventdata.SubOrchestrationFailed:
		return true
	}
	return false
}

// schedule returns the event with the given id if it schedules something, or nil. It relies on ids being in ascending
// order.
func (t *turn) schedule(id uint64) *engine.Event {
	for _, events := range [...][]engine.Event{t.history, t.delta[:t.seen]} {
		i := sort.Search(len(events), func(i int) bool { return events[i].EventID >= id })
		if i < len(events) && events[i].EventID == id && scheduleKind(events[i].Data) != "" {
			return &events[i]
		}
	}
	return nil
}

// completedBy returns the last event that completes a schedule, or 0. It looks at every event, since few turns have more
// than a few completions.
func (t *turn) completedBy(id uint64) (by uint64) {
	for _, events := range [...][]engine.Event{t.history, t.delta[:t.seen]} {
		for i := range events {
			if events[i].SourceEventID == id && isCompletion(events[i].Data) {
				by = events[i].EventID
			}
		}
	}
	return by
}

// isPoison reports whether the turn ends the execution as poison. Such a turn consumes no batch.
func (t *turn) isPoison() bool {
	failed, ok := t.terminal.(eventdata.OrchestrationFailed)
	if !ok || failed.Details.Poison == nil {
		return false
	}
	m := failed.Details.Poison.MessageType
	return m.Instance == t.instance && (m.Kind == eventdata.PoisonFailedDeserialization || m.Kind == eventdata.PoisonOrchestration)
}

// checkCompletion checks that a completion has an open schedule and a message of the batch that names it.
func (t *turn) checkCompletion(e *engine.Event) {
	kind := "suborchestration"
	switch e.Data.(type) {
	case eventdata.ActivityCompleted, eventdata.ActivityFailed:
		kind = "activity"
	case eventdata.TimerFired:
		kind = "timer"
	}
	switch s := t.schedule(e.SourceEventID); {
	case s == nil:
		t.breaks("S13", "%s completes event %d, but there is no such schedule: expected one in the same execution", eventText(e), e.SourceEventID)
	case scheduleKind(s.Data) != kind:
		t.breaks("S13", "%s completes event %d (%s): expected a schedule of the kind %s", eventText(e), e.SourceEventID, s.Kind(), kind)
	case t.completedBy(s.EventID) != 0:
		t.breaks("S13", "%s completes event %d, as event %d did before: expected one completion", eventText(e), e.SourceEventID, t.completedBy(s.EventID))
	case !slices.ContainsFunc(t.batch, func(m engine.WorkItem) bool { return t.completes(m, e) }):
		t.breaks("S13", "%s completes event %d, but no message of the delivery does", eventText(e), e.SourceEventID)
	}
}

// scheduleKind returns what an event schedules: an activity, timer, suborchestration or wait, or "" if nothing.
func scheduleKind(d engine.EventData) string {
	switch d.(type) {
	case eventdata.ActivityScheduled:
		return "activity"
	case eventdata.TimerCreated:
		return "timer"
	case eventdata.SubOrchestrationScheduled:
		return "suborchestration"
	case eventdata.ExternalSubscribed, eventdata.ExternalSubscribed2, eventdata.QueueSubscribed:
		return "wait"
	}
	return ""
}

// completes reports whether a message completes the schedule that a completion of this execution names, in the same way.
func (t *turn) completes(m engine.WorkItem, e *engine.Event) bool {
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
	return kind == e.Kind() && execution == t.execution && id == e.SourceEventID
}

// checkQueue checks that queue messages arrive in order: first those that the execution's start carries over, then those
// of the batch.
func (t *turn) checkQueue() {
	var want []engine.CarriedEvent
	if len(t.delta) > 0 {
		if started, is := t.delta[0].Data.(eventdata.OrchestrationStarted); is {
			want = started.CarryForwardEvents
		}
	}
	carried := len(want)
	want = slices.Clip(want)
	for _, m := range t.batch {
		if m, is := m.(engine.QueueMessageItem); is {
			want = append(want, engine.CarriedEvent{Name: m.Name, Data: m.Data})
		}
	}
	for i := range t.delta {
		d, is := t.delta[i].Data.(eventdata.QueueEventDelivered)
		if !is {
			continue
		}
		for carried == 0 && len(want) > 0 && want[0] != engine.CarriedEvent(d) {
			want = want[1:]
		}
		if len(want) == 0 || want[0] != engine.CarriedEvent(d) {
			t.breaks("S17", "%s is the arrival of %q of queue %s: expected the messages that are carried over, then those of the batch, in order", eventText(&t.delta[i]), d.Data, d.Name)
			return
		}
		want, carried = want[1:], max(0, carried-1)
	}
	if carried > 0 {
		t.breaks("S17", "the execution begins without %q of queue %s: expected it, since it is carried over", want[0].Data, want[0].Name)
	}
}

// checkWork checks that each activity that a turn sends has a schedule in this execution.
func (t *turn) checkWork() {
	for _, w := range t.ack.WorkerItems {
		a, is := w.(engine.ActivityExecuteItem)
		if s := t.schedule(a.ID); is && (a.Instance != t.instance || a.ExecutionID != t.execution || s == nil || scheduleKind(s.Data) != "activity") {
			t.breaks("S21", "activity %s is sent as event %d of execution %d of %s, which schedules no activity: expected a committed schedule", a.Name, a.ID, a.ExecutionID, a.Instance)
			return
		}
	}
}

// checkDeeds checks that a turn starts and withdraws what it records. A turn that a cancel ends starts nothing.
func (t *turn) checkDeeds() {
	ack := t.ack
	failed, _ := t.terminal.(eventdata.OrchestrationFailed)
	cancelled := failed.Details.Application != nil && failed.Details.Application.Kind == eventdata.AppCancelled
	for i := range t.delta {
		e := &t.delta[i]
		switch d := e.Data.(type) {
		case eventdata.OrchestrationChained:
			if !cancelled && !slices.ContainsFunc(ack.OrchestratorItems, func(w engine.WorkItem) bool {
				s, is := w.(engine.StartItem)
				return is && s.Instance == d.Instance
			}) {
				t.breaks("S11", "it records %s, but sends no start of %s: expected a turn to do what it records", eventText(e), d.Instance)
			}
		case eventdata.ActivityCancelRequested:
			if !slices.ContainsFunc(ack.CancelledActivities, func(a engine.ScheduledActivityIdentifier) bool { return a.ActivityID == e.SourceEventID }) {
				t.breaks("S11", "it records %s, but does not withdraw activity %d: expected a turn to do what it records", eventText(e), e.SourceEventID)
			}
		}
	}
}

// status returns the custom status after the turn.
func (t *turn) status() (status *string) {
	t.events(func(e *engine.Event) {
		switch d := e.Data.(type) {
		case eventdata.OrchestrationStarted:
			status = d.InitialCustomStatus
		case eventdata.CustomStatusUpdated:
			status = d.Status
		}
	})
	return status
}

// events calls f for each event up to those that end the execution.
func (t *turn) events(f func(e *engine.Event)) {
	for i := range t.history {
		f(&t.history[i])
	}
	for i := range t.delta {
		if e := &t.delta[i]; endsExecution(e.Data) || endsWait(e.Data) {
			return
		} else {
			f(e)
		}
	}
}

// checkCrossing checks what a continue-as-new carries over: the custom status, and of the queue messages those of this
// execution that no dequeue has read, in the order of their arrival. Of each name, all must be carried over, up to the
// limit. The limit does not apply to what the previous execution carried over.
func (t *turn) checkCrossing(next *engine.ContinueAsNewItem) {
	if got, want := text(next.InitialCustomStatus), text(t.status()); got != want {
		t.breaks("S17", "the next execution begins with the custom status %s: expected %s", got, want)
	}
	var arrived, handed []engine.CarriedEvent
	got := next.CarryForwardEvents
	asked, cut := map[string]int{}, len(got) >= t.carries
	t.events(func(e *engine.Event) {
		switch d := e.Data.(type) {
		case eventdata.OrchestrationStarted:
			handed = d.CarryForwardEvents
		case eventdata.QueueEventDelivered:
			arrived = append(arrived, engine.CarriedEvent(d))
		case eventdata.QueueSubscribed:
			asked[d.Name]++
		case eventdata.QueueSubscriptionCancelled:
			if s := t.schedule(e.SourceEventID); s != nil {
				if q, ok := s.Data.(eventdata.QueueSubscribed); ok {
					asked[q.Name]-- // this dequeue returned no message
				}
			}
		}
	})
	n := 0
	for i, m := range arrived {
		switch {
		case n < len(got) && got[n] == m:
			if n++; n > t.carries && i >= len(handed) {
				t.breaks("S17", "%d queue messages are carried over: expected at most %d", len(got), t.carries)
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
				t.breaks("S17", "the queue message %q of %s "+how, shown(m.Data), m.Name)
			}
			return
		}
	}
	if n < len(got) {
		t.breaks("S17", "the queue message %q of %s is carried over out of order, twice, or without having arrived: expected the messages of this execution, in order", shown(got[n].Data), got[n].Name)
	}
}

// text formats a text that may be missing, for messages.
func text(s *string) string {
	if s == nil {
		return "none"
	}
	return shown(*s)
}

func shown(s string) string {
	if text := pretty.Value(s); len(text) <= 300 {
		return text
	} else {
		return text[:300] + "…"
	}
}

// eventText returns how messages refer to an event of the delta.
func eventText(e *engine.Event) string { return fmt.Sprintf("event %d (%s)", e.EventID, e.Kind()) }

// endsWait reports whether an event withdraws a wait that was still open at the end.
func endsWait(d engine.EventData) bool {
	switch d := d.(type) {
	case eventdata.ExternalSubscribedCancelled:
		return d.Reason == eventdata.ReasonTerminal
	case eventdata.QueueSubscriptionCancelled:
		return d.Reason == eventdata.ReasonTerminal
	}
	return false
}
