package engine

// The first ids of an instance's life (docs/contract/runtime.md#r0). Zero always means unset.
const (
	InitialExecutionID uint64 = 1
	InitialEventID     uint64 = 1
)

// CorruptedPoisonEventID is the event id under which the poison of an undecodable history is recorded, far above any
// id that the unreadable history may hold (docs/contract/runtime.md#r10.2).
const CorruptedPoisonEventID uint64 = 99999

// Event is one entry of an execution's history: a stable envelope and the fields of its kind.
//
// An Event is immutable once built, so it may be shared freely. EventID is its position in the execution, from 1.
// SourceEventID is the id of the schedule that the event completes or cancels, 0 if there is none (written as null).
// TimestampMs is store time in milliseconds. DuroxideVersion is the version of the build that wrote the event; only the
// one on an execution's OrchestrationStarted is the execution's pin.
type Event struct {
	EventID         uint64
	SourceEventID   uint64
	InstanceID      string
	ExecutionID     uint64
	TimestampMs     uint64
	DuroxideVersion string
	Data            EventData
}

// Kind returns the kind of the event's data, "" for an event without data.
func (e Event) Kind() EventKind { return KindOf(e.Data) }

// KindOf returns the kind of data, "" for nil.
func KindOf(d EventData) EventKind {
	if d == nil {
		return ""
	}
	return d.kind()
}

// EventKind is the JSON `type` of an event.
type EventKind string

// The kinds of events, in the order of docs/contract/runtime.md#r1.2. The two whose names end in 2 exist from
// build 2.0.0 on.
const (
	KindOrchestrationStarted            EventKind = "OrchestrationStarted"
	KindOrchestrationCompleted          EventKind = "OrchestrationCompleted"
	KindOrchestrationFailed             EventKind = "OrchestrationFailed"
	KindOrchestrationContinuedAsNew     EventKind = "OrchestrationContinuedAsNew"
	KindOrchestrationCancelRequested    EventKind = "OrchestrationCancelRequested"
	KindOrchestrationChained            EventKind = "OrchestrationChained"
	KindActivityScheduled               EventKind = "ActivityScheduled"
	KindActivityCompleted               EventKind = "ActivityCompleted"
	KindActivityFailed                  EventKind = "ActivityFailed"
	KindActivityCancelRequested         EventKind = "ActivityCancelRequested"
	KindTimerCreated                    EventKind = "TimerCreated"
	KindTimerFired                      EventKind = "TimerFired"
	KindExternalSubscribed              EventKind = "ExternalSubscribed"
	KindExternalEvent                   EventKind = "ExternalEvent"
	KindExternalSubscribedCancelled     EventKind = "ExternalSubscribedCancelled"
	KindQueueSubscribed                 EventKind = "ExternalSubscribedPersistent"
	KindQueueEventDelivered             EventKind = "ExternalEventPersistent"
	KindQueueSubscriptionCancelled      EventKind = "ExternalSubscribedPersistentCancelled"
	KindSubOrchestrationScheduled       EventKind = "SubOrchestrationScheduled"
	KindSubOrchestrationCompleted       EventKind = "SubOrchestrationCompleted"
	KindSubOrchestrationFailed          EventKind = "SubOrchestrationFailed"
	KindSubOrchestrationCancelRequested EventKind = "SubOrchestrationCancelRequested"
	KindCustomStatusUpdated             EventKind = "CustomStatusUpdated"
	KindKeyValueSet                     EventKind = "KeyValueSet"
	KindKeyValueCleared                 EventKind = "KeyValueCleared"
	KindKeyValuesCleared                EventKind = "KeyValuesCleared"
	KindExternalSubscribed2             EventKind = "ExternalSubscribed2"
	KindExternalEvent2                  EventKind = "ExternalEvent2"
	// KindLegacyNote is an audit note without meaning for replay. It is the only kind that build 0.8.0 alone emits;
	// build 3.0.0 no longer reads it.
	KindLegacyNote EventKind = "LegacyNote"
)

// EventData holds an event's kind-specific fields. The set is closed: one struct for each kind, held by value.
type EventData interface {
	kind() EventKind
}

// OrchestrationStarted is the first event of every execution, always with id 1. Parent fields are zero for a root.
// Only newer runtimes write ParentExecutionID; it is omitted when zero.
type OrchestrationStarted struct {
	Name                string
	Version             string // handler version, as resolved by the node that ran the first turn
	Input               string
	ParentInstance      string
	ParentID            uint64
	ParentExecutionID   uint64
	CarryForwardEvents  []CarriedEvent
	InitialCustomStatus *string
}

// CarriedEvent is an unread queue message that crosses a continue-as-new. JSON: [name, data].
type CarriedEvent struct {
	Name string
	Data string
}

// OrchestrationCompleted ends an execution with an output.
type OrchestrationCompleted struct{ Output string }

// OrchestrationFailed ends an execution with an error.
type OrchestrationFailed struct{ Details ErrorDetails }

// OrchestrationContinuedAsNew ends an execution; its successor gets Input.
type OrchestrationContinuedAsNew struct{ Input string }

// OrchestrationCancelRequested records the first cancel request of an execution.
type OrchestrationCancelRequested struct{ Reason string }

// OrchestrationChained records a detached start.
type OrchestrationChained struct {
	Name     string
	Instance string
	Input    string
}

// ActivityScheduled records the schedule of an activity.
type ActivityScheduled struct {
	Name      string
	Input     string
	SessionID string // omitted when empty
	Tag       string // omitted when empty
}

// ActivityCompleted records an activity's result; the source event is its schedule.
type ActivityCompleted struct{ Result string }

// ActivityFailed records an activity's error; the source event is its schedule.
type ActivityFailed struct{ Details ErrorDetails }

// ActivityCancelRequested records that an activity is no longer wanted. Reason is one of the Reason constants.
type ActivityCancelRequested struct{ Reason string }

// TimerCreated records a timer, due at FireAtMs of store time.
type TimerCreated struct{ FireAtMs uint64 }

// TimerFired records that the source event's timer fired; FireAtMs is copied from the message.
type TimerFired struct{ FireAtMs uint64 }

// ExternalSubscribed records a positional wait of the old generation.
type ExternalSubscribed struct{ Name string }

// ExternalEvent records the arrival of an event of the old generation, whether or not anything waits for it.
type ExternalEvent struct {
	Name string
	Data string
}

// ExternalSubscribedCancelled records that a positional wait was dropped.
type ExternalSubscribedCancelled struct{ Reason string }

// QueueSubscribed records a dequeue of a queue event.
type QueueSubscribed struct{ Name string }

// QueueEventDelivered records the arrival of a queue message.
type QueueEventDelivered struct {
	Name string
	Data string
}

// QueueSubscriptionCancelled records that a dequeue was dropped.
type QueueSubscriptionCancelled struct{ Reason string }

// SubOrchestrationScheduled records the schedule of a child; Instance is the id that the code or the engine chose,
// without the parent's prefix.
type SubOrchestrationScheduled struct {
	Name     string
	Instance string
	Input    string
}

// SubOrchestrationCompleted records a child's output; the source event is its schedule.
type SubOrchestrationCompleted struct{ Result string }

// SubOrchestrationFailed records a child's failure; the source event is its schedule.
type SubOrchestrationFailed struct{ Details ErrorDetails }

// SubOrchestrationCancelRequested records that a child is no longer wanted.
type SubOrchestrationCancelRequested struct{ Reason string }

// CustomStatusUpdated records a new custom status, nil for a reset (written as null).
type CustomStatusUpdated struct{ Status *string }

// KeyValueSet records one key's new value.
type KeyValueSet struct {
	Key             string
	Value           string
	LastUpdatedAtMs uint64
}

// KeyValueCleared records the removal of one key.
type KeyValueCleared struct{ Key string }

// KeyValuesCleared records the removal of all keys.
type KeyValuesCleared struct{}

// ExternalSubscribed2 records a positional wait of the new generation: a name and a topic.
type ExternalSubscribed2 struct {
	Name  string
	Topic string
}

// ExternalEvent2 records the arrival of an event of the new generation.
type ExternalEvent2 struct {
	Name  string
	Topic string
	Data  string
}

// LegacyNote is build 0.8.0's audit note.
type LegacyNote struct{ Text string }

func (OrchestrationStarted) kind() EventKind            { return KindOrchestrationStarted }
func (OrchestrationCompleted) kind() EventKind          { return KindOrchestrationCompleted }
func (OrchestrationFailed) kind() EventKind             { return KindOrchestrationFailed }
func (OrchestrationContinuedAsNew) kind() EventKind     { return KindOrchestrationContinuedAsNew }
func (OrchestrationCancelRequested) kind() EventKind    { return KindOrchestrationCancelRequested }
func (OrchestrationChained) kind() EventKind            { return KindOrchestrationChained }
func (ActivityScheduled) kind() EventKind               { return KindActivityScheduled }
func (ActivityCompleted) kind() EventKind               { return KindActivityCompleted }
func (ActivityFailed) kind() EventKind                  { return KindActivityFailed }
func (ActivityCancelRequested) kind() EventKind         { return KindActivityCancelRequested }
func (TimerCreated) kind() EventKind                    { return KindTimerCreated }
func (TimerFired) kind() EventKind                      { return KindTimerFired }
func (ExternalSubscribed) kind() EventKind              { return KindExternalSubscribed }
func (ExternalEvent) kind() EventKind                   { return KindExternalEvent }
func (ExternalSubscribedCancelled) kind() EventKind     { return KindExternalSubscribedCancelled }
func (QueueSubscribed) kind() EventKind                 { return KindQueueSubscribed }
func (QueueEventDelivered) kind() EventKind             { return KindQueueEventDelivered }
func (QueueSubscriptionCancelled) kind() EventKind      { return KindQueueSubscriptionCancelled }
func (SubOrchestrationScheduled) kind() EventKind       { return KindSubOrchestrationScheduled }
func (SubOrchestrationCompleted) kind() EventKind       { return KindSubOrchestrationCompleted }
func (SubOrchestrationFailed) kind() EventKind          { return KindSubOrchestrationFailed }
func (SubOrchestrationCancelRequested) kind() EventKind { return KindSubOrchestrationCancelRequested }
func (CustomStatusUpdated) kind() EventKind             { return KindCustomStatusUpdated }
func (KeyValueSet) kind() EventKind                     { return KindKeyValueSet }
func (KeyValueCleared) kind() EventKind                 { return KindKeyValueCleared }
func (KeyValuesCleared) kind() EventKind                { return KindKeyValuesCleared }
func (ExternalSubscribed2) kind() EventKind             { return KindExternalSubscribed2 }
func (ExternalEvent2) kind() EventKind                  { return KindExternalEvent2 }
func (LegacyNote) kind() EventKind                      { return KindLegacyNote }

// The reasons that cancellation events and messages carry (docs/contract/runtime.md#r0).
const (
	ReasonDroppedFuture          = "dropped_future"
	ReasonTerminal               = "orchestration_terminal"
	ReasonTerminalCompleted      = "orchestration_terminal_completed"
	ReasonTerminalFailed         = "orchestration_terminal_failed"
	ReasonTerminalContinuedAsNew = "orchestration_terminal_continued_as_new"
	ReasonParentCancelled        = "parent canceled"
	ReasonParentDroppedFuture    = "parent dropped sub-orchestration future"
)
