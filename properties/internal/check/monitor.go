package check

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/arena"
	"github.com/durosim/durosim/internal/watchdog"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// Checker watches a run for one property, or for a few properties that share state. Embed Base to get methods that do
// nothing. A checker reports through Run.Violate. It never logs, and no input makes it panic.
//
// When a checker receives an observation, the model already includes it.
type Checker interface {
	// Observes and Records return the kinds that the checker subscribes to, and Ends the calls whose end it is notified of
	// if it has a method Ended. Each is called once.
	Observes() Set[observe.Kind]
	Records() Set[record.Kind]
	Ends() Ends
	// RecordsOf narrows the records of one kind to those about certain kinds of calls. A record that is about no call has
	// the kind CallNone.
	RecordsOf(k record.Kind) Set[observe.CallKind]
	Observe(o *observe.Observation)
	Record(r *cluster.Record)
	// Open reports whether any obligation is pending, that is, neither met nor overdue. It also returns the store time
	// at which the first of them becomes overdue if nothing happens.
	Open(nowMs int64) (bool, int64)
	EndPhase(p cluster.Phase)
	Finish()
}

// stepper is a checker that inspects the state between kernel events. StepDue, which is called once, returns the flag
// that the checker sets if there is something to inspect after a step, or nil if it inspects the state after every step.
type stepper interface {
	AfterStep()
	StepDue() *bool
}

// step is a stepper with its flag.
type step struct {
	stepper
	due *bool
}

// Base is a checker that ignores everything but what its fields subscribe to.
type Base struct {
	Run       *Run
	OnObserve Set[observe.Kind]
	OnRecord  Set[record.Kind]
	OnEnd     Ends
	Due       *bool
}

func (b *Base) Observes() Set[observe.Kind] { return b.OnObserve }
func (b *Base) Records() Set[record.Kind]   { return b.OnRecord }
func (b *Base) Ends() Ends                  { return b.OnEnd }
func (b *Base) StepDue() *bool              { return b.Due }

func (*Base) Observe(*observe.Observation)                {}
func (*Base) Record(*cluster.Record)                      {}
func (*Base) RecordsOf(record.Kind) Set[observe.CallKind] { return AnyCall }
func (*Base) Open(int64) (bool, int64)                    { return false, 0 }
func (*Base) EndPhase(cluster.Phase)                      {}
func (*Base) Finish()                                     {}

// View is the part of a run that monitors read. *cluster.World implements it; tests use a smaller implementation.
type View interface {
	Plan() *plan.Plan
	Store() memprovider.View
	Nodes() []cluster.NodeInfo
	Node(number uint32) *cluster.NodeInfo
	NowMs() int64
	StartMs() int64
	Seed() uint64
	Step() uint64
	Phase() cluster.Phase
	Builds() []*engine.Build
	Why(instance string) *cluster.Explanation
	Help() []cluster.Help
	TooLong() bool
	Foreign() bool
	Preloaded() []memprovider.PreloadedInstance
	MonitorArena() *any
	Watch() *watchdog.Watch
	Counters(node uint32) (cluster.Counters, bool)
}

// maxViolations limits how many violations with the same cause a property reports in one run. The first of them is the one
// that matters; another cause is another mistake, which those of a known one must not hide.
const maxViolations = 3

// mistake is what violations have in common, of which a run keeps no more than maxViolations.
type mistake struct {
	rule, cause string
	apart       int // see Run.Apart
}

// Run is shared by the checkers of a run. It holds the state that they read, and they report violations to it.
type Run struct {
	World      View
	Model      *model.Shadow
	Arena      *arena.Set // memory for checkers, or nil
	Wants      func(property string) bool
	Apart      func(v cluster.Violation) int // see monitor.Options; nil if there are no such numbers
	violations []cluster.Violation
	later      []func() string // Breach.Later of each violation
	count      map[mistake]int // never iterated over, so map order does not matter
	tell       func(Fact)      // nil if there is no subscriber
	skewMs     int64           // the result of SkewMs, once it is known
	skewKnown  bool
}

// Monitor passes a run's events to the checkers that subscribe to them.
type Monitor struct {
	*Run
	checkers []Checker
	steppers []step // the checkers that are steppers
	wanted   *wanted
}

// New returns a monitor without checkers. wants decides which properties are reported.
func New(w View, wants func(property string) bool) *Monitor {
	k := arenaOf(w)
	set := &k.values
	if k.of == nil {
		set = nil
	}
	return &Monitor{
		Run:    &Run{World: w, Arena: set, Model: model.New(w.Builds(), set), Wants: wants, count: make(map[mistake]int)},
		wanted: &k.wanted,
	}
}

// runArena is memory for checkers that one run leaves to the next. of is the world that currently uses it.
type runArena struct {
	values arena.Set
	wanted wanted
	of     View
}

// arenaOf returns the memory for a run's checkers. It reuses the previous run's memory if the world supports that.
// Otherwise, and if another Monitor of the same run already uses that memory, it returns new memory for this Monitor
// alone.
func arenaOf(w View) *runArena {
	place := w.MonitorArena()
	if place == nil {
		return new(runArena)
	}
	k, ok := (*place).(*runArena)
	if !ok {
		k = new(runArena)
		*place = k
	}
	if k.of == w {
		return new(runArena)
	}
	k.of = w
	k.values.Reset()
	k.wanted.reset()
	return k
}

// Observe passes a store observation to the model first, and then to the checkers that subscribe to it.
func (m *Monitor) Observe(o *observe.Observation) {
	m.Model.Observe(o)
	if o.Kind == observe.CallEnd {
		if c := m.Model.Call(o.Call); c != nil {
			for _, e := range m.wanted.endersOf(c.Kind, o.Outcome, c.Touched()) {
				e.Ended(c, o)
			}
		}
	}
	for _, c := range m.wanted.observers(o.Kind) {
		c.Observe(o)
	}
}

// Record passes a record of the world to the model first, and then to the checkers that subscribe to it.
func (m *Monitor) Record(r *cluster.Record) {
	if r.Kind == record.NodeStarted || r.Kind == record.Note {
		m.Model.Record(m.World, r)
	}
	for _, c := range m.wanted.recorders(r.Kind, r.CallKind) {
		c.Record(r)
	}
	if r.Kind == record.PhaseEnded {
		for _, c := range m.checkers {
			c.EndPhase(r.Phase)
		}
	}
}

// AfterStep lets checkers judge the state between kernel events.
func (m *Monitor) AfterStep() {
	for i := range m.steppers {
		if s := &m.steppers[i]; s.due == nil || *s.due {
			s.AfterStep()
		}
	}
}

// Open reports whether any obligation is pending, and when the first of them becomes overdue.
func (m *Monitor) Open(nowMs int64) (bool, int64) {
	any, first := false, int64(0)
	for _, c := range m.checkers {
		if open, until := c.Open(nowMs); open {
			if !any || until < first {
				first = until
			}
			any = true
		}
	}
	return any, first
}

// Finish tells every checker that the run has ended.
func (m *Monitor) Finish() {
	for _, c := range m.checkers {
		c.Finish()
	}
	kept := m.violations[:0]
	for i, v := range m.violations {
		if later := m.later[i]; later != nil {
			if v.Message += ". " + later(); m.Apart != nil && m.enough(v) {
				continue
			}
		}
		kept = append(kept, v)
	}
	m.violations, m.later = kept, nil
}

// Violations returns the violations in the order in which they were found.
func (m *Monitor) Violations() []cluster.Violation { return m.violations }

// Breach describes a violation. Violate adds where it happened, which it takes from the world.
type Breach struct {
	Property string
	Class    cluster.Class
	Node     uint32
	Instance observe.InstanceNo
	Name     string // for an instance unknown to the store
	Item     string
	Message  string
	End      cluster.Ending
	Step     uint64 // 0 for the current one
	AtMs     int64  // the store time at which it happened; 0 for now
	Cause    string // see cluster.Violation
	// Expectation is the text of the scenario's violated expectation. It is empty for all other properties.
	Expectation string
	// Later, if not nil, is called at the end of the run. Its text says what became of what is missing, and is appended to
	// the message.
	Later func() string
}

// Alike returns a cause as a text about an instance says it: see cluster.Fate.Alike.
func Alike(instance, text string) string {
	return (&cluster.Fate{Instance: instance, Cause: text}).Alike()
}

// Violate reports a finding at the current step and time. It ignores findings for properties that are not selected.
func (m *Run) Violate(f Breach) {
	if !m.Wants(f.Property) {
		return
	}
	v := cluster.Violation{
		Property: f.Property, Class: f.Class, Step: cmp.Or(f.Step, m.World.Step()), VirtualMs: cmp.Or(f.AtMs, m.World.NowMs()) - m.World.StartMs(),
		Node: m.NodeName(f.Node), Instance: cmp.Or(m.Model.Name(f.Instance), f.Name), WorkItem: f.Item, Message: f.Message, Expectation: f.Expectation, Planted: m.Planted(), End: f.End, Cause: f.Cause,
	}
	if f.Later != nil {
		v.Cause = v.Alike() // what becomes of it is no other mistake
	}
	if (f.Later == nil || m.Apart == nil) && m.enough(v) { // else Apart needs the text of Later, too
		return
	}
	m.violations = append(m.violations, v)
	m.later = append(m.later, f.Later)
}

// enough counts a violation, and reports whether those of the same mistake that are kept are enough without it. Of known
// ends none is left out: the fate of work has no other sign that its end is known.
func (m *Run) enough(v cluster.Violation) bool {
	of := mistake{rule: v.Rule(), cause: v.Alike()}
	if m.Apart != nil {
		if of.apart = m.Apart(v); of.apart >= 0 && v.End != "" {
			return false
		}
	}
	m.count[of]++
	return m.count[of] > maxViolations
}

// Broken reports whether a safety property is violated, which can be why work does not end.
func (m *Run) Broken() bool {
	return slices.ContainsFunc(m.violations, func(v cluster.Violation) bool { return v.Class == cluster.ClassSafety })
}

// Planted reports whether the plan has planted bugs, so that what is wrong need not be the plan or the user's code.
func (m *Run) Planted() bool { return len(m.World.Plan().Bugs) > 0 }

// Second reports a finding of the second judge, of the call that has just ended. If a rule has found something about the
// same instance in the same step, that is the same fault: what the second judge says of it is kept beside it.
func (m *Run) Second(f Breach, clause string) {
	name := m.Model.Name(f.Instance)
	for i := range m.violations {
		v := &m.violations[i]
		if v.Step == f.Step && v.Class == f.Class && (v.Instance == name || v.Instance == "" || name == "") {
			v.Clause = clause
			return
		}
	}
	m.Violate(f)
}

// NodeName returns a node's name in the plan. It is empty for clients and for numbers that are not nodes, such as those
// of probes.
func (m *Run) NodeName(number uint32) string {
	if number == 0 || int(number) > len(m.World.Nodes()) {
		return ""
	}
	return m.World.Node(number).Name
}

// Safety reports a violation of a safety property.
func (m *Run) Safety(property string, node uint32, instance observe.InstanceNo, format string, args ...any) {
	m.Violate(Breach{Property: property, Class: cluster.ClassSafety, Node: node, Instance: instance, Message: fmt.Sprintf(format, args...)})
}

// Liveness reports a violation of a liveness property.
func (m *Run) Liveness(property string, node uint32, instance observe.InstanceNo, format string, args ...any) {
	m.Violate(Breach{Property: property, Class: cluster.ClassLiveness, Node: node, Instance: instance, Message: fmt.Sprintf(format, args...)})
}

// Add registers checkers for the kinds that they subscribe to. Checkers are called in the order in which they were
// added.
func (m *Monitor) Add(list ...Checker) {
	for _, c := range list {
		m.checkers = append(m.checkers, c)
		if s, ok := c.(stepper); ok {
			m.steppers = append(m.steppers, step{s, s.StepDue()})
		}
		m.wanted.add(c)
	}
}
