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

// Record is one event in the world outside the store. A record is valid only during the call that receives it. Fields
// that a kind does not name are zero.
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
	Looked   *call.Answer  // the answer that a probe has read
	Cadence  time.Duration // the polling interval of a parked fetch's caller
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
	For       time.Duration // duration of the event that begins
}

// Note is a node's decision on a delivery; Decision.String returns its name.
type Note = machine.Note

// Log is a line that a node logs.
type Log = machine.Log

// RecordKind is the kind of a Record; its String says what happened: "node crashed", "call sent", "activity finished".
type RecordKind = record.Kind

// Phase is a phase of a run.
type Phase uint8

// The phases, in order. Obligations are checked at the end of each.
const (
	// PhaseTurbulence: the schedule runs and faults happen.
	PhaseTurbulence Phase = iota
	// PhaseCalm: faults have stopped, the core is up, clients raise what instances wait for.
	PhaseCalm
	// PhaseRelief: a core node becomes the build that work waits for, or the work is deleted; then calm begins again.
	PhaseRelief
	// PhaseUnaided: faults have stopped, and no client or operator helps. It replaces calm and relief if the plan sets
	// its own end.
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
