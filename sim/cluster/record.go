package cluster

import (
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/call"
	"github.com/durosim/durosim/internal/machine"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/record"
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
	Fetched  *engine.FetchedOrchestration
	Work     *engine.FetchedWork
	Count    int // of sessions
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

// RecordKind is the kind of a Record; its String says what happened: "node crashed", "call sent", "activity finished".
type RecordKind = record.Kind

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
