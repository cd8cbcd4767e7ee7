package cluster

import (
	"fmt"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
)

// Config holds everything that a run depends on.
type Config struct {
	// Plan is the plan to carry out. It is not modified, so many runs may share it.
	Plan *plan.Plan
	// Seed determines all choices unless Chooser is set.
	Seed uint64
	// Chooser decides what the plan leaves open; nil means sim.Random(Seed).
	Chooser sim.Chooser
	// Start is the kernel time at the start of the run; 0 means sim.Epoch.
	Start sim.Time
	// Builds are the builds that plans may name; nil means engine.ShippedBuilds().
	Builds []*engine.Build
	// Releases starts nodes that run a released runtime. If it is nil, Run rejects plans with such nodes.
	Releases Releases
	// Node makes the machine of each incarnation of a node whose build durosim models; nil means machine.New. With nodes
	// that break a rule in some way it is shown that a property sees that.
	Node func(c machine.Config) (Stepper, error)
	// Store makes the run's store, whose clock must not be ahead of startMs. If it is nil, the run uses durosim's own
	// store. docs/clusters-over-a-provider.md describes how such a store is checked.
	Store func(startMs int64) (*ForeignStore, error)
	// Handlers registers the orchestrations and activities that ship with a build; nil means workload.Handlers. It is
	// called each time a node starts, and once before the run for each build that a node will run. A build declared by
	// the plan ("build 3.1.0 like 2.0.0") ships the handlers of the build named after "like", so b is 2.0.0 in that
	// case. To give versions different code, list them in Builds, as workload.Deploy does.
	Handlers func(r *node.Registry, b *engine.Build) error
	// Monitor makes a new monitor to watch the run. If it is nil, nothing watches the run.
	Monitor func(w *World) Monitor
	// Narrator, if not nil, receives a line for each noteworthy event. Setting it makes keys readable but does not
	// affect the run otherwise.
	Narrator func(Line)
	// Recording, if not nil, records the choices with readable keys (see sim.Record).
	Recording *sim.Recording
	// DoubleCheck computes every turn twice, which does not affect the run otherwise. If the results differ, the
	// handler is not deterministic. This violates "handler-deterministic", of class handler.
	DoubleCheck bool
	// KeepTrace keeps the trace's running hash after each record, so that two runs can be compared.
	KeepTrace bool
	// Stop ends the run after the step in which the monitor finds a violation for which it returns true: for searches that
	// need no more than that. Such a run has no Finish and no digest to compare. If it is nil, the run goes to its end.
	Stop func(Violation) bool
	// Arena is memory that the run reuses. If it is nil, the run allocates its own.
	Arena *Arena
}

// Releases starts nodes that run a released runtime. realnode.Releases returns an implementation.
type Releases = Runtimes

// Monitor watches a run; properties are checked by monitors. All methods are called from the run's single goroutine.
type Monitor interface {
	observe.Sink
	// Record is called for everything that happens outside the store.
	Record(r *Record)
	// AfterStep is called after each step, which is a kernel event that changed something or made a call.
	AfterStep()
	// Open reports whether any obligation is neither met nor overdue, and the store time after which the first of these
	// becomes overdue. If nothing is due in the store, the next call comes after the next event or after that time.
	Open(nowMs int64) (open bool, untilMs int64)
	// Finish is called once, after the last phase.
	Finish()
	// Violations returns the violations in the order in which they were found.
	Violations() []Violation
	// Coverage returns the points that were reached, with their counts, sorted by name.
	Coverage() []Point
}

// HandleWatcher is a Monitor that also watches the calls themselves. It is given every store handle that a run makes,
// before faults are added to it, and returns the handle to use instead, which must give the same answers.
type HandleWatcher interface {
	WatchHandle(p engine.Provider, codec engine.Codec) engine.Provider
}

// WatchHandle returns the handle that m makes of p if m is a HandleWatcher, and p otherwise. A monitor around another
// one forwards its handles with it.
func WatchHandle(m Monitor, p engine.Provider, codec engine.Codec) engine.Provider {
	if watcher, ok := m.(HandleWatcher); ok {
		return watcher.WatchHandle(p, codec)
	}
	return p
}

// Class says which part is responsible for a violation.
type Class string

// The classes of violations.
const (
	ClassSafety   Class = "safety"
	ClassLiveness Class = "liveness"
	// ClassHandler means that a user's handler is not deterministic, or that user code panics or does not come back.
	ClassHandler Class = "handler"
	// ClassPlan means that work did not end as the plan expects. The contract may still have been kept.
	ClassPlan Class = "plan"
	// ClassInternal means a bug in durosim, such as that a run has no events left.
	ClassInternal Class = "internal"
)

// Violation records that a property which must hold was violated.
type Violation struct {
	Property  string `json:"property"`
	Class     Class  `json:"class"`
	Step      uint64 `json:"step"`
	VirtualMs int64  `json:"virtual_ms"` // since the start of the run
	Node      string `json:"node"`
	Instance  string `json:"instance"`
	WorkItem  string `json:"work_item"`
	// Message says what was expected and what was observed, with evidence.
	Message string `json:"message"`
	// Expectation is the scenario text of the expectation that was violated. It is empty for other properties.
	Expectation string `json:"expectation,omitempty"`
	// Statement is the rule of a property of the caller's own. Of others, properties.Catalogue has it.
	Statement string `json:"statement,omitempty"`
	// Clause is what the second judge, the provider specification, says of the same call; Message is a rule's.
	Clause string `json:"clause,omitempty"`
	// Cause tells violations of a property apart that are not of the same mistake. It has neither the instance nor what
	// else differs between those of one mistake, and is empty if the property does not say.
	Cause string `json:"cause,omitempty"`
	// End is how the instance ended, if it did not end as planned, Unawaited or Untaken.
	End Ending `json:"end,omitempty"`
	// Planted is set if the run has planted bugs, so that a self-check blames them.
	Planted bool `json:"planted,omitempty"`
}

// Rule returns the id of the violated property. Since a scenario may have many expectations, the id of an expectation
// is followed by its text.
func (v Violation) Rule() string {
	if v.Expectation == "" {
		return v.Property
	}
	return v.Property + " " + v.Expectation
}

// Alike returns what violations of one mistake have in common: the cause. Where the property does not say it, it is the
// first line of the message with names, numbers and quoted text masked, because they vary between runs that fail for the
// same reason.
func (v Violation) Alike() string {
	if v.Cause != "" {
		return v.Cause
	}
	text, _, _ := strings.Cut(v.Message, "\n")
	text = replaceWord(text, v.Instance, "INSTANCE")
	var masked strings.Builder
	for text != "" {
		plain := strings.IndexAny(text, `"0123456789`)
		if plain < 0 {
			plain = len(text)
		}
		masked.WriteString(text[:plain])
		switch text = text[plain:]; {
		case text == "":
		case text[0] == '"':
			masked.WriteString(`""`)
			_, text, _ = strings.Cut(text[1:], `"`)
		default: // a number, with its unit
			masked.WriteByte('#')
			text = strings.TrimLeft(text, "0123456789abcdefghijklmnopqrstuvwxyzµ.")
		}
	}
	words := strings.Fields(masked.String())
	for i, w := range words {
		if w == v.Node {
			words[i] = "NODE"
		}
	}
	return strings.Join(words, " ")
}

// Text describes the violation of a rule with that statement, one line for each of its fields. where begins the line that
// says where it is, such as with the seed.
func (v Violation) Text(statement, where string) string {
	var b strings.Builder
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-9s %s\n", label, text)
		}
	}
	line("rule", statement)
	line("where", fmt.Sprintf("%sstep %s, virtual time %s", where, pretty.Count(v.Step), pretty.Duration(v.VirtualMs)))
	line("node", v.Node)
	line("instance", v.Instance)
	line("work item", v.WorkItem)
	line("evidence", strings.ReplaceAll(strings.TrimSpace(v.Message), "\n", "\n            "))
	return b.String()
}

// Unsteady reports whether v says that a handler is not deterministic or does not come back, so that its run is not shrunk.
func (v Violation) Unsteady() bool {
	return v.Class == ClassHandler && v.Property != PropertyHandlerPanics
}

// Point is a coverage point and how often it was reached.
type Point struct {
	Name  string
	Count uint64
}

// Counters counts what nodes did, like a node's metrics.
type Counters = machine.Counters

// FinalState is an instance's state at the end of the run. If the store does not know the instance, all fields but
// Instance are zero.
type FinalState struct {
	Instance  string
	Status    engine.Status
	Execution uint64
	Output    string
	Pin       *engine.Version
	Deleted   bool
}

// Line is one line of a run's narration.
type Line struct {
	At   sim.Time `json:"-"`
	Ms   int64    `json:"virtual_ms"` // virtual milliseconds since the start
	Step uint64   `json:"step"`
	Node string   `json:"node"` // the node's name, or "world" for clients, the store and the world
	Text string   `json:"text"`
	// Build is the node's build; it is empty for "world".
	Build string `json:"build"`
	// Important lines are also part of a short narration.
	Important bool `json:"important"`
}
