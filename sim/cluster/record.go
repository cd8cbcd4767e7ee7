package cluster

import (
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/call"
	"github.com/durosim/durosim/internal/machine"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
)

// Record is one thing that happened in the world outside the store. A record is valid only during the call that hands
// it over. Fields that a kind does not name are zero.
type Record struct {
	Kind RecordKind
	At   sim.Time
	AtMs int64 // store time
	Step uint64
	// Node is the number of the node, 0 for clients; Incarnation counts its starts from 1.
	Node        uint32
	Incarnation uint32

	Call     uint64 // the world's number of a provider call, unique within a run
	CallKind observe.CallKind
	Request  call.Call
	Looked   *call.Answer  // what a probe has read
	Cadence  time.Duration // how often the caller of a parked fetch would poll
	Outcome  observe.Outcome
	Err      error
	Slot     machine.Slot
	// StoreCall is the store's number of an executed call, as observations carry it.
	StoreCall uint64
	Note      *Note
	Log       *Log
	Phase     Phase
	Fault     faults.Kind
	Schedule  *plan.Step
	Instance  string // the instance, by its name
	Item      engine.WorkItem
	Activity  *machine.RunActivity
	Text      string
	For       time.Duration // duration of what begins
}

// Note is a node's decision on what it has fetched, with the reason in words: Decision.String names it.
type Note = machine.Note

// Log is a line that a node logs.
type Log = machine.Log

// RecordKind is the kind of a Record: what happened.
type RecordKind uint8

// The kinds of records, with the fields that each sets besides Kind, At, AtMs, Step.
const (
	RecNone RecordKind = iota
	// RecNodeStarted: Node, Incarnation; World.Node returns build and options.
	RecNodeStarted
	// RecNodeStopped (gracefully), RecNodeCrashed, RecNodePaused (For), RecNodeResumed, RecNodeDraining: Node, Incarnation.
	RecNodeStopped
	RecNodeCrashed
	RecNodePaused
	RecNodeResumed
	RecNodeDraining
	// RecCallSent: Node, Incarnation, Call, CallKind, Request, Slot.
	RecCallSent
	// RecCallExecuting and RecCallExecuted bracket the atomic instant: the same, StoreCall after it, Outcome, Err.
	RecCallExecuting
	RecCallExecuted
	// RecAnswered: the node got the answer, or after the deadline the error that replaces it (Text "deadline"): the same.
	RecAnswered
	// RecParked: a fetch found nothing and waits; RecUnparked: it is cancelled or its node is gone; RecWoken: it is
	// tried again. Node, Incarnation, Call, CallKind, Request, Slot, and StoreCall of the try before.
	RecParked
	RecUnparked
	RecWoken
	// RecNote, RecLog: Node, Incarnation, Note (with Slot) or Log.
	RecNote
	RecLog
	// RecActivityStarted (with Slot), RecActivityFinished (Text if it panics by a fault): Node, Incarnation, Activity. One
	// that the node gives up, or takes with it when it goes down, does not finish.
	RecActivityStarted
	RecActivityFinished
	// RecPhaseBegan, RecPhaseEnded: Phase.
	RecPhaseBegan
	RecPhaseEnded
	// RecScheduled: a schedule step was carried out: Schedule, and Node unless it is a mark.
	RecScheduled
	// RecClientSent: a client's message was sent: Instance, Item; RecClientAccepted: the store has it, StoreCall.
	RecClientSent
	RecClientAccepted
	// RecFault: Fault, and where they apply Node and Incarnation, Call and CallKind, Instance, Item, For.
	RecFault
	// RecHandlersChanged: a handler was registered or deregistered: Node, Incarnation, Text.
	RecHandlersChanged
	// RecLooked: a probe has read something: Incarnation (its number), Request, Looked, Err, StoreCall.
	RecLooked
	// RecDeadLetter: the dead-letter policy of the store has ended an instance: Instance, Text.
	RecDeadLetter
	recordKinds
)

var recordNames = [recordKinds]string{
	"none", "node started", "node stopped", "node crashed", "node paused", "node resumed", "node draining", "call sent",
	"call executing", "call executed", "answered", "parked", "unparked", "woken", "note", "log", "activity started",
	"activity finished", "phase began", "phase ended", "scheduled", "client sent", "client accepted", "fault", "handlers changed", "looked",
	"dead letter",
}

// String returns the kind in words.
func (k RecordKind) String() string {
	if k < recordKinds {
		return recordNames[k]
	}
	return "unknown record"
}

// Phase is a part of a run.
type Phase uint8

// The phases, in order. Obligations are judged at the end of each.
const (
	// PhaseTurbulence: the schedule runs and faults happen.
	PhaseTurbulence Phase = iota
	// PhaseCalm: faults have stopped, the core is up, clients raise what instances wait for.
	PhaseCalm
	// PhaseRelief: a core node becomes the build that work waits for, or that work is deleted; then it is calm again.
	PhaseRelief
	// PhaseUnaided: faults have stopped, and nobody helps. It replaces calm and relief if the plan has an end of its own.
	PhaseUnaided
)

// String returns the phase in words.
func (p Phase) String() string {
	switch p {
	case PhaseTurbulence:
		return "turbulence"
	case PhaseCalm:
		return "calm"
	case PhaseUnaided:
		return "unaided"
	}
	return "relief"
}
