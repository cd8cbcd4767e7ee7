package record

// Kind names the event that a record describes.
type Kind uint8

// The kinds of records, with the fields that each sets in addition to Kind, At, AtMs, Step.
const (
	None Kind = iota
	// NodeStarted: Node, Incarnation; World.Node returns build and options.
	NodeStarted
	// NodeStopped (gracefully), NodeCrashed, NodePaused (For), NodeResumed, NodeDraining: Node, Incarnation.
	NodeStopped
	NodeCrashed
	NodePaused
	NodeResumed
	NodeDraining
	// CallSent: Node, Incarnation, Call, CallKind, Request, Slot.
	CallSent
	// CallExecuting and CallExecuted bracket the atomic instant: the fields of CallSent, StoreCall after it, Outcome,
	// Err.
	CallExecuting
	CallExecuted
	// Answered: the node received the answer or, after the deadline, the error in its place (Text "deadline"). It sets the
	// same fields, and Fetched, Work or Count.
	Answered
	// Parked: a fetch found nothing and waits. Unparked: the fetch was cancelled or its node is gone. Woken: the store
	// tries the fetch again. Node, Incarnation, Call, CallKind, Request, Slot, and the StoreCall of the previous try.
	Parked
	Unparked
	Woken
	// Note, Log: Node, Incarnation, Note (with Slot) or Log.
	Note
	Log
	// ActivityStarted (with Slot), ActivityFinished (Text if a fault makes it panic): Node, Incarnation, Activity. An
	// activity that its node gives up, or that is running when its node goes down, does not finish.
	ActivityStarted
	ActivityFinished
	// PhaseBegan, PhaseEnded: Phase.
	PhaseBegan
	PhaseEnded
	// Scheduled: the world carried out a schedule step: Schedule, and Node unless the step is a mark.
	Scheduled
	// ClientSent: a client sent a message: Instance, Item. ClientAccepted: the store has the message: also StoreCall.
	ClientSent
	ClientAccepted
	// Fault: Fault, and where they apply, Node and Incarnation, Call and CallKind, Instance, Item, For.
	Fault
	// HandlersChanged: a node registered or deregistered a handler: Node, Incarnation, Text.
	HandlersChanged
	// Looked: a probe has read from the store: Incarnation (the probe's number), Request, Looked, Err, StoreCall.
	Looked
	// DeadLetter: the dead-letter policy of the store has ended an instance: Instance, Text.
	DeadLetter
	recordKinds
)

var recordNames = [recordKinds]string{
	"none", "node started", "node stopped", "node crashed", "node paused", "node resumed", "node draining", "call sent",
	"call executing", "call executed", "answered", "parked", "unparked", "woken", "note", "log", "activity started",
	"activity finished", "phase began", "phase ended", "scheduled", "client sent", "client accepted", "fault", "handlers changed", "looked",
	"dead letter",
}

// String returns the kind's name.
func (k Kind) String() string {
	if k < recordKinds {
		return recordNames[k]
	}
	return "unknown record"
}

// ActivityPanicText is the error text of an activity that a fault made panic.
const ActivityPanicText = "activity panicked by a fault"
