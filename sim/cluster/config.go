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
	// Seed determines every choice, unless Chooser is set.
	Seed uint64
	// Chooser decides what the plan leaves open; nil means sim.Random(Seed).
	Chooser sim.Chooser
	// Start is the kernel time at which the run begins; 0 means sim.Epoch.
	Start sim.Time
	// Builds are the builds that plans may name; nil means engine.ShippedBuilds().
	Builds []*engine.Build
	// Releases starts the nodes that run a released runtime. If it is nil, Run refuses plans with such nodes.
	Releases Releases
	// Store makes the run's store, whose clock must show startMs or less; nil means durosim's own.
	// docs/clusters-over-a-provider.md describes the checks of such a store.
	Store func(startMs int64) (*ForeignStore, error)
	// Handlers registers the orchestrations and activities that a node of a build ships with; nil means
	// workload.Handlers. It is called at each start of a node, and once before the run for each build that a node will
	// run. A build that the plan declares ("build 3.1.0 like 2.0.0") ships the handlers of the build after "like", so b
	// is 2.0.0 there. To give versions different code, list them in Builds, as workload.Deploy does.
	Handlers func(r *node.Registry, b *engine.Build) error
	// Monitor watches the run; nil watches nothing. The function makes a new monitor for the run.
	Monitor func(w *World) Monitor
	// Narrator, if not nil, receives a line for each noteworthy event. Setting it makes keys readable, and changes
	// nothing else.
	Narrator func(Line)
	// Recording, if not nil, receives the choices (see sim.Record), with readable keys.
	Recording *sim.Recording
	// DoubleCheck computes every turn twice, which changes nothing else in a run. If the results differ, the handler is
	// not deterministic, which violates "handler-deterministic", of class handler.
	DoubleCheck bool
	// KeepTrace keeps a running hash for each trace record, for comparing two runs.
	KeepTrace bool
	// Memory is memory for the run to reuse; if nil, the run allocates its own.
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
	// Open reports whether any obligation is neither met nor overdue, and the store time after which the first such
	// obligation becomes overdue. If nothing is due in the store, the next call comes after the next event or after
	// that time.
	Open(nowMs int64) (open bool, untilMs int64)
	// Finish is called once, after the last phase.
	Finish()
	// Violations returns the violations found, in that order.
	Violations() []Violation
	// Coverage returns the points reached, each with its count, sorted by name.
	Coverage() []Point
}

// HandleWatcher is a Monitor that watches the calls themselves: it receives every handle of the store that a run makes,
// before faults decorate it, and returns the handle to use instead, which must give the same answers.
type HandleWatcher interface {
	WatchHandle(p engine.Provider, codec engine.Codec) engine.Provider
}

// Class is the kind of a violation: it says which part is at fault.
type Class string

// The classes of violations.
const (
	ClassSafety   Class = "safety"
	ClassLiveness Class = "liveness"
	// ClassHandler marks a user's handler that is not deterministic.
	ClassHandler Class = "handler"
	// ClassPlan marks work that did not end as the plan expects, although the contract may have been kept.
	ClassPlan Class = "plan"
	// ClassInternal marks a bug in durosim: the shadow store differs from the real one, or a run has no events left.
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
	// Message describes what was expected and what was seen, with the evidence.
	Message string
	// Expectation is the text of the scenario's expectation that was violated; empty for other properties.
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
	Calls      uint64     // made by nodes; a parked fetch counts once
	Virtual    int64      // virtual milliseconds
	Violations []Violation
	Coverage   []Point
	// Exhausted is set if the step budget ended the run, which also violates "run-ends".
	Exhausted bool
	// FinalStates are those of the plan's instances, then of its preloaded histories, both in the plan's order.
	FinalStates []FinalState
	// Help lists, in order, the actions of calm and relief beyond the plan. Some work may have ended only because of
	// them.
	Help []Help
	// Fates describe how the plan's instances ended, in the plan's order. Waits are the periods in which work waited
	// for a build, ordered by their start. Both come from the monitor, if it is a FateTeller.
	Fates []Fate
	Waits []Wait
	// Counters are summed over all incarnations of all nodes.
	Counters Counters
	// Marks are the running hashes of the trace, if they were kept.
	Marks []sim.Mark
}

// Counters count what nodes did, as their metrics do.
type Counters = machine.Counters

// FinalState is the state that an instance has reached. All fields but Instance are zero if the store does not know the
// instance.
type FinalState struct {
	Instance  string
	Status    engine.Status
	Execution uint64
	Output    string
	Pin       *engine.Version
}

// Line is one line of a run's narration.
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
