package plan

import (
	"fmt"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/planterm"
	"github.com/durosim/durosim/internal/probe"
	"github.com/durosim/durosim/internal/program"
)

// Plan describes everything that a run will do, as data. Times are virtual, counted from the start of the run. A run
// never changes its Plan; clone a Plan before changing it.
type Plan struct {
	Name string
	// Builds are the builds that the plan declares in addition to the known ones.
	Builds []Build
	Nodes  []Node
	// Schedule is executed in order of At; steps due at the same time are executed in the order given.
	Schedule []Step
	// Programs are orchestrations that every node has in addition to its handlers; instances run them by name.
	Programs  Programs
	Instances []Instance
	Histories []History
	// Contents, if not nil, is the content of the store at the start.
	Contents *Contents
	Probes   []Probe
	Faults   faults.Plan
	Store    StoreOptions
	Strategy Strategy
	Patience Patience
	Profile  Profile
	// Contract is the release whose contract the run must keep where engine.Contracts differ; empty means only the
	// decisions of docs/contract-decisions.md.
	Contract string
	// Turbulence is how long schedule and faults last; every step must come before its end. 0 means until one second
	// after the last schedule step or client action.
	Turbulence time.Duration
	// Until, if not 0, is when the run ends, even if work is still open. Unaided means that the run gets no help after
	// turbulence and ends when nothing more can happen. With either, there is no calm and no relief: clients raise only
	// the plan's events, and no node is started or becomes another build.
	Until   time.Duration
	Unaided bool
	// Relief is how to free work that no live node admits when calm ends.
	Relief Relief
	// StepBudget bounds the steps of the run; 0 means 400,000 plus 5,000 for each instance beyond 64.
	StepBudget uint64
	// TurnBudget bounds the turns of one execution; 0 means 1000, or twenty times the most turns that an ended execution of
	// the run took, whichever is more.
	TurnBudget uint64
	// Bugs are the planted bugs that are switched on.
	Bugs []faults.BugID
}

// Relief is a way of freeing work that no live node admits. With the zero value, a node becomes the build that the work
// is pinned to, and work that no build admits is deleted, so no work is stranded and no node replays beyond its own
// build. "widen" makes every node admit every pin, as the documentation of release 0.1.26 recommended and that of
// release 0.1.32 forbids (docs/contract/runtime.md#r15.2).
type Relief = planterm.Relief

// Probe is an actor that makes raw provider calls that nodes never make (docs/scenario-format.md has its syntax).
type Probe = probe.Probe

// Strategy is a way of routing work that a node cannot run: "filter", which is the contract's and the default, "bounce",
// "sweeper" or "deadletter" (docs/strategies.md).
type Strategy = planterm.Strategy

// Patience is how long the strategies sweeper and deadletter let work wait that no node can run, and the interval at
// which they look for such work. A zero field means the default.
type Patience struct{ After, Every time.Duration }

// Or returns the patience with its defaults filled in: 30 s, and an interval of 5 s.
func (p Patience) Or() Patience {
	if p.After == 0 {
		p.After = 30 * time.Second
	}
	if p.Every == 0 {
		p.Every = 5 * time.Second
	}
	return p
}

// Profile selects the release whose behaviour the nodes follow where it differs from the contract: "contract", the
// default, or "duroxide-0.1.26" or "duroxide-0.1.32", which turn on all switches of faults.Profile for that release.
type Profile = planterm.Profile

// Node is a node of the cluster. It starts at once unless it is absent or its first step starts it.
type Node struct {
	Name    string
	Build   string
	Options []Setting
	// Clock is the node's clock.
	Clock Clock
	// Handlers, if not nil, are the orchestrations that the node registers ("Name@1.0.0"); nil means those that its
	// build ships.
	Handlers []string
	// Absent nodes are started by an add step.
	Absent bool
}

// Programs are orchestrations as data, which every node of a plan has. Scenarios define them, and package gen generates
// them.
type Programs = program.Set

// Setting is a node option by its contract name (see node.Options.Set).
type Setting struct{ Name, Value string }

// Verb is the kind of a schedule step.
type Verb string

// The verbs of a schedule (docs/scenario-format.md#steps-of-a-schedule).
const (
	VerbUpgrade    Verb = "upgrade"    // graceful stop, then start Build
	VerbRollback   Verb = "rollback"   // like upgrade, to an older build
	VerbStop       Verb = "stop"       // graceful
	VerbCrash      Verb = "crash"      // at once, with loss of memory
	VerbStart      Verb = "start"      // after stop or crash
	VerbPause      Verb = "pause"      // freeze for For
	VerbAdd        Verb = "add"        // start an absent node for the first time
	VerbRemove     Verb = "remove"     // permanent graceful stop
	VerbWiden      Verb = "widen"      // graceful stop and restart with Range
	VerbNarrow     Verb = "narrow"     // like widen, with a narrower Range
	VerbRegister   Verb = "register"   // register Handler on the running node
	VerbDeregister Verb = "deregister" // deregister Handler
	VerbMark       Verb = "mark"       // begins the part Mark of the story, for expectations; no other effect
)

// Starts reports whether the step starts or restarts its node.
func (v Verb) Starts() bool {
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
	// Mark names the part of the story that begins with this step; a part lasts until the next one begins.
	Mark string
}

// Instance is an instance that a client starts, and what the client does with it later.
type Instance struct {
	ID            string
	Orchestration string
	// Version is the handler version to ask for; empty leaves the choice to the policy.
	Version string
	Input   string
	StartAt time.Duration
	Actions []Action
	// Existing means that the plan's Contents already have the instance, so no client starts it.
	Existing bool
	// Unaided means that only the plan sends anything to the instance and its children: calm neither raises the events that
	// they wait for nor enqueues the messages that they ask for.
	Unaided bool
	// Expect is how the instance must end; empty means EndCompleted.
	Expect End
}

// Action is something that a client does to an instance.
type Action struct {
	At   time.Duration
	Verb ActionVerb
	// Name, Topic and Data belong to an event; for a cancel, Data is the reason. Forced and Alone
	// belong to a deletion.
	Name, Topic, Data string
	Forced, Alone     bool
}

// ActionVerb is the kind of an action.
type ActionVerb string

// The actions of clients. A raised event has the generation of the instance's open wait, or the first generation if
// there is none.
const (
	ActionRaise   ActionVerb = "raise"
	ActionEnqueue ActionVerb = "enqueue"
	ActionCancel  ActionVerb = "cancel"
	ActionDelete  ActionVerb = "delete" // with its tree, refused while any of it runs unless Forced; Alone, without it
	ActionPrune   ActionVerb = "prune"  // every execution except the current one and running ones
)

// History is an execution that exists before the run, as an earlier cluster may have left it.
type History struct {
	Instance      string
	Orchestration string
	Version       string
	// Pin is the execution's pin; nil leaves it unpinned.
	Pin *engine.Version
	// Shape is the form of the stored events.
	Shape Shape
	// Variant chooses how a garbled or disagreeing history is wrong, from 1; 0 means 1.
	Variant int
	// KickAt is when a client sends the instance an event, so that there is something to fetch; 0 means at the start.
	KickAt time.Duration
}

// Shape is the form of a preloaded history: "waiting" (healthy, for the event that the kick sends), "unknown-kind" (with an
// event kind that no build knows), "new-kind" (one that builds read from 2.0.0 on), "legacy" (that of 0.8.0), "corrupt"
// (bytes that are not JSON), "garbled" (a text that no codec reads), "respelled" (healthy, in the JSON of another writer) or
// "disagreeing" (the code asks for something else).
type Shape = planterm.Shape

// Handler returns the name and version of the orchestration that the preloaded history belongs to.
func (h *History) Handler() (name, version string) {
	name, version = h.Orchestration, h.Version
	if name == "" {
		name, version = "Cancellable", preloadedVersion
		if h.Shape == planterm.ShapeNewKind {
			name, version = "ProcessOrder", "2.0.0"
		}
		switch h.Shape {
		case planterm.ShapeRespelled:
			name = "Archivist"
		case planterm.ShapeDisagreeing:
			name = "Revised"
		}
	}
	if version == "" {
		version = preloadedVersion
	}
	return name, version
}

// CustomStatus returns the custom status that the instance has, nil if it has none.
func (h *History) CustomStatus() *string {
	if h.Shape != planterm.ShapeRespelled {
		return nil
	}
	status := planterm.HardText
	return &status
}

// preloadedVersion is the handler version of preloaded histories that name none.
const preloadedVersion = "1.0.0"

// String returns the step as a scenario file spells it.
func (s *Step) String() string {
	switch s.Verb {
	case VerbMark:
		return "part " + s.Mark
	case VerbUpgrade, VerbRollback:
		return fmt.Sprintf("%s %s to %s", s.Verb, s.Node, s.Build)
	case VerbWiden, VerbNarrow:
		return fmt.Sprintf("%s %s to %s", s.Verb, s.Node, s.Range)
	case VerbPause:
		return fmt.Sprintf("%s %s for %v", s.Verb, s.Node, s.For)
	case VerbRegister, VerbDeregister:
		return fmt.Sprintf("%s %s on %s", s.Verb, s.Handler, s.Node)
	}
	return fmt.Sprintf("%s %s", s.Verb, s.Node)
}

// End is the way in which an instance must end: "completed", "failed", "eternal" (it runs until it is cancelled),
// "poison" (it fails because no node has its handler) or "any".
type End = planterm.End
