package turn

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/show"
)

// Turn is a committed turn, with the input of its node.
type Turn struct {
	Instance  string
	Execution uint64
	// Build is the version of the node's build. The zero value is not compared.
	Build engine.Version
	// History is the stored history of this execution, empty on its first turn. Batch is the delivered messages, in
	// order.
	History []engine.Event
	Batch   []engine.WorkItem
	// Previous is the first event of the previous execution, on the first turn after a continue-as-new; it may be
	// missing.
	Previous *engine.Event
	// Parent is the link that the provider reports, nil if none. Status is the execution's, empty if not reported.
	Parent *engine.ParentLink
	Status engine.Status
	// Keys is the key-value state at the start of the execution.
	Keys []engine.KVEntry
	// Semantics are those of the build that began the execution, Limits those of the node's build; a zero limit means
	// the one in engine.DefaultLimits.
	Semantics engine.Semantics
	Limits    engine.Limits
	// Unclaimed lists the schedules of the history, if known, that the code had not requested when it ended, because the
	// code has changed since. The code can neither have awaited nor dropped them.
	Unclaimed []uint64
	// OwnChildIDs is the field of the node's build (engine.Build).
	OwnChildIDs bool
	Ack         engine.OrchestrationAck
}

// Check describes what is wrong with a turn, in the order of the ack; it returns nil if the turn is allowed.
func Check(t Turn) []string { return new(Checker).Check(&t) }

// Checker checks one turn after another, and reuses its memory. The zero value is ready to use.
type Checker struct{ check checker }

// Check is the function Check with reused memory. The Checker does not use the turn after the call.
func (k *Checker) Check(t *Turn) []string {
	c := &k.check
	c.begin(t)
	if c.nothingToDo() {
		c.checkDropped()
		return c.wrong
	}
	if c.isPoison() {
		c.checkPoison()
		return c.wrong
	}
	c.checkEnvelopes()
	c.checkArrivals()
	if len(c.wrong) == 0 {
		c.checkCode()
	}
	if len(c.wrong) == 0 {
		c.checkEnd()
	}
	if len(c.wrong) == 0 {
		c.checkItems()
		c.checkMetadata()
	}
	return c.wrong
}

// CheckTurn judges the events of a turn alone, for histories that were recorded without the rest of the ack. The error
// describes what is wrong, one fault per line.
func CheckTurn(history []engine.Event, batch []engine.WorkItem, delta []engine.Event) error {
	if len(history)+len(delta) == 0 {
		return nil
	}
	first := append(history[:len(history):len(history)], delta...)[0]
	c := new(checker)
	c.begin(&Turn{
		Instance: first.InstanceID, Execution: first.ExecutionID, History: history, Batch: batch,
		Ack: engine.OrchestrationAck{ExecutionID: first.ExecutionID, HistoryDelta: delta},
	})
	switch {
	case c.nothingToDo():
		if len(delta) > 0 {
			c.say("the execution has ended, or cannot begin: expected no event, got %d", len(delta))
		}
	default:
		c.checkEnvelopes()
		c.checkArrivals()
		if len(c.wrong) == 0 {
			c.checkCode()
		}
		if len(c.wrong) == 0 {
			c.checkEnd()
		}
	}
	if len(c.wrong) == 0 {
		return nil
	}
	return errors.New(strings.Join(c.wrong, "\n"))
}

// checker is the state of one check. It reads the delta from front to back.
type checker struct {
	t         *Turn
	delta     []engine.Event
	most      engine.Limits
	at        int // the number of events of the delta that have been read
	schedules []schedule
	cancelled *string              // the reason of the first cancel request
	abort     *engine.ErrorDetails // why the turn must fail before its code runs
	terminal  engine.EventData     // of the delta, nil if the execution continues
	parent    *engine.ParentLink
	start     int // index of the message that begins the execution, -1 if none does
	refused   []engine.WorkItem
	wrong     []string
	// Memory for the items that a turn should send, and the text of the last checked build.
	work, messages []engine.WorkItem
	build          engine.Version
	buildText      string
}

// schedule is a schedule event of the history or the delta.
type schedule struct {
	event     *engine.Event
	closed    bool // a completion is recorded
	withdrawn bool // a breadcrumb is recorded
	noted     bool // this turn recorded the breadcrumb of a dropped future
	old       bool // it is in the history
}

// begin prepares the checker for a turn.
func (c *checker) begin(t *Turn) {
	*c = checker{
		t: t, delta: t.Ack.HistoryDelta, start: -1, most: engine.DefaultLimits(), schedules: c.schedules[:0],
		work: c.work, messages: c.messages, build: c.build, buildText: c.buildText,
	}
	if c.buildText == "" || c.build != t.Build {
		c.build, c.buildText = t.Build, t.Build.String()
	}
	if n := t.Limits.CarriedEvents; n > 0 {
		c.most.CarriedEvents = n
	}
	if n := t.Limits.Keys; n > 0 {
		c.most.Keys = n
	}
	if n := t.Limits.ValueBytes; n > 0 {
		c.most.ValueBytes = n
	}
	for i := range t.History {
		c.enter(&t.History[i], true)
	}
	for i := range c.delta {
		if d := c.delta[i].Data; isTerminal(d) && c.terminal == nil {
			c.terminal = d
		}
	}
	if len(t.History) == 0 {
		c.start = c.startMessage()
	}
	c.parent = c.parentLink()
}

// enter adds an event to the state.
func (c *checker) enter(e *engine.Event, old bool) {
	switch d := e.Data.(type) {
	case eventdata.ActivityScheduled, eventdata.TimerCreated, eventdata.SubOrchestrationScheduled, eventdata.ExternalSubscribed,
		eventdata.ExternalSubscribed2, eventdata.QueueSubscribed:
		c.schedules = append(c.schedules, schedule{event: e, old: old})
	case eventdata.ActivityCompleted, eventdata.ActivityFailed, eventdata.TimerFired, eventdata.SubOrchestrationCompleted, eventdata.SubOrchestrationFailed:
		if s := c.schedule(e.SourceEventID); s != nil {
			s.closed = true
		}
	case eventdata.ActivityCancelRequested, eventdata.SubOrchestrationCancelRequested, eventdata.ExternalSubscribedCancelled, eventdata.QueueSubscriptionCancelled:
		if s := c.schedule(e.SourceEventID); s != nil {
			s.withdrawn = true
		}
	case eventdata.OrchestrationCancelRequested:
		if c.cancelled == nil {
			c.cancelled = &d.Reason
		}
	}
}

// schedule returns the schedule with an id, nil if there is none. Ids ascend.
func (c *checker) schedule(id uint64) *schedule {
	low, high := 0, len(c.schedules) // by hand: a comparison by a function value costs four times as much
	for low < high {
		if mid := (low + high) / 2; c.schedules[mid].event.EventID < id {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == len(c.schedules) || c.schedules[low].event.EventID != id {
		return nil
	}
	return &c.schedules[low]
}

func isTerminal(d engine.EventData) bool {
	switch d.(type) {
	case eventdata.OrchestrationCompleted, eventdata.OrchestrationFailed, eventdata.OrchestrationContinuedAsNew:
		return true
	}
	return false
}

// say reports what is wrong.
func (c *checker) say(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// event names an event of the delta in messages.
func event(e *engine.Event) string { return fmt.Sprintf("event %d (%s)", e.EventID, e.Kind()) }

// shown formats a value for messages.
func shown(v any) string {
	text := show.Value(v)
	switch v := v.(type) {
	case eventdata.OrchestrationFailed:
		text = fmt.Sprintf("%q", v.Details.Display())
	case engine.SubOrchFailedItem:
		text = fmt.Sprintf("to event %d of %s/%d: %q", v.ParentID, v.ParentInstance, v.ParentExecutionID, v.Details.Display())
	}
	if len(text) > 300 {
		text = text[:300] + "…"
	}
	return text
}

// same reports whether two values are equal, following pointers.
func same(a, b any) bool {
	if a, ok := a.(eventdata.OrchestrationStarted); ok {
		b, ok := b.(engine.EventData)
		return ok && sameStart(b, &a)
	}
	x, y := reflect.TypeOf(a), reflect.TypeOf(b)
	return x == y && x != nil && x.Comparable() && a == b || reflect.DeepEqual(a, b)
}

// nothingToDo reports whether no turn is due: the execution has ended, or no message begins it.
func (c *checker) nothingToDo() bool {
	for i := range c.t.History {
		if isTerminal(c.t.History[i].Data) {
			return true
		}
	}
	if len(c.t.History) == 0 && c.start < 0 {
		return true
	}
	// If the provider reports an end that the history does not show, the provider decides.
	return len(c.delta) == 0 && (c.t.Status == engine.StatusCompleted || c.t.Status == engine.StatusFailed)
}

// checkDropped checks that the turn only acknowledges the batch and answers refused starts.
func (c *checker) checkDropped() {
	if len(c.t.Batch) > 0 && c.undecodable() {
		return
	}
	for _, m := range c.t.Batch {
		c.refuse(m)
	}
	if len(c.delta) > 0 {
		c.say("the execution has ended, or cannot begin: expected no event, got %d", len(c.delta))
	}
	c.same("work", nil, c.t.Ack.WorkerItems)
	c.same("message", c.refused, c.t.Ack.OrchestratorItems)
	if len(c.t.Ack.CancelledActivities) > 0 {
		c.say("the execution has ended, or cannot begin: expected no activity to be withdrawn, got %d", len(c.t.Ack.CancelledActivities))
	}
	if c.t.Ack.Metadata != (engine.ExecutionMetadata{}) {
		c.say("the execution has ended, or cannot begin: expected no metadata, got %s", show.Value(c.t.Ack.Metadata))
	}
}

// undecodable reports whether the ack poisons data that could not be decoded: it has one event with an id of its own.
func (c *checker) undecodable() bool {
	return len(c.delta) == 1 && c.delta[0].EventID == eventdata.CorruptedPoisonEventID
}

// checkEnvelopes checks that ids ascend without a gap, and that every event has the instance, the execution, the build
// and the same time. A continue-as-new takes an id but leaves no event, so the events that other coroutines schedule
// after it follow a gap of one.
func (c *checker) checkEnvelopes() {
	next := uint64(engine.InitialEventID)
	if n := len(c.t.History); n > 0 {
		next = c.t.History[n-1].EventID + 1
	}
	skipped, ended := c.terminal == nil, false
	for i := range c.delta {
		e := &c.delta[i]
		ended = ended || isTerminal(e.Data) || endsWait(e.Data)
		if !skipped && !ended && e.EventID == next+1 {
			next, skipped = e.EventID, true
		}
		if e.EventID != next {
			c.say("%s: expected the id %d", event(e), next)
		}
		next = e.EventID + 1
		if e.InstanceID != c.t.Instance || e.ExecutionID != c.t.Execution {
			c.say("%s is stamped %s/%d: expected %s/%d",
				event(e), e.InstanceID, e.ExecutionID, c.t.Instance, c.t.Execution)
		}
		if e.TimestampMs != c.delta[0].TimestampMs {
			c.say("%s is stamped with time %d: expected %d, the time of the turn", event(e), e.TimestampMs, c.delta[0].TimestampMs)
		}
		if c.t.Build != (engine.Version{}) {
			if e.DuroxideVersion != c.buildText {
				c.say("%s is stamped %s: expected the node's build, %s", event(e), e.DuroxideVersion, c.t.Build)
			}
		}
	}
}
