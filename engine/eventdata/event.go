package eventdata

import (
	"slices"
	"strings"
)

// CorruptedPoisonEventID is the id of the event that records an undecodable history's poisoning. It is far greater than
// any id in the history (docs/contract/runtime.md#r10.2).
const CorruptedPoisonEventID uint64 = 99999

// KindOf returns the kind of d, or "" for nil.
func KindOf(d Data) Kind {
	if d == nil {
		return ""
	}
	return d.kind()
}

// Kind is the value of an event's JSON field `type`.
type Kind string

// The kinds of events, in the order of docs/contract/runtime.md#r1.2. Build 2.0.0 added the two kinds whose names end
// in 2.
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
	// KindLegacyNote is an audit note, which replay ignores. Only build 0.8.0 writes it, and build 3.0.0 no longer
	// reads it.
	KindLegacyNote Kind = "LegacyNote"
)

// Data holds the fields specific to an event's kind. The set is closed, with one struct for each kind. Events hold the
// struct itself, not a pointer to it.
type Data interface {
	kind() Kind
}

// OrchestrationStarted is the first event of every execution. Its id is always 1. The parent fields are zero for a root
// orchestration. Only newer runtimes write ParentExecutionID, which is omitted if zero.
type OrchestrationStarted struct {
	Name                string         `json:"name"`
	Version             string         `json:"version"` // the handler version chosen by the node that ran the first turn
	Input               string         `json:"input"`
	ParentInstance      string         `json:"parent_instance" form:"null"`
	ParentID            uint64         `json:"parent_id" form:"null"`
	CarryForwardEvents  []CarriedEvent `json:"carry_forward_events,omitempty"`
	InitialCustomStatus *string        `json:"initial_custom_status,omitempty"`
	ParentExecutionID   uint64         `json:"parent_execution_id,omitempty"`
}

// CarriedEvent is an unread queue message that a continue-as-new carries to the next execution. Its JSON form is [name,
// data].
type CarriedEvent struct {
	Name string
	Data string
}

// OrchestrationCompleted ends an execution with an output.
type OrchestrationCompleted struct {
	Output string `json:"output"`
}

// OrchestrationFailed ends an execution with an error.
type OrchestrationFailed struct {
	Details ErrorDetails `json:"details"`
}

// OrchestrationContinuedAsNew ends an execution. Input is the next execution's input.
type OrchestrationContinuedAsNew struct {
	Input string `json:"input"`
}

// OrchestrationCancelRequested records an execution's first cancel request.
type OrchestrationCancelRequested struct {
	Reason string `json:"reason"`
}

// OrchestrationChained records a detached start.
type OrchestrationChained struct {
	Name     string `json:"name"`
	Instance string `json:"instance"`
	Input    string `json:"input"`
}

// ActivityScheduled records the scheduling of an activity.
type ActivityScheduled struct {
	Name      string `json:"name"`
	Input     string `json:"input"`
	SessionID string `json:"session_id,omitempty"` // omitted when empty
	Tag       string `json:"tag,omitempty"`        // omitted when empty
}

// ActivityCompleted records an activity's result. Its source event is the activity's schedule.
type ActivityCompleted struct {
	Result string `json:"result"`
}

// ActivityFailed records an activity's error. Its source event is the activity's schedule.
type ActivityFailed struct {
	Details ErrorDetails `json:"details"`
}

// ActivityCancelRequested records that an activity is no longer wanted. Reason is one of the Reason constants.
type ActivityCancelRequested struct {
	Reason string `json:"reason"`
}

// TimerCreated records a timer that fires at store time FireAtMs.
type TimerCreated struct {
	FireAtMs uint64 `json:"fire_at_ms"`
}

// TimerFired records the firing of a timer. Its source event is the timer's creation. FireAtMs is copied from the
// message.
type TimerFired struct {
	FireAtMs uint64 `json:"fire_at_ms"`
}

// ExternalSubscribed records a first-generation positional wait.
type ExternalSubscribed struct {
	Name string `json:"name"`
}

// ExternalEvent records the arrival of a first-generation event, whether or not anything waits for it.
type ExternalEvent struct {
	Name string `json:"name"`
	Data string `json:"data"`
}

// ExternalSubscribedCancelled records that the code dropped a positional wait.
type ExternalSubscribedCancelled struct {
	Reason string `json:"reason"`
}

// QueueSubscribed records a dequeue.
type QueueSubscribed struct {
	Name string `json:"name"`
}

// QueueEventDelivered records the arrival of a queue message.
type QueueEventDelivered struct {
	Name string `json:"name"`
	Data string `json:"data"`
}

// QueueSubscriptionCancelled records that the code dropped a dequeue.
type QueueSubscriptionCancelled struct {
	Reason string `json:"reason"`
}

// SubOrchestrationScheduled records the scheduling of a child. Instance is the id chosen by the code or the engine,
// without the parent's prefix.
type SubOrchestrationScheduled struct {
	Name     string `json:"name"`
	Instance string `json:"instance"`
	Input    string `json:"input"`
}

// ChildPrefix begins the ids that the engine chooses for children. An id from the code that happens to begin with it is
// treated in the same way.
const ChildPrefix = "sub::"

// Child returns the child's full id: an automatic one follows the parent's id (docs/contract/runtime.md#r7.10).
func (d SubOrchestrationScheduled) Child(parent string) string {
	if strings.HasPrefix(d.Instance, ChildPrefix) {
		return parent + "::" + d.Instance
	}
	return d.Instance
}

// SubOrchestrationCompleted records a child's output. Its source event is the child's schedule.
type SubOrchestrationCompleted struct {
	Result string `json:"result"`
}

// SubOrchestrationFailed records a child's failure. Its source event is the child's schedule.
type SubOrchestrationFailed struct {
	Details ErrorDetails `json:"details"`
}

// SubOrchestrationCancelRequested records that a child is no longer wanted.
type SubOrchestrationCancelRequested struct {
	Reason string `json:"reason"`
}

// CustomStatusUpdated records a new custom status. Nil means that the status was reset; it is written as null.
type CustomStatusUpdated struct {
	Status *string `json:"status" form:"null"`
}

// KeyValueSet records the new value of one key.
type KeyValueSet struct {
	Key             string `json:"key"`
	Value           string `json:"value"`
	LastUpdatedAtMs uint64 `json:"last_updated_at_ms" form:"optional"`
}

// KeyValueCleared records the removal of one key.
type KeyValueCleared struct {
	Key string `json:"key"`
}

// KeyValuesCleared records the removal of all keys.
type KeyValuesCleared struct{}

// ExternalSubscribed2 records a second-generation positional wait. It has a name and a topic.
type ExternalSubscribed2 struct {
	Name  string `json:"name"`
	Topic string `json:"topic"`
}

// ExternalEvent2 records the arrival of a second-generation event.
type ExternalEvent2 struct {
	Name  string `json:"name"`
	Topic string `json:"topic"`
	Data  string `json:"data"`
}

// LegacyNote is the audit note written by build 0.8.0.
type LegacyNote struct {
	Text string `json:"text"`
}

// forms holds the JSON form of every kind. The kinds that a later version added come last.
var forms = formsOf(
	OrchestrationStarted{}, OrchestrationCompleted{}, OrchestrationFailed{}, OrchestrationContinuedAsNew{},
	OrchestrationCancelRequested{}, OrchestrationChained{},
	ActivityScheduled{}, ActivityCompleted{}, ActivityFailed{}, ActivityCancelRequested{},
	TimerCreated{}, TimerFired{},
	ExternalSubscribed{}, ExternalEvent{}, ExternalSubscribedCancelled{},
	QueueSubscribed{}, QueueEventDelivered{}, QueueSubscriptionCancelled{},
	SubOrchestrationScheduled{}, SubOrchestrationCompleted{}, SubOrchestrationFailed{}, SubOrchestrationCancelRequested{},
	CustomStatusUpdated{}, KeyValueSet{}, KeyValueCleared{}, KeyValuesCleared{},
	LegacyNote{},
	ExternalSubscribed2{}, ExternalEvent2{},
)

func formsOf(all ...Data) []*Form {
	list := make([]*Form, len(all))
	for i, d := range all {
		list[i] = NewForm(string(d.kind()), d)
	}
	return list
}

// Forms returns the JSON form of every kind.
func Forms() []*Form { return slices.Clone(forms) }

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

// The reasons in cancellation events and messages (docs/contract/runtime.md#r0).
const (
	ReasonDroppedFuture          = "dropped_future"
	ReasonTerminal               = "orchestration_terminal"
	ReasonTerminalCompleted      = "orchestration_terminal_completed"
	ReasonTerminalFailed         = "orchestration_terminal_failed"
	ReasonTerminalContinuedAsNew = "orchestration_terminal_continued_as_new"
	ReasonParentCancelled        = "parent canceled"
	ReasonParentDroppedFuture    = "parent dropped sub-orchestration future"
)
