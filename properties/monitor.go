package properties

import (
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/cluster"
)

// checker watches a run for one property, or for a few that share their state. Embed base to get methods that do
// nothing. A checker never logs, never panics on what it sees, and reports through Monitor.violate.
//
// A checker sees an observation after the model has been brought up to date with it.
type checker interface {
	observe(o *engine.Observation)
	record(r *cluster.Record)
	afterStep()
	// open says whether an obligation is neither met nor overdue, and until when it may stay so, in store time.
	open(nowMs int64) (bool, int64)
	endPhase(p cluster.Phase)
	finish()
}

// selective is a checker that wants some kinds of observations and records only. It is asked once. A checker that does
// not implement it is handed all of them.
type selective interface {
	observes() []engine.ObservationKind
	records() []cluster.RecordKind
}

// base is a checker that sees nothing.
type base struct{ m *Monitor }

func (base) observe(*engine.Observation) {}
func (base) record(*cluster.Record)      {}
func (base) afterStep()                  {}
func (base) open(int64) (bool, int64)    { return false, 0 }
func (base) endPhase(cluster.Phase)      {}
func (base) finish()                     {}

// world is what monitors read of a run. *cluster.World is one; tests have a smaller one.
type world interface {
	Plan() *cluster.Plan
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

// Monitor runs all checkers over one run. It is a cluster.Monitor; New makes one.
type Monitor struct {
	w          world
	opts       Options
	on         map[string]bool // properties to check, nil for all; only looked up
	checkers   []checker
	byKind     [][]checker // by kind of observation: those that want it
	byRecord   [][]checker // by kind of record
	store      *model
	violations []cluster.Violation
	count      map[string]int // violations by property; only looked up, never ranged over
	coverage   coverage
	referee    *referee // nil if nobody judges the answers
}

var _ cluster.Monitor = (*Monitor)(nil)

// Observe hands an observation of the store to the model and to every checker, in that order.
func (m *Monitor) Observe(o *engine.Observation) {
	m.store.observe(o)
	if int(o.Kind) < len(m.byKind) {
		for _, c := range m.byKind[o.Kind] {
			c.observe(o)
		}
	}
}

// Record hands a record of the world to the model and to every checker, in that order.
func (m *Monitor) Record(r *cluster.Record) {
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
func (m *Monitor) AfterStep() {
	for _, c := range m.checkers {
		c.afterStep()
	}
}

// Open says whether any obligation is open, and until when the last may be.
func (m *Monitor) Open(nowMs int64) (bool, int64) {
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
func (m *Monitor) Finish() {
	for _, c := range m.checkers {
		c.finish()
	}
}

// Violations are what was found, in the order found.
func (m *Monitor) Violations() []cluster.Violation { return m.violations }

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
func (m *Monitor) violate(f finding) {
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
func (m *Monitor) nodeName(number uint32) string {
	if number == 0 || int(number) > len(m.w.Nodes()) {
		return ""
	}
	return m.w.Node(number).Name
}

// safety reports the violation of a safety property.
func (m *Monitor) safety(property string, node uint32, instance engine.InstanceNo, format string, args ...any) {
	m.violate(finding{property: property, class: cluster.ClassSafety, node: node, instance: instance, message: fmt.Sprintf(format, args...)})
}

// liveness reports the violation of a liveness property.
func (m *Monitor) liveness(property string, node uint32, instance engine.InstanceNo, format string, args ...any) {
	m.violate(finding{property: property, class: cluster.ClassLiveness, node: node, instance: instance, message: fmt.Sprintf(format, args...)})
}
