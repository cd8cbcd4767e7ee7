package cluster

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/internal/machine"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/released"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
)

// Config is everything that Run depends on.
type Config struct {
	// Plan is the plan to carry out. It is only read, so many runs may share one.
	Plan *plan.Plan
	// Seed drives every choice, unless Chooser does.
	Seed uint64
	// Chooser decides what the plan leaves open; nil is sim.Random(Seed).
	Chooser sim.Chooser
	// Start is the kernel time at which the run begins; 0 is sim.Epoch.
	Start sim.Time
	// Builds are the builds that plans may name; nil is engine.ShippedBuilds().
	Builds []*engine.Build
	// Releases starts the nodes that run a released runtime; nil refuses plans with such nodes.
	Releases Releases
	// Store makes the store of the run, whose clock shows startMs or less; nil is durosim's own. docs/clusters-over-a-provider.md
	// says what is checked then.
	Store func(startMs int64) (*ForeignStore, error)
	// Handlers registers the orchestrations and activities that a node of a build ships with; nil is workload.Handlers. It is
	// called at each start of a node, and once before the run for each build that a node will run. A build that the plan
	// declares ("build 3.1.0 like 2.0.0") ships what the build that it is like ships: b is that one, 2.0.0. Versions of code
	// of your own are builds of Builds, which workload.Deploy makes.
	Handlers func(r *node.Registry, b *engine.Build) error
	// Monitor watches the run; nil watches nothing. The caller of Run makes it for that run alone.
	Monitor func(w *World) Monitor
	// Narrator, if not nil, receives a line for each noteworthy event. Setting it makes keys readable, and changes
	// nothing else.
	Narrator func(Line)
	// Recording, if not nil, receives the choices (see sim.Record), with readable keys.
	Recording *sim.Recording
	// DoubleCheck computes every turn twice, which changes nothing else in a run. If the two differ, the handler is not
	// a function of its history: a violation of "handler-deterministic", of class handler.
	DoubleCheck bool
	// KeepTrace keeps a running hash for each trace record, for comparing two runs.
	KeepTrace bool
	// Memory is room that the run uses; nil is room of its own.
	Memory *Memory
}

// Releases starts nodes that run a released runtime; realnode.Releases makes them.
type Releases = released.Runtimes

// Monitor watches a run: properties are monitors. The run calls every method from its one goroutine.
type Monitor interface {
	observe.Sink
	// Record receives everything that happens outside the store.
	Record(r *Record)
	// AfterStep is called after each step: a kernel event that changed something or made a call.
	AfterStep()
	// Open reports whether some obligation is neither met nor overdue, and the store time after which the first of them
	// becomes overdue. If nothing is due in the store, it is called again after the next event, or after that time.
	Open(nowMs int64) (open bool, untilMs int64)
	// Finish is called once, after the last phase.
	Finish()
	// Violations returns the violations found, in that order.
	Violations() []Violation
	// Coverage returns the points reached, each with its count, sorted by name.
	Coverage() []Point
}

// HandleWatcher is a Monitor that watches the calls themselves: it receives every handle of the store that a run makes,
// before faults decorate it, and returns the handle to use in its place, which must answer alike.
type HandleWatcher interface {
	WatchHandle(p engine.Provider, codec engine.Codec) engine.Provider
}

// Class is the class of a violation.
type Class string

// The classes of violations.
const (
	ClassSafety   Class = "safety"
	ClassLiveness Class = "liveness"
	// ClassHandler marks a user's handler that is not deterministic.
	ClassHandler Class = "handler"
	// ClassPlan marks work that did not end as the plan expects, although the contract may have been kept.
	ClassPlan Class = "plan"
	// ClassInternal marks a bug in durosim: the shadow store differs from the real one, or a run is out of events.
	ClassInternal Class = "internal"
)

// Violation is one breach of a property that must hold.
type Violation struct {
	Property  string
	Class     Class
	Step      uint64
	VirtualMs int64 // since the start of the run
	Node      string
	Instance  string
	WorkItem  string
	// Message tells what was expected and what was seen, with the evidence.
	Message string
	// Expectation is the text of the scenario's expectation that was violated; empty for all other properties.
	Expectation string
}

// Rule returns the id of the violated property and, since a scenario may have many expectations, the text of that one.
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

// Result is the result of a run.
type Result struct {
	Seed       uint64
	Digest     sim.Digest // of the whole trace
	Steps      uint64     // kernel events that changed something or made a call
	Turns      uint64     // computed by nodes, committed or not
	Calls      uint64     // that nodes made; a fetch that was parked counts once
	Virtual    int64      // virtual milliseconds
	Violations []Violation
	Coverage   []Point
	// Exhausted is set if the step budget ended the run, which also violates "run-ends".
	Exhausted bool
	// FinalStates are those of the plan's instances, then of its preloaded histories, both in the plan's order.
	FinalStates []FinalState
	// Help lists, in order, what calm and relief did beyond the plan: work may have ended only thanks to it.
	Help []Help
	// Fates tell what became of the plan's instances, in the plan's order; Waits are the times for which work waited for a
	// build, ordered by their start. Both come from the monitor, if it is a FateTeller.
	Fates []Fate
	Waits []Wait
	// Counters are the sums over all incarnations of all nodes.
	Counters Counters
	// Marks are the running hashes of the trace, if they were kept.
	Marks []sim.Mark
}

// Counters count what nodes did, as their metrics do.
type Counters = machine.Counters

// FinalState is the state that an instance has reached. All fields but Instance are zero if the store never heard of it.
type FinalState struct {
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
	// Important lines are kept in a short narration.
	Important bool
}
