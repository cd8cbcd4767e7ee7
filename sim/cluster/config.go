package cluster

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim"
)

// Config is everything that Run depends on.
type Config struct {
	Plan *Plan
	Seed uint64
	// Chooser decides what the plan leaves open; nil is sim.Random(Seed).
	Chooser sim.Chooser
	// Builds are the builds that plans may name; nil is engine.ShippedBuilds().
	Builds []*engine.Build
	// Handlers registers the orchestrations and activities that a node of a build ships with; nil is ShippedHandlers.
	Handlers func(r *node.Registry, b *engine.Build) error
	// Monitor watches the run; nil watches nothing. It is made by whoever calls Run, for one run.
	Monitor func(w *World) Monitor
	// Narrator, if not nil, is handed a line for each thing worth telling: it turns recording of names on.
	Narrator func(Line)
	// Recording, if not nil, receives every choice that was not the benign one.
	Recording *sim.Recording
	// KeepTrace keeps a running hash for each trace record, for comparing two runs.
	KeepTrace bool
}

// Monitor watches a run: properties are monitors. Everything is called by the one goroutine of the run.
type Monitor interface {
	engine.Sink
	// Record is handed everything that happens outside the store.
	Record(r *Record)
	// AfterStep is called when a kernel event has been carried out completely.
	AfterStep()
	// Open says whether some obligation is neither met nor overdue, and the store time by which the last will be.
	Open(nowMs int64) (open bool, untilMs int64)
	// Finish is called once, after the last phase.
	Finish()
	// Violations are what was found, in the order found.
	Violations() []Violation
	// Coverage are the points that were reached, with how often, sorted by name.
	Coverage() []Point
}

// Class is the class of a violation.
type Class string

// The classes of violations.
const (
	ClassSafety   Class = "safety"
	ClassLiveness Class = "liveness"
	// ClassHandler is a user's handler that is not deterministic.
	ClassHandler Class = "handler"
	// ClassInternal is a mistake of durosim: the shadow store differs from the real one, a run out of its budget.
	ClassInternal Class = "internal"
)

// Violation says that something that must hold did not.
type Violation struct {
	Property  string
	Class     Class
	Step      uint64
	VirtualMs int64 // since the start of the run
	Node      string
	Instance  string
	WorkItem  string
	// Message is what was expected and what was seen, with the evidence.
	Message string
}

// Point is a coverage point that was reached.
type Point struct {
	Name  string
	Count uint64
}

// Result is what a run came to.
type Result struct {
	Seed       uint64
	Digest     sim.Digest
	Steps      uint64
	Turns      uint64
	Calls      uint64
	Virtual    int64 // virtual milliseconds
	Violations []Violation
	Coverage   []Point
	// Exhausted says that the step budget ended the run; that is a violation of class internal, too.
	Exhausted bool
	// Outcomes are how the plan's instances ended, in the plan's order.
	Outcomes []Outcome
	Counters node.Counters
	// Marks are the running hashes of the trace, if they were kept.
	Marks []sim.Mark
}

// Outcome is how an instance ended.
type Outcome struct {
	Instance  string
	Status    engine.Status
	Execution uint64
	Output    string
	Pin       *engine.Version
}

// Line is one line of a run told as a story.
type Line struct {
	At   sim.Time
	Ms   int64 // virtual milliseconds since the start
	Step uint64
	Node string // name of the node, "client", "store", "world"
	Text string
	// Build is the node's build, empty for others.
	Build string
	// Important lines survive a short telling.
	Important bool
}
