package record

// Kind is the kind of event that a record describes.
type Kind uint8

// The kinds of records. Each comment lists the fields that are set in addition to Kind, At, AtMs and Step.
const (
	None Kind = iota
	// NodeStarted sets Node and Incarnation. World.Node returns the node's build and options.
	NodeStarted
	// NodeStopped (gracefully), NodeCrashed, NodePaused, NodeResumed and NodeDraining set Node and Incarnation.
	// NodePaused also sets For.
	NodeStopped
	NodeCrashed
	NodePaused
	NodeResumed
	NodeDraining
	// CallSent sets Node, Incarnation, Call, CallKind, Request and Slot.
	CallSent
	// CallExecuting and CallExecuted are recorded immediately before and after a call takes effect. Both set the same
	// fields as CallSent. CallExecuted also sets StoreCall, Outcome and Err.
	CallExecuting
	CallExecuted
	// Answered reports that the node received an answer. After the deadline, the answer is an error, and Text is
	// "deadline". Answered sets the same fields as CallExecuted, and Fetched, Work, Count or Value.
	Answered
	// Parked reports that a fetch found nothing and is waiting. Unparked reports that the fetch was cancelled or its
	// node is gone. Woken reports that the store is retrying the fetch. All three set Node, Incarnation, Call,
	// CallKind, Request and Slot, and the StoreCall of the previous attempt.
	Parked
	Unparked
	Woken
	// Note and Log set Node and Incarnation. Note also sets Note and Slot; Log also sets Log.
	Note
	Log
	// ActivityStarted and ActivityFinished set Node, Incarnation and Activity. ActivityStarted also sets Slot.
	// ActivityFinished also sets Text if a fault makes the activity panic. If the node gives up an activity or goes
	// down while it is running, there is no ActivityFinished.
	ActivityStarted
	ActivityFinished
	// PhaseBegan and PhaseEnded set Phase.
	PhaseBegan
	PhaseEnded
	// Scheduled reports that the world has carried out a schedule step. It sets Schedule and, unless the step is a
	// mark, Node.
	Scheduled
	// ClientSent reports that a client sent a message. It sets Instance and Item. ClientAccepted reports that the store
	// has received it, and also sets StoreCall.
	ClientSent
	ClientAccepted
	// Fault sets Fault and, where they apply, Node and Incarnation, Call and CallKind, Instance, Item, and For.
	Fault
	// HandlersChanged reports that a node registered or deregistered a handler. It sets Node, Incarnation and Text.
	HandlersChanged
	// Looked reports that a probe read from the store. It sets Incarnation (the probe's number), Request, Looked, Err
	// and StoreCall.
	Looked
	// DeadLetter reports that the store's dead-letter policy has ended an instance. It sets Instance and Text.
	DeadLetter
	// MigrationBegan reports that a node that is to start migrates the store. It sets Node, Incarnation (of the last
	// start), Schema, the version that the store is to get, Text, the build that brings it, and For. MigrationEnded sets Schema, the version that the
	// store then has, Text if the migration has failed or was given up, and, unless an operator has undone migrations,
	// Node and Incarnation.
	MigrationBegan
	MigrationEnded
	// StartRefused reports that a node does not start since its build is too old for the store's schema, or for what has
	// been activated. It sets Node, Incarnation (of the last start) and Text, the build.
	StartRefused
	// Activated reports that a build has been activated, ActivationWaits that a node is not ready for it. Both set Text, the
	// build; ActivationWaits also sets Node. If a node's start has activated it, Activated sets Node and Incarnation.
	Activated
	ActivationWaits
	recordKinds
)

var recordNames = [recordKinds]string{
	"none", "node started", "node stopped", "node crashed", "node paused", "node resumed", "node draining", "call sent",
	"call executing", "call executed", "answered", "parked", "unparked", "woken", "note", "log", "activity started",
	"activity finished", "phase began", "phase ended", "scheduled", "client sent", "client accepted", "fault", "handlers changed", "looked",
	"dead letter", "migration began", "migration ended", "start refused",
	"activated", "activation waits",
}

// String returns the kind's name.
func (k Kind) String() string {
	if k < recordKinds {
		return recordNames[k]
	}
	return "unknown record"
}

// ActivityPanicText is the error text of an activity that panicked because of a fault.
const ActivityPanicText = "activity panicked by a fault"
