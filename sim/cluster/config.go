package cluster

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
)

// Config is everything that Run depends on.
type Config struct {
	// Plan is what to carry out. It is only read, so many runs may share one.
	Plan *plan.Plan
	// Seed drives every choice, unless Chooser does.
	Seed uint64
	// Chooser decides what the plan leaves open; nil is sim.Random(Seed).
	Chooser sim.Chooser
	// Builds are the builds that plans may name; nil is engine.ShippedBuilds().
	Builds []*engine.Build
	// Releases starts the nodes that run a released runtime; nil refuses plans that have some.
	Releases Releases
	// Handlers registers the orchestrations and activities that a node of a build ships with; nil is workload.Handlers. It is
	// called at each start of a node, and once before the run for each build that a node will run.
	Handlers func(r *node.Registry, b *engine.Build) error
	// Monitor watches the run; nil watches nothing. It is made by whoever calls Run, for one run.
	Monitor func(w *World) Monitor
	// Narrator, if not nil, is handed a line for each thing worth telling. It turns the names of keys on, and changes
	// nothing else.
	Narrator func(Line)
	// Recording, if not nil, receives the choices (see sim.Record), with readable keys.
	Recording *sim.Recording
	// DoubleCheck computes every turn twice, which changes nothing of a run. Where the two differ the handler is not a
	// function of its history: a violation of PropertyHandler, of class handler.
	DoubleCheck bool
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
	// Open says whether some obligation is neither met nor overdue, and the store time after which the first of them will
	// be overdue. Where nothing is due in the store, it is asked again when something has happened, or after that time.
	Open(nowMs int64) (open bool, untilMs int64)
	// Finish is called once, after the last phase.
	Finish()
	// Violations are what was found, in the order found.
	Violations() []Violation
	// Coverage are the points that were reached, with how often, sorted by name.
	Coverage() []Point
}

// HandleWatcher is a Monitor that watches the calls themselves: it is given every handle of the store that a run makes,
// before faults decorate it, and returns what is used in its place. That must answer as the handle does.
type HandleWatcher interface {
	WatchHandle(p engine.Provider, codec engine.Codec) engine.Provider
}

// Class is the class of a violation.
type Class string

// The classes of violations.
const (
	ClassSafety   Class = "safety"
	ClassLiveness Class = "liveness"
	// ClassHandler is a user's handler that is not deterministic.
	ClassHandler Class = "handler"
	// ClassPlan is work that did not end as the plan expects, although the contract may have been kept.
	ClassPlan Class = "plan"
	// ClassInternal is a mistake of durosim: the shadow store differs from the real one, a run that is out of events.
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
	// Expectation is the text of the scenario's expectation that was violated; empty for all other properties.
	Expectation string
}

// Rule is what was violated: the id of the property and, since a scenario may have many expectations, the text of that one.
func (v Violation) Rule() string {
	if v.Expectation == "" {
		return v.Property
	}
	return v.Property + " " + v.Expectation
}

// Point is a coverage point that was reached.
type Point struct {
	Name  string
	Count uint64
}

// Result is what a run came to.
type Result struct {
	Seed       uint64
	Digest     sim.Digest // of the whole trace
	Steps      uint64     // kernel events that changed something or made a call
	Turns      uint64     // computed by nodes, committed or not
	Calls      uint64     // that nodes made; a fetch that was parked counts once
	Virtual    int64      // virtual milliseconds
	Violations []Violation
	Coverage   []Point
	// Exhausted says that the step budget ended the run; that is a violation of PropertyRunEnds, too.
	Exhausted bool
	// Outcomes are how the plan's instances ended, then its seeded histories, both in the plan's order.
	Outcomes []Outcome
	// Help is what calm and relief did that the plan does not say, in order: what ended may have ended only thanks to it.
	Help []Help
	// Fates are what became of the plan's instances, in the plan's order; Waits are the times for which work waited for a
	// build, in order of their beginnings. Both are the monitor's, if it is a FateTeller.
	Fates []Fate
	Waits []Wait
	// Counters are the sums over all incarnations of all nodes.
	Counters node.Counters
	// Marks are the running hashes of the trace, if they were kept.
	Marks []sim.Mark
}

// Outcome is how an instance ended, or how far it came. All but Instance is zero if the store never heard of it.
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
	Node string // name of the node, or "world" for clients, store and world
	Text string
	// Build is the node's build, empty for others.
	Build string
	// Important lines survive a short telling.
	Important bool
}
