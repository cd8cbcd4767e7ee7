package eventdata

// CorruptedPoisonEventID is the event id that records the poison of an undecodable history. It is far above any id that
// the unreadable history may contain (docs/contract/runtime.md#r10.2).
const CorruptedPoisonEventID uint64 = 99999

// KindOf returns the kind of d, or "" for nil.
func KindOf(d Data) Kind {
	if d == nil {
		return ""
	}
	return d.kind()
}

// Kind is the JSON `type` of an event.
type Kind string

// The kinds of events, in the order of docs/contract/runtime.md#r1.2. The two kinds with names that end in 2 exist
// since build 2.0.0.
const (
	KindOrchestrationStarted            Kind = "OrchestrationStarted"
	KindOrchestrationCompleted          Kind = "OrchestrationCompleted"
	KindOrchestrationFailed             Kind = "OrchestrationFailed"
	KindOrchestrationContinuedAsNew     Kind = "OrchestrationContinuedAsNew"
	KindOrchestrationCancelRequested    Kind = "OrchestrationCancelRequested"
	KindOrchestrationChained            Kind = "OrchestrationChained"
	KindActivityScheduled               Kind = "ActivityScheduled"
	KindActivityCompleted               Kind = "ActivityCompleted"
	KindActivityFailed                  Kind = "ActivityFailed"
	KindActivityCancelRequested         Kind = "ActivityCancelRequested"
	KindTimerCreated                    Kind = "TimerCreated"
	KindTimerFired                      Kind = "TimerFired"
	KindExternalSubscribed              Kind = "ExternalSubscribed"
	KindExternalEvent                   Kind = "ExternalEvent"
	KindExternalSubscribedCancelled     Kind = "ExternalSubscribedCancelled"
	KindQueueSubscribed                 Kind = "ExternalSubscribedPersistent"
	KindQueueEventDelivered             Kind = "ExternalEventPersistent"
	KindQueueSubscriptionCancelled      Kind = "ExternalSubscribedPersistentCancelled"
	KindSubOrchestrationScheduled       Kind = "SubOrchestrationScheduled"
	KindSubOrchestrationCompleted       Kind = "SubOrchestrationCompleted"
	KindSubOrchestrationFailed          Kind = "SubOrchestrationFailed"
	KindSubOrchestrationCancelRequested Kind = "SubOrchestrationCancelRequested"
	KindCustomStatusUpdated             Kind = "CustomStatusUpdated"
	KindKeyValueSet                     Kind = "KeyValueSet"
	KindKeyValueCleared                 Kind = "KeyValueCleared"
	KindKeyValuesCleared                Kind = "KeyValuesCleared"
	KindExternalSubscribed2             Kind = "ExternalSubscribed2"
	KindExternalEvent2                  Kind = "ExternalEvent2"
	// KindLegacyNote is an audit note that replay ignores. Only build 0.8.0 emits it; build 3.0.0 no longer reads it.
	KindLegacyNote Kind = "LegacyNote"
)

// Data holds an event's kind-specific fields. The set is closed: one struct for each kind. Events hold the struct by
// value.
type Data interface {
	kind() Kind
}

// OrchestrationStarted is the first event of every execution, always with id 1. Parent fields are zero for a root.
// Only newer runtimes write ParentExecutionID; it is omitted when zero.
type OrchestrationStarted struct {
	Name                string
	Version             string // the handler version that the node of the first turn resolved
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

// ExternalSubscribed records a positional wait of the first generation.
type ExternalSubscribed struct{ Name string }

// ExternalEvent records the arrival of an event of the first generation, whether or not anything waits for it.
type ExternalEvent struct {
	Name string
	Data string
}

// ExternalSubscribedCancelled records that the code dropped a positional wait.
type ExternalSubscribedCancelled struct{ Reason string }

// QueueSubscribed records a dequeue.
type QueueSubscribed struct{ Name string }

// QueueEventDelivered records the arrival of a queue message.
type QueueEventDelivered struct {
	Name string
	Data string
}

// QueueSubscriptionCancelled records that the code dropped a dequeue.
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

// KeyValueSet records the new value of one key.
type KeyValueSet struct {
	Key             string
	Value           string
	LastUpdatedAtMs uint64
}

// KeyValueCleared records the removal of one key.
type KeyValueCleared struct{ Key string }

// KeyValuesCleared records the removal of all keys.
type KeyValuesCleared struct{}

// ExternalSubscribed2 records a positional wait of the second generation: a name and a topic.
type ExternalSubscribed2 struct {
	Name  string
	Topic string
}

// ExternalEvent2 records the arrival of an event of the second generation.
type ExternalEvent2 struct {
	Name  string
	Topic string
	Data  string
}

// LegacyNote is build 0.8.0's audit note.
type LegacyNote struct{ Text string }

func (OrchestrationStarted) kind() Kind            { return KindOrchestrationStarted }
func (OrchestrationCompleted) kind() Kind          { return KindOrchestrationCompleted }
func (OrchestrationFailed) kind() Kind             { return KindOrchestrationFailed }
func (OrchestrationContinuedAsNew) kind() Kind     { return KindOrchestrationContinuedAsNew }
func (OrchestrationCancelRequested) kind() Kind    { return KindOrchestrationCancelRequested }
func (OrchestrationChained) kind() Kind            { return KindOrchestrationChained }
func (ActivityScheduled) kind() Kind               { return KindActivityScheduled }
func (ActivityCompleted) kind() Kind               { return KindActivityCompleted }
func (ActivityFailed) kind() Kind                  { return KindActivityFailed }
func (ActivityCancelRequested) kind() Kind         { return KindActivityCancelRequested }
func (TimerCreated) kind() Kind                    { return KindTimerCreated }
func (TimerFired) kind() Kind                      { return KindTimerFired }
func (ExternalSubscribed) kind() Kind              { return KindExternalSubscribed }
func (ExternalEvent) kind() Kind                   { return KindExternalEvent }
func (ExternalSubscribedCancelled) kind() Kind     { return KindExternalSubscribedCancelled }
func (QueueSubscribed) kind() Kind                 { return KindQueueSubscribed }
func (QueueEventDelivered) kind() Kind             { return KindQueueEventDelivered }
func (QueueSubscriptionCancelled) kind() Kind      { return KindQueueSubscriptionCancelled }
func (SubOrchestrationScheduled) kind() Kind       { return KindSubOrchestrationScheduled }
func (SubOrchestrationCompleted) kind() Kind       { return KindSubOrchestrationCompleted }
func (SubOrchestrationFailed) kind() Kind          { return KindSubOrchestrationFailed }
func (SubOrchestrationCancelRequested) kind() Kind { return KindSubOrchestrationCancelRequested }
func (CustomStatusUpdated) kind() Kind             { return KindCustomStatusUpdated }
func (KeyValueSet) kind() Kind                     { return KindKeyValueSet }
func (KeyValueCleared) kind() Kind                 { return KindKeyValueCleared }
func (KeyValuesCleared) kind() Kind                { return KindKeyValuesCleared }
func (ExternalSubscribed2) kind() Kind             { return KindExternalSubscribed2 }
func (ExternalEvent2) kind() Kind                  { return KindExternalEvent2 }
func (LegacyNote) kind() Kind                      { return KindLegacyNote }

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
