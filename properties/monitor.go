package properties

import (
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// checker watches a run for one property, or for a few that share their state. Embed base to get methods that do
// nothing. A checker never logs, never panics on what it sees, and reports through run.violate.
//
// A checker sees an observation after the model has been brought up to date with it.
type checker interface {
	observe(o *engine.Observation)
	record(r *cluster.Record)
	// open says whether an obligation is neither met nor overdue, and until when it may stay so, in store time.
	open(nowMs int64) (bool, int64)
	endPhase(p cluster.Phase)
	finish()
}

// stepper is a checker that looks at the state between two kernel events.
type stepper interface{ afterStep() }

// selective is a checker that wants some kinds of observations and records only. It is asked once. A checker that does
// not implement it is handed all of them.
type selective interface {
	observes() []engine.ObservationKind
	records() []cluster.RecordKind
}

// base is a checker that sees nothing.
type base struct{ m *run }

func (base) observe(*engine.Observation) {}
func (base) record(*cluster.Record)      {}
func (base) open(int64) (bool, int64)    { return false, 0 }
func (base) endPhase(cluster.Phase)      {}
func (base) finish()                     {}

// world is what monitors read of a run. *cluster.World is one; tests have a smaller one.
type world interface {
	Plan() *plan.Plan
	Store() *memprovider.Store
	Nodes() []cluster.NodeInfo
	Node(number uint32) *cluster.NodeInfo
	NowMs() int64
	StartMs() int64
	Step() uint64
	Phase() cluster.Phase
	Builds() []*engine.Build
}

// maxViolations bounds what one property reports in one run: the first is what counts.
const maxViolations = 3

// run is what the checkers of one run share: what they read, and where they report.
type run struct {
	w          world
	store      *model
	wants      func(property string) bool
	violations []cluster.Violation
	count      map[string]int // violations by property; only looked up, never ranged over
	tell       func(fact)     // nil if nobody asks
}

// watch hands what happens in a run to the checkers that want it.
type watch struct {
	*run
	checkers []checker
	steppers []stepper   // those of them that are one
	byKind   [][]checker // by kind of observation: those that want it
	byRecord [][]checker // by kind of record
}

// newWatch watches a run without any checker; wants says which properties are reported.
func newWatch(w world, wants func(property string) bool) *watch {
	return &watch{
		run:    &run{w: w, store: newModel(w.Builds()), wants: wants, count: make(map[string]int)},
		byKind: make([][]checker, observationKinds()), byRecord: make([][]checker, recordKinds()),
	}
}

// Observe hands an observation of the store to the model and to every checker, in that order.
func (m *watch) Observe(o *engine.Observation) {
	m.store.observe(o)
	if int(o.Kind) < len(m.byKind) {
		for _, c := range m.byKind[o.Kind] {
			c.observe(o)
		}
	}
}

// Record hands a record of the world to the model and to every checker, in that order.
func (m *watch) Record(r *cluster.Record) {
	m.store.record(m.w, r)
	if int(r.Kind) < len(m.byRecord) {
		for _, c := range m.byRecord[r.Kind] {
			c.record(r)
		}
	}
	if r.Kind == cluster.RecPhaseEnded {
		for _, c := range m.checkers {
			c.endPhase(r.Phase)
		}
	}
}

// AfterStep lets checkers judge the state between two kernel events.
func (m *watch) AfterStep() {
	for _, c := range m.steppers {
		c.afterStep()
	}
}

// Open says whether any obligation is open, and until when the last may be.
func (m *watch) Open(nowMs int64) (bool, int64) {
	any, last := false, int64(0)
	for _, c := range m.checkers {
		if open, until := c.open(nowMs); open {
			any = true
			last = max(last, until)
		}
	}
	return any, last
}

// Finish ends the run for every checker.
func (m *watch) Finish() {
	for _, c := range m.checkers {
		c.finish()
	}
}

// Violations are what was found, in the order found.
func (m *watch) Violations() []cluster.Violation { return m.violations }

// finding is a violation in the making: where it happened comes from the world.
type finding struct {
	property string
	class    cluster.Class
	node     uint32
	instance engine.InstanceNo
	item     string
	message  string
}

// violate reports a finding at the present step and time. Findings of properties that are not asked for are dropped.
func (m *run) violate(f finding) {
	if !m.wants(f.property) {
		return
	}
	if m.count[f.property]++; m.count[f.property] > maxViolations {
		return
	}
	m.violations = append(m.violations, cluster.Violation{
		Property: f.property, Class: f.class, Step: m.w.Step(), VirtualMs: m.w.NowMs() - m.w.StartMs(),
		Node: m.nodeName(f.node), Instance: m.store.name(f.instance), WorkItem: f.item, Message: f.message,
	})
}

// nodeName is the name of a node in the plan; empty for clients and for numbers that are no node's, such as a probe's.
func (m *run) nodeName(number uint32) string {
	if number == 0 || int(number) > len(m.w.Nodes()) {
		return ""
	}
	return m.w.Node(number).Name
}

// safety reports the violation of a safety property.
func (m *run) safety(property string, node uint32, instance engine.InstanceNo, format string, args ...any) {
	m.violate(finding{property: property, class: cluster.ClassSafety, node: node, instance: instance, message: fmt.Sprintf(format, args...)})
}

// liveness reports the violation of a liveness property.
func (m *run) liveness(property string, node uint32, instance engine.InstanceNo, format string, args ...any) {
	m.violate(finding{property: property, class: cluster.ClassLiveness, node: node, instance: instance, message: fmt.Sprintf(format, args...)})
}

// add enters checkers for what they want to see, in the order in which they will see it.
func (m *watch) add(list ...checker) {
	for _, c := range list {
		m.checkers = append(m.checkers, c)
		if s, ok := c.(stepper); ok {
			m.steppers = append(m.steppers, s)
		}
		s, ok := c.(selective)
		if !ok {
			for k := range m.byKind {
				m.byKind[k] = append(m.byKind[k], c)
			}
			for k := range m.byRecord {
				m.byRecord[k] = append(m.byRecord[k], c)
			}
			continue
		}
		for _, k := range s.observes() {
			m.byKind[k] = append(m.byKind[k], c)
		}
		for _, k := range s.records() {
			m.byRecord[k] = append(m.byRecord[k], c)
		}
	}
}

// observationKinds is the number of kinds of observations: their enumeration is closed, and what is behind its end
// has no name.
func observationKinds() int {
	k := engine.ObsNone
	for k.String() != (engine.ObsNone + 255).String() {
		k++
	}
	return int(k)
}

// recordKinds is the number of kinds of records.
func recordKinds() int {
	k := cluster.RecNone
	for k.String() != (cluster.RecNone + 255).String() {
		k++
	}
	return int(k)
}
