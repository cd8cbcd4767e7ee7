package engine

import "github.com/durosim/durosim/internal/eventdata"

// The first ids of an instance's life (docs/contract/runtime.md#r0). Zero always means unset.
const (
	InitialExecutionID uint64 = 1
	InitialEventID     uint64 = 1
)

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
func (e Event) Kind() EventKind { return eventdata.KindOf(e.Data) }

// EventKind is the JSON `type` of an event, such as "TimerFired" (docs/contract/runtime.md#r1.2).
type EventKind = eventdata.Kind

// EventData holds an event's kind-specific fields. The set is closed: one struct for each kind, held by value. A
// provider stores it with its caller's codec and examines only its kind.
type EventData = eventdata.Data

// CarriedEvent is an unread queue message that crosses a continue-as-new. JSON: [name, data].
type CarriedEvent = eventdata.CarriedEvent

// ErrorDetails says what ended an activity or an execution (docs/contract/runtime.md#r3). Display returns it as text.
type ErrorDetails = eventdata.ErrorDetails
