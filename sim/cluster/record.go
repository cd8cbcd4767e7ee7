package cluster

import (
	"fmt"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// Record describes something that happened in the world outside the store. A record is valid only during the call that
// receives it. Fields that do not apply to its kind are zero.
type Record struct {
	Kind RecordKind
	At   sim.Time
	AtMs int64 // store time
	Step uint64
	// Node is the node's number, or 0 for clients. Incarnation counts the node's starts, from 1.
	Node        uint32
	Incarnation uint32

	Call     uint64 // the world's number for a provider call, unique within a run
	CallKind observe.CallKind
	Request  call.Call
	Looked   *call.Answer  // the answer read by a probe
	Cadence  time.Duration // the polling interval of the caller of a parked fetch
	Deadline time.Duration // how long the caller waits for an answer
	Once     bool          // whether a fetch is answered at once, even if it finds nothing
	Fetched  *engine.FetchedOrchestration
	Work     *engine.FetchedWork
	Count    int     // of sessions
	Value    *string // of a key that a node has read
	Outcome  observe.Outcome
	Err      error
	Slot     machine.Slot
	// StoreCall is the store's number for an executed call, as found in observations.
	StoreCall uint64
	Note      *Note
	Log       *Log
	Phase     Phase
	Fault     faults.Kind
	Schedule  *plan.Step
	Instance  string // the instance's name
	Item      engine.WorkItem
	Activity  *machine.RunActivity
	Schema    uint64 // a version of the store's schema
	Text      string
	For       time.Duration // how long what begins will last
}

// Note is a node's decision about a delivery. Decision.String returns the decision's name.
type Note = machine.Note

// Log is a line logged by a node.
type Log = machine.Log

// RecordKind is the kind of a Record. Its String says what happened: "node crashed", "call sent", "activity finished".
type RecordKind = record.Kind

// Phase is a phase of a run.
type Phase uint8

// The phases in order. Obligations are checked at the end of each.
const (
	// PhaseFaults executes the schedule while faults happen.
	PhaseFaults Phase = iota
	// PhaseRecovery begins when faults have stopped and the core nodes are up. Clients raise what instances are waiting
	// for.
	PhaseRecovery
	// PhaseRescue turns a core node into the build that work is waiting for, or deletes the work. Then recovery begins
	// again.
	PhaseRescue
	// PhaseUnaided has no faults, and no help from clients or operators. It replaces recovery and rescue if the plan
	// sets its own end.
	PhaseUnaided
)

var phaseNames = []string{"faults", "recovery", "rescue", "unaided"}

// String returns the phase in words.
func (p Phase) String() string { return phaseNames[p] }

// MarshalText returns the phase in words, and UnmarshalText reads that.
func (p Phase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }
func (p *Phase) UnmarshalText(t []byte) error {
	i := slices.Index(phaseNames, string(t))
	if i < 0 {
		return fmt.Errorf("phase %q: expected one of %v", t, phaseNames)
	}
	*p = Phase(i)
	return nil
}

// NodeInfo describes a node to monitors.
type NodeInfo struct {
	Number      uint32 // from 1, in the plan's order
	Name        string
	Incarnation uint32 // number of starts; 0 before the first
	// Build, Options, Filter and Registry are those of the current incarnation. While the node is down, they are those
	// of the last one.
	Build    *engine.Build
	Options  node.Options
	Filter   *engine.CapabilityFilter
	Registry *node.Registry
	// Clock is the clock of the current or last incarnation.
	Clock plan.Clock
	// Up is true between a start and the next stop or crash. Draining is true while the node stops gracefully, and
	// Paused while it is frozen.
	Up, Draining, Paused bool
	// Refusal says why the node does not start on the store's schema. It is empty if it starts.
	Refusal string
	// Core reports whether the node is up in recovery. This is the case if it is started at least once and its last
	// schedule step is not stop or remove.
	Core bool
}
