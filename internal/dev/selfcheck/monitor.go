package selfcheck

import (
	"context"
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// The IDs of the checks.
const (
	TurnAllowed    = "S24"
	NodeByItsRules = "S28"
	Account        = "shadow"
)

// View is the part of a run that the checks read. *cluster.World implements it; tests use a smaller implementation.
type View interface {
	Plan() *plan.Plan
	Store() memprovider.View
	Nodes() []cluster.NodeInfo
	Node(number uint32) *cluster.NodeInfo
	NowMs() int64
	StartMs() int64
	Step() uint64
	Foreign() bool
	Counters(node uint32) (cluster.Counters, bool)
}

// Monitor has all checks of this package watch one run.
type Monitor struct {
	*run
	turns   *turns
	nodes   *nodes
	account *account
}

var _ cluster.Monitor = (*Monitor)(nil)

// Watch returns a monitor for one run, for use in durosim.Run.Monitor.
func Watch(w *cluster.World) cluster.Monitor { return New(w) }

// New returns a monitor for one run.
func New(w View) *Monitor {
	r := &run{world: w, count: map[string]int{}}
	return &Monitor{run: r, turns: newTurns(r), nodes: newNodes(r), account: newAccount(r)}
}

// WatchHandle returns a handle that has each text checked that a caller gives to the store.
func (m *Monitor) WatchHandle(p engine.Provider, _ engine.Codec) engine.Provider {
	return call.Through(p.Name(), p.Version(), p.Admin() != nil, func(ctx context.Context, c call.Call) call.Answer {
		m.account.reads(c)
		return call.Pass(ctx, p, c)
	})
}

// Observe implements observe.Sink.
func (m *Monitor) Observe(o *observe.Observation) {
	m.turns.Observe(o)
	m.account.Observe(o)
}

// Record implements cluster.Monitor.
func (m *Monitor) Record(r *cluster.Record) {
	m.turns.Record(r)
	m.nodes.Record(r)
	m.account.Record(r)
}

// AfterStep implements cluster.Monitor.
func (m *Monitor) AfterStep() { m.nodes.AfterStep() }

// Open implements cluster.Monitor. The checks wait for nothing.
func (m *Monitor) Open(int64) (open bool, untilMs int64) { return false, 0 }

// Finish implements cluster.Monitor.
func (m *Monitor) Finish() {
	m.nodes.Finish()
	m.account.finish()
}

// Violations implements cluster.Monitor.
func (m *Monitor) Violations() []cluster.Violation { return m.violations }

// Coverage implements cluster.Monitor. The checks count no points.
func (m *Monitor) Coverage() []cluster.Point { return nil }

// maxViolations limits how many violations of a check are reported in one run. The first is the one that matters.
const maxViolations = 3

// run is what the checks of a run share: what they read, and what they have found.
type run struct {
	world      View
	violations []cluster.Violation
	count      map[string]int // violations by ID; never iterated over, so map order does not matter
}

// violate reports a finding at the current step and time.
func (r *run) violate(id string, class cluster.Class, node uint32, instance, message string) {
	if r.count[id]++; r.count[id] > maxViolations {
		return
	}
	r.violations = append(r.violations, cluster.Violation{
		Property: id, Class: class, Step: r.world.Step(), VirtualMs: r.world.NowMs() - r.world.StartMs(),
		Node: r.nodeName(node), Instance: instance, Message: message, Planted: len(r.world.Plan().Bugs) > 0,
	})
}

// nodeName returns a node's name in the plan. It is empty for clients and probes.
func (r *run) nodeName(number uint32) string {
	if number == 0 || int(number) > len(r.world.Nodes()) {
		return ""
	}
	return r.world.Node(number).Name
}

// who describes a node's incarnation, which is the present one.
func (r *run) who(number, incarnation uint32) string {
	n := r.world.Node(number)
	return fmt.Sprintf("%s (build %s, start %d)", n.Name, n.Build.Name(), incarnation)
}

// at formats a store time relative to the start of the run.
func (r *run) at(ms int64) string { return pretty.Duration(ms - r.world.StartMs()) }
