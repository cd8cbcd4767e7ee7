package engine

import "github.com/durosim/durosim/engine/eventdata"

// The ids with which an instance begins (docs/contract/runtime.md#r0). Zero always means unset.
const (
	InitialExecutionID uint64 = 1
	InitialEventID     uint64 = 1
)

// Event is one entry in an execution's history: a common envelope and the fields specific to its kind.
//
// An Event is immutable once built, so it may be shared freely. EventID is its position in the execution, counting from
// 1. SourceEventID is the id of the schedule that the event completes or cancels; 0 means none and is encoded as null.
// TimestampMs is store time in milliseconds. DuroxideVersion is the version of the build that wrote the event; the one
// on an execution's OrchestrationStarted event is the execution's pin.
type Event struct {
	EventID         uint64 `json:"event_id"`
	SourceEventID   uint64 `json:"source_event_id" form:"null"`
	InstanceID      string `json:"instance_id"`
	ExecutionID     uint64 `json:"execution_id"`
	TimestampMs     uint64 `json:"timestamp_ms"`
	DuroxideVersion string `json:"duroxide_version"`
	Data            EventData
}

// Kind returns the kind of the event's data, or "" if the event has no data.
func (e Event) Kind() EventKind { return eventdata.KindOf(e.Data) }

// EventKind is an event's JSON `type`, such as "TimerFired" (docs/contract/runtime.md#r1.2).
type EventKind = eventdata.Kind

// EventData holds the fields specific to an event's kind. The set is closed: each kind has one struct, held by value. A
// provider stores the data with its caller's codec and looks only at the kind.
type EventData = eventdata.Data

// CarriedEvent is an unread queue message that is carried over a continue-as-new. JSON: [name, data].
type CarriedEvent = eventdata.CarriedEvent

// ErrorDetails describes why an activity or an execution failed (docs/contract/runtime.md#r3). Display returns it as
// text.
type ErrorDetails = eventdata.ErrorDetails
