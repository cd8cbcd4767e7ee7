package plan

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim/program"
)

// Plan describes everything that will happen in a run, as data. Times are virtual and count from the start of the run.
// A run never modifies its Plan; Clone a Plan before you modify it.
//
// Tags say how package shrink makes plans smaller. Elements of lists are left out, except for lists with "keep". A
// field with "drop" is set to its zero value, and one with "number" is made simpler, down to the least value that it
// names; a time of one unit, such as 1m, is short enough if it is "roomy".
type Plan struct {
	Name string
	// Builds are declared by the plan in addition to the known builds.
	Builds []Build
	Nodes  []Node
	// Schedule is executed in order of At. Steps due at the same time are executed in the order given.
	Schedule []Step
	// Programs are orchestrations that every node has in addition to its handlers. Instances run them by name.
	Programs  Programs
	Instances []Instance
	Histories []History
	// Contents, if not nil, is what the store contains at the start.
	Contents *Contents
	Probes   []Probe
	Faults   faults.Plan
	Store    StoreOptions
	// Clients is the build of clients and operators' tools. If it is empty, it is the newest build in the run.
	Clients  string `shrink:"drop"`
	Strategy Strategy
	Patience Patience
	Profile  Profile
	// Contract is the release whose contract the run must keep where engine.Contracts differ. If it is empty, only the
	// decisions in docs/contract-decisions.md apply.
	Contract string `shrink:"drop"`
	// FaultPhase is how long the schedule and faults last; all steps must come before it ends. 0 means until one second
	// after the last schedule step or client action.
	FaultPhase time.Duration `shrink:"number 0 roomy"`
	// Until, if not 0, is when the run ends, even if work is still unfinished. Unaided means that the run gets no help
	// after the fault phase and ends when nothing more can happen. Either of them disables recovery and rescue: clients
	// raise only the plan's events, and no node is started or given another build.
	Until   time.Duration
	Unaided bool
	// Rescue determines how to free work that no live node admits when recovery ends.
	Rescue Rescue
	// StepBudget limits the steps of the run. 0 means 400,000, plus 5,000 for each instance beyond 64.
	StepBudget uint64
	// TurnBudget limits the turns of each execution, and the executions of each instance that must end by itself. 0
	// means the larger of 400 and twenty times the most that any execution, or instance, of the run took that has
	// ended.
	TurnBudget uint64
	// Panics means that a user's code may panic. Taken means that code must take each event, message and cancel, and
	// TakenOrLate that no event may come before the wait for it.
	Panics      bool
	Taken       bool `shrink:"keep"`
	TakenOrLate bool `shrink:"keep"`
	// Bugs lists the planted bugs that are switched on.
	Bugs []faults.BugID `shrink:"keep"`
}

// Clone returns a copy of p that shares nothing with it but Contents, which nobody modifies.
func (p *Plan) Clone() *Plan {
	c := *p
	c.Contents = nil
	unshare(reflect.ValueOf(&c).Elem())
	c.Contents = p.Contents
	return &c
}

func unshare(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			unshare(v.Field(i))
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(c, v)
		for i := range c.Len() {
			unshare(c.Index(i))
		}
		v.Set(c)
	case reflect.Pointer:
		if !v.IsNil() {
			c := reflect.New(v.Type().Elem())
			c.Elem().Set(v.Elem())
			unshare(c.Elem())
			v.Set(c)
		}
	}
}

// Patience configures the strategies sweeper and deadletter. After is how long they leave work that no node can run,
// and Every is how often they look for such work. A zero field means the default.
type Patience struct {
	After time.Duration `shrink:"drop"`
	Every time.Duration `shrink:"drop"`
}

// Or returns the patience with defaults filled in: After is 30 s and Every is 5 s.
func (p Patience) Or() Patience {
	return Patience{After: cmp.Or(p.After, 30*time.Second), Every: cmp.Or(p.Every, 5*time.Second)}
}

// Node is a node of the cluster. It starts immediately unless it is absent or its first step starts it.
type Node struct {
	Name    string
	Build   string
	Options []Setting
	// Clock is the node's clock.
	Clock Clock `shrink:"drop"`
	// Handlers, if not nil, lists the orchestrations that the node registers ("Name@1.0.0"). Nil means those shipped by
	// its build.
	Handlers []string `shrink:"drop"`
	// Absent nodes are started by an add step.
	Absent bool `shrink:"drop"`
}

// Programs are orchestrations defined as data, which all nodes in the plan have. Scenarios define them, and package gen
// generates them.
type Programs = program.Set

// Setting is a node option, identified by its name in the contract (see node.Options.Set).
type Setting struct{ Name, Value string }

// Verb is the kind of a schedule step.
type Verb string

// The verbs of a schedule (docs/scenario-format.md#steps-of-a-schedule).
const (
	VerbUpgrade    Verb = "upgrade"    // graceful stop, then start Build
	VerbRollback   Verb = "rollback"   // same as upgrade, but to an older build
	VerbStop       Verb = "stop"       // graceful
	VerbCrash      Verb = "crash"      // immediate stop with loss of memory
	VerbStart      Verb = "start"      // after stop, crash or remove
	VerbPause      Verb = "pause"      // freeze for For
	VerbAdd        Verb = "add"        // start an absent node for the first time
	VerbRemove     Verb = "remove"     // graceful stop
	VerbWiden      Verb = "widen"      // graceful stop and restart with Range
	VerbNarrow     Verb = "narrow"     // like widen, with a narrower Range
	VerbRegister   Verb = "register"   // register Handler on the running node
	VerbDeregister Verb = "deregister" // deregister Handler
	VerbMigrate    Verb = "migrate"    // undo migrations until the store's schema is Schema
	VerbActivate   Verb = "activate"   // let all nodes run Build, as soon as all can
	VerbMark       Verb = "mark"       // begin the part Mark of the story, for expectations; no other effect
)

// OfNode reports whether a step with the verb is about a node.
func (v Verb) OfNode() bool { return v != VerbMark && v != VerbMigrate && v != VerbActivate }

// Starts reports whether the step starts or restarts its node.
func (v Verb) Starts() bool {
	return slices.Contains([]Verb{VerbUpgrade, VerbRollback, VerbWiden, VerbNarrow, VerbStart, VerbAdd}, v)
}

// StartsLater reports whether the first step of a node starts it, so that it is down until then.
func (p *Plan) StartsLater(node string) bool {
	var first *Step
	for i := range p.Schedule {
		if s := &p.Schedule[i]; s.Node == node && s.Verb.OfNode() && (first == nil || s.At < first.At) {
			first = s
		}
	}
	return first != nil && (first.Verb == VerbStart || first.Verb == VerbAdd)
}

// Step is one step of a schedule. Fields that the verb does not use are zero.
type Step struct {
	At      time.Duration `shrink:"number 0"`
	Verb    Verb
	Node    string
	Build   string
	Range   *engine.VersionRange // nil is the range of the node's build
	Handler string
	For     time.Duration `shrink:"number 1ms"`
	// Schema is the version that migrate gives the store's schema.
	Schema uint64
	// Mark names the part of the story that begins with this step. The part lasts until the next one begins.
	Mark string
}

// Instance is an instance started by a client, with what the client does to it later.
type Instance struct {
	ID            string
	Orchestration string
	// Version is the requested handler version. If it is empty, the policy decides.
	Version string
	Input   string        `shrink:"number 1"`
	StartAt time.Duration `shrink:"number 0"`
	Actions []Action
	// Existing means that the instance is already in the plan's Contents, so that no client starts it.
	Existing bool
	// Unaided means that only the plan sends messages to the instance and its children. Recovery neither raises the
	// events they are waiting for nor enqueues the messages they want to dequeue.
	Unaided bool
	// Expect is how the instance must end. Empty means EndCompleted.
	Expect End
}

// Action is something that a client does to an instance.
type Action struct {
	At   time.Duration `shrink:"number 0"`
	Verb ActionVerb
	// Name, Topic and Data describe an event; for a cancel, Data is the reason. Forced and Alone apply to a deletion.
	Name, Topic, Data string
	Forced, Alone     bool `shrink:"drop"`
	// Unawaited means that no code may ever wait for the event, or dequeue from the queue. Otherwise that fails the
	// plan.
	Unawaited bool
	// Blind means that the client does not look for the instance's open wait: the event has the action's topic, or none.
	Blind bool `shrink:"drop"`
}

// ActionVerb is the kind of an action.
type ActionVerb string

// The actions of clients. A raised event that is not Blind has the generation and topic of the instance's open wait, or is
// a first-generation event if there is none.
const (
	ActionRaise   ActionVerb = "raise"
	ActionEnqueue ActionVerb = "enqueue"
	ActionCancel  ActionVerb = "cancel"
	ActionDelete  ActionVerb = "delete" // with its tree, unless Alone; refused while any of it is running, unless Forced
	ActionPrune   ActionVerb = "prune"  // every execution that is neither current nor running
)

// History is an execution that exists before the run, as if left by an earlier cluster.
type History struct {
	Instance      string
	Orchestration string
	Version       string
	// Pin is the execution's pin. Nil means unpinned.
	Pin *engine.Version
	// Shape is the form of the stored events.
	Shape Shape
	// KickAt is when a client sends the instance an event, so that there is something to fetch. 0 means at the start.
	KickAt time.Duration `shrink:"number 0"`
}

// Handler returns the name and version of the preloaded history's orchestration.
func (h *History) Handler() (name, version string) {
	name, version = h.Orchestration, h.Version
	if name == "" {
		name, version = "Cancellable", preloadedVersion
		if h.Shape == ShapeNewKind {
			name, version = "ProcessOrder", "2.0.0"
		}
		if h.Shape == ShapeRespelled {
			name = "Archivist"
		}
	}
	return name, cmp.Or(version, preloadedVersion)
}

// CustomStatus returns the instance's custom status, or nil.
func (h *History) CustomStatus() *string {
	if h.Shape != ShapeRespelled {
		return nil
	}
	status := HardText
	return &status
}

// preloadedVersion is the handler version of preloaded histories that do not name one.
const preloadedVersion = "1.0.0"

// String returns the step as a scenario file spells it.
func (s *Step) String() string {
	switch s.Verb {
	case VerbMark:
		return "part " + s.Mark
	case VerbMigrate:
		return fmt.Sprintf("%s to %d", s.Verb, s.Schema)
	case VerbActivate:
		return fmt.Sprintf("%s %s", s.Verb, s.Build)
	case VerbUpgrade, VerbRollback:
		return fmt.Sprintf("%s %s to %s", s.Verb, s.Node, s.Build)
	case VerbWiden, VerbNarrow:
		if s.Range == nil {
			return fmt.Sprintf("%s %s to default", s.Verb, s.Node)
		}
		return fmt.Sprintf("%s %s to %s", s.Verb, s.Node, s.Range)
	case VerbPause:
		return fmt.Sprintf("%s %s for %v", s.Verb, s.Node, s.For)
	case VerbRegister, VerbDeregister:
		return fmt.Sprintf("%s %s on %s", s.Verb, s.Handler, s.Node)
	}
	return fmt.Sprintf("%s %s", s.Verb, s.Node)
}
