package turn

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/internal/pretty"
)

// Turn is a committed turn, together with its node's input.
type Turn struct {
	Instance  string
	Execution uint64
	// Build is the version of the node's build. If it is zero, it is not checked.
	Build engine.Version
	// History is the stored history of this execution; it is empty on the first turn. Batch holds the delivered
	// messages in order.
	History []engine.Event
	Batch   []engine.WorkItem
	// Previous is the first event of the previous execution. It is used on the first turn after a continue-as-new, and
	// it may be missing.
	Previous *engine.Event
	// Parent is the parent link that the provider reports, or nil. Status is the execution's status, or empty if the
	// provider does not report it.
	Parent *engine.ParentLink
	Status engine.Status
	// Keys is the key-value state at the start of the execution.
	Keys []engine.KVEntry
	// Semantics are those of the build that began the execution. Limits are those of the node's build; a zero limit
	// stands for the one in engine.DefaultLimits.
	Semantics engine.Semantics
	Limits    engine.Limits
	// Unclaimed lists the schedules in the history, if known, that the code had not requested by the time it ended,
	// because the code has been changed since the history was recorded. The code cannot have awaited or dropped them.
	Unclaimed []uint64
	// WaitGeneration and EventGeneration are the generations, 1 or 2, of the waits for topics and of their events that the
	// node's build writes into this execution. If one is zero, it is not checked.
	WaitGeneration, EventGeneration int
	// OwnChildIDs is the value of engine.Build.OwnChildIDs for the node's build.
	OwnChildIDs bool
	Ack         engine.OrchestrationAck
}

// Checker checks turns one after another, reusing memory. The zero value is ready to use.
type Checker struct {
	ack  ackCheck
	code codeCheck
}

// CheckAck describes what is wrong with a turn, in the order of the ack, whatever its code is. It returns nil if the turn
// is allowed. The Checker does not use t after the call.
func (k *Checker) CheckAck(t *Turn) []string {
	c := &k.ack
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

// Drop is a message of the batch that leaves no event, with the rule by which a node drops it.
type Drop struct {
	Message int // its index in the batch
	Rule    string
}

// Drops returns what the turn that CheckAck checked last must drop, in the order of the batch. The result is valid until
// the next call of CheckAck, and undefined if that turn is wrong.
func (k *Checker) Drops() []Drop { return k.ack.drops }

// base is the turn that is checked, and what is wrong with it.
type base struct {
	t        *Turn
	delta    []engine.Event
	terminal engine.EventData // the delta's terminal event, or nil if the execution continues
	wrong    []string
}

func baseOf(t *Turn) base {
	b := base{t: t, delta: t.Ack.HistoryDelta}
	if i := slices.IndexFunc(b.delta, func(e engine.Event) bool { return isTerminal(e.Data) }); i >= 0 {
		b.terminal = b.delta[i].Data
	}
	return b
}

// say records what is wrong.
func (b *base) say(format string, args ...any) {
	b.wrong = append(b.wrong, fmt.Sprintf(format, args...))
}

// ending describes how the turn ends.
func (b *base) ending() string {
	if b.terminal == nil {
		return "no end"
	}
	return string(eventdata.KindOf(b.terminal)) + " " + shown(b.terminal)
}

// ackCheck is the state of a check of an ack. It reads the delta from front to back.
type ackCheck struct {
	base
	most      engine.Limits
	at        int // how many events of the delta have been read
	schedules []schedule
	cancelled *string              // the reason given by the first cancel request
	abort     *engine.ErrorDetails // why the turn must fail before its code runs
	over      bool                 // the history has a terminal event
	parent    *engine.ParentLink
	start     int // index of the message that begins the execution, or -1
	refused   []engine.WorkItem
	message   int // index of the message being read
	drops     []Drop
	// Reused memory for the items that a turn should send, and the text of the most recently checked build.
	work, messages []engine.WorkItem
	build          engine.Version
	buildText      string
}

// schedule is a schedule event from the history or the delta.
type schedule struct {
	event     *engine.Event
	closed    uint64 // the event that completes it, or 0
	withdrawn bool   // its breadcrumb is recorded
	old       bool   // it is in the history
}

// begin prepares the checker for a turn.
func (c *ackCheck) begin(t *Turn) {
	*c = ackCheck{
		base: baseOf(t), start: -1, most: engine.DefaultLimits(), schedules: c.schedules[:0],
		work: c.work, messages: c.messages, drops: c.drops[:0], build: c.build, buildText: c.buildText,
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
	if len(t.History) == 0 {
		c.start = c.startMessage()
	}
	c.parent = c.parentLink()
}

// enter updates the state for an event.
func (c *ackCheck) enter(e *engine.Event, old bool) {
	switch d := e.Data.(type) {
	case eventdata.ActivityScheduled, eventdata.TimerCreated, eventdata.SubOrchestrationScheduled, eventdata.ExternalSubscribed,
		eventdata.ExternalSubscribed2, eventdata.QueueSubscribed:
		c.schedules = append(c.schedules, schedule{event: e, old: old})
	case eventdata.ActivityCompleted, eventdata.ActivityFailed, eventdata.TimerFired, eventdata.SubOrchestrationCompleted, eventdata.SubOrchestrationFailed:
		if s := c.schedule(e.SourceEventID); s != nil {
			s.closed = e.EventID
		}
	case eventdata.ActivityCancelRequested, eventdata.SubOrchestrationCancelRequested, eventdata.ExternalSubscribedCancelled, eventdata.QueueSubscriptionCancelled:
		if s := c.schedule(e.SourceEventID); s != nil {
			s.withdrawn = true
		}
	case eventdata.OrchestrationCancelRequested:
		if c.cancelled == nil {
			c.cancelled = &d.Reason
		}
	case eventdata.OrchestrationCompleted, eventdata.OrchestrationFailed, eventdata.OrchestrationContinuedAsNew:
		c.over = c.over || old
	}
}

// schedule returns the schedule with the given id, or nil if there is none. It relies on ids being in ascending order.
func (c *ackCheck) schedule(id uint64) *schedule {
	low, high := 0, len(c.schedules) // written out, because a search with a comparison function takes four times as long
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

// drop records that the message being read leaves no event.
func (c *ackCheck) drop(rule string) { c.drops = append(c.drops, Drop{c.message, rule}) }

// event returns how messages refer to an event of the delta.
func event(e *engine.Event) string { return fmt.Sprintf("event %d (%s)", e.EventID, e.Kind()) }

// shown formats a value for messages.
func shown(v any) string {
	text := pretty.Value(v)
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
	if a, ok := a.(engine.ContinueAsNewItem); ok {
		b, ok := b.(engine.ContinueAsNewItem)
		return ok && sameContinue(&a, &b)
	}
	x, y := reflect.TypeOf(a), reflect.TypeOf(b)
	return x == y && x != nil && x.Comparable() && a == b || reflect.DeepEqual(a, b)
}

// nothingToDo reports whether no turn is due, either because the execution has ended or because no message begins it.
func (c *ackCheck) nothingToDo() bool {
	if c.over || len(c.t.History) == 0 && c.start < 0 {
		return true
	}
	// The provider's status decides if it reports an end that the history does not show.
	return len(c.delta) == 0 && (c.t.Status == engine.StatusCompleted || c.t.Status == engine.StatusFailed)
}

// checkDropped checks that the turn does nothing except acknowledge the batch and answer refused starts.
func (c *ackCheck) checkDropped() {
	if len(c.t.Batch) > 0 && c.undecodable() {
		return
	}
	for i, m := range c.t.Batch {
		c.refuse(m)
		c.drops = append(c.drops, Drop{i, "terminal"})
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
		c.say("the execution has ended, or cannot begin: expected no metadata, got %s", pretty.Value(c.t.Ack.Metadata))
	}
}

// undecodable reports whether the ack poisons data that could not be decoded. Such an ack has a single event with a
// special id.
func (c *ackCheck) undecodable() bool {
	return len(c.delta) == 1 && c.delta[0].EventID == eventdata.CorruptedPoisonEventID
}

// checkEnvelopes checks that ids ascend without gaps, and that every event has the right instance, execution and build,
// and the same time. A continue-as-new takes an id but leaves no event, so there is a gap of one if other coroutines
// schedule events after it.
func (c *ackCheck) checkEnvelopes() {
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
