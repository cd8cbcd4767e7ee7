package cluster

import (
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim/program"
)

// Plan is everything that a run will do, as data. Times are virtual, since the start of the run. A Plan is never changed
// by a run; whoever mutates one clones it first.
type Plan struct {
	Name  string
	Nodes []NodePlan
	// Schedule is executed in order of At; steps due at the same time in the order given.
	Schedule []Step
	// Programs are orchestrations that every node has beside its handlers; instances run them by name.
	Programs  program.Set
	Instances []InstancePlan
	Histories []SeededHistory
	Probes    []Probe
	Faults    faults.Plan
	Strategy  Strategy
	Profile   Profile
	// Turbulence is how long schedule and faults last: every step comes before its end. 0 is until one second after the
	// last schedule step or client action.
	Turbulence time.Duration
	// StepBudget bounds the run; 0 is DefaultStepBudget.
	StepBudget uint64
	// Bugs are the seeded bugs that are switched on.
	Bugs []faults.BugID
}

// Strategy is how work that a node cannot run is routed.
type Strategy string

// The strategies, by which work that a node cannot run is routed. This module runs filter so far; the others are refused.
const (
	StrategyFilter     Strategy = "filter"
	StrategyBounce     Strategy = "bounce"
	StrategySweeper    Strategy = "sweeper"
	StrategyDeadletter Strategy = "deadletter"
)

// Profile is whose decisions the nodes follow.
type Profile string

// The profiles of behaviour. The second is every switch of faults.ProfileSwitches at once.
const (
	ProfileContract Profile = "contract"
	ProfileDuroxide Profile = "duroxide-0.1.26"
)

// NodePlan is a place that runs a build. A node starts at once unless it is absent or its first step is to start it.
type NodePlan struct {
	Name    string
	Build   string
	Options []Setting
	// Handlers, if not nil, are the orchestrations that the node registers ("Name@1.0.0"); nil is what its build ships.
	Handlers []string
	// Absent nodes are started by an add step.
	Absent bool
}

// Setting is a node option by its contract name (see node.Options.Set).
type Setting struct{ Name, Value string }

// Verb is the kind of a schedule step.
type Verb string

// The verbs of a schedule (docs/scenario-format.md#steps-of-a-schedule).
const (
	VerbUpgrade    Verb = "upgrade"    // graceful stop, then start Build
	VerbRollback   Verb = "rollback"   // the same, to an older build
	VerbStop       Verb = "stop"       // graceful
	VerbCrash      Verb = "crash"      // at once, losing what is in memory
	VerbStart      Verb = "start"      // after stop or crash
	VerbPause      Verb = "pause"      // freeze for For
	VerbAdd        Verb = "add"        // start an absent node for the first time
	VerbRemove     Verb = "remove"     // graceful stop, for good
	VerbWiden      Verb = "widen"      // graceful stop and restart with Range
	VerbNarrow     Verb = "narrow"     // the same
	VerbRegister   Verb = "register"   // register Handler on the running node
	VerbDeregister Verb = "deregister" // deregister Handler
	VerbMark       Verb = "mark"       // no effect: begins the named part Mark of the story, for expectations
)

// starts says whether a node runs after the step that it was not told to run before.
func (v Verb) starts() bool {
	switch v {
	case VerbUpgrade, VerbRollback, VerbWiden, VerbNarrow, VerbStart, VerbAdd:
		return true
	}
	return false
}

// Step is one step of a schedule. Fields that the verb does not name are zero.
type Step struct {
	At      time.Duration
	Verb    Verb
	Node    string
	Build   string
	Range   *engine.VersionRange
	Handler string
	For     time.Duration
	// Mark names the part of the story that begins with this step; parts go on until the next one.
	Mark string
}

// InstancePlan is an instance that a client starts, and what the client does with it later.
type InstancePlan struct {
	ID            string
	Orchestration string
	// Version is the handler version to ask for, empty for "by policy".
	Version string
	Input   string
	StartAt time.Duration
	Actions []Action
	// Expect is how the instance must end: "completed", "failed", "eternal" (goes on until it is cancelled),
	// "poison" (its handler exists nowhere), "any". Empty is "completed".
	Expect string
}

// Action is something that a client does to an instance.
type Action struct {
	At   time.Duration
	Verb ActionVerb
	// Name, Topic and Data are an event's; Data is a cancel's reason. Forced and Alone are a
	// deletion's.
	Name, Topic, Data string
	Forced, Alone     bool
}

// ActionVerb is the kind of an action.
type ActionVerb string

// What clients do. A raised event is sent in the generation that the instance's open wait asks for, the old one if
// nothing waits.
const (
	ActionRaise   ActionVerb = "raise"
	ActionEnqueue ActionVerb = "enqueue"
	ActionCancel  ActionVerb = "cancel"
	ActionDelete  ActionVerb = "delete" // with its tree; refused while any of it runs, unless Forced; Alone, refused if it has a tree
	ActionPrune   ActionVerb = "prune"  // every execution but the current one and what runs
)

// SeededHistory is an execution that exists before the run, as an earlier cluster may have left it.
type SeededHistory struct {
	Instance      string
	Orchestration string
	Version       string
	// Pin is the execution's pin; nil leaves it unpinned.
	Pin *engine.Version
	// Shape says what the stored events are like.
	Shape HistoryShape
	// KickAt is when a client sends it an event, so that there is something to fetch; 0 is at the start.
	KickAt time.Duration
}

// HistoryShape is what a seeded history looks like.
type HistoryShape string

// The shapes of seeded histories.
const (
	ShapeWaiting     HistoryShape = "waiting"      // healthy, waits for the event that the kick sends
	ShapeUnknownKind HistoryShape = "unknown-kind" // holds an event kind that no build knows
	ShapeNewKind     HistoryShape = "new-kind"     // holds a kind that builds read from 2.0.0 on
	ShapeLegacy      HistoryShape = "legacy"       // holds the legacy kind of 0.8.0
	ShapeCorrupt     HistoryShape = "corrupt"      // holds bytes that are not JSON
)
