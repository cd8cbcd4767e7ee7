package cluster

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/internal/kernel"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
	"github.com/durosim/durosim/sim/workload"
)

// fleet holds the plan's nodes. It starts and stops them, delivers their inputs and carries out their calls.
type fleet struct {
	*base
	network *network
	parking *parking
	schema  *schema
	list    []*nodeState // indexed by number - 1
	// ownRules holds the rules of the provider code that an incarnation uses, if they differ from the store's.
	ownRules map[observe.Caller]*memprovider.Rules // lookups only, never iterated over
	arena    *Arena                                // all nodes share it, since they run one step at a time
	// shippedHandlers is set if the configuration does not set Handlers.
	shippedHandlers bool
	shipped         []shippedRegistry // by build, created on demand
	nodeEffects     []machine.Effect  // reused for the effects of each node's step
	// The input to a node's step; reused.
	wake       machine.Wake
	finished   machine.Finished
	turns      uint64
	executions map[string]*executionTurns // keyed by instance; lookups only
	mostTurns  int                        // the most of any execution that has ended
	// mostExecutions is the most of any instance that has ended.
	mostExecutions int
	// handlerFaults counts the turns for which the two computations differed.
	handlerFaults int
	// panics has the places of the panics that have been looked at.
	panics []string
}

// nodeState is one of the plan's nodes with its current incarnation.
type nodeState struct {
	number uint32
	plan   *plan.Node
	key    sim.Key // of the node
	incKey sim.Key // of the incarnation
	// build and options apply to the next start; running and runningOptions are those of the current incarnation.
	build          *engine.Build
	options        node.Options
	running        *engine.Build
	runningOptions node.Options
	// changes holds the schedule's registrations, which are reapplied at every start.
	changes []*plan.Step

	// wantUp is set if the node should be running. Invariant: a node has a pending start if and only if it is down and
	// wantUp is set.
	wantUp  bool
	barred  bool          // it does not start on the store's schema; nobody wants it up until that changes
	start   kernel.Handle // the pending start
	startAt sim.Time      // when the pending start is due, or 0
	starts  uint64        // number of starts drawn so far

	inc      uint32
	cause    string     // of the last note of its current step
	machine  Stepper    // nil while down
	released Machine    // the same machine, if it runs a release
	clock    plan.Clock // of the incarnation
	provider engine.Provider
	registry *node.Registry
	draining bool
	paused   bool
	wake     kernel.Handle // the end of the pause, at wakeAt
	wakeAt   sim.Time
	held     []event // inputs of a paused node, delivered when it resumes

	timers []timer // set timers
	jobs   []job   // running jobs
}

// makeNodes makes the plan's nodes. All of them are down.
func (f *fleet) makeNodes() error {
	for i := range f.plan.Nodes {
		p := &f.plan.Nodes[i]
		n := &nodeState{
			number: uint32(i + 1), plan: p, key: f.root.Name(labelNode, p.Name),
			build: plan.FindBuild(f.builds, p.Build), options: node.DefaultOptions(),
		}
		for _, s := range p.Options {
			if err := n.options.Set(s.Name, s.Value); err != nil {
				return fmt.Errorf("cluster: node %s: %w", p.Name, err)
			}
		}
		if err := f.tryHandlers(p); err != nil {
			return fmt.Errorf("cluster: node %s: %w", p.Name, err)
		}
		f.list = append(f.list, n)
		f.infos = append(f.infos, NodeInfo{Number: n.number, Name: p.Name, Build: n.build, Options: n.options, Core: f.isCore(p)})
	}
	return nil
}

// number returns the number of the node with the given name, or 0.
func (b *base) number(name string) uint32 {
	return uint32(slices.IndexFunc(b.plan.Nodes, func(n plan.Node) bool { return n.Name == name }) + 1)
}

// restart stops a node gracefully if it is up, then starts it with its current build and options.
func (f *fleet) restart(n *nodeState) {
	f.startSoon(n)
	f.drain(n)
}

// drainMax is the maximum duration of a graceful stop. After that the node is killed, as an operator's tools would do.
const drainMax = 30 * time.Second

// drain stops a node gracefully. A frozen node resumes first, and the inputs it has missed may freeze it again or crash
// it.
func (f *fleet) drain(n *nodeState) {
	for n.machine != nil && n.paused {
		f.resume(n)
	}
	if n.machine == nil || n.draining {
		return
	}
	n.draining = true
	f.inform(n)
	f.record(&Record{Kind: record.NodeDraining, Node: n.number, Incarnation: n.inc})
	f.kernel.After(drainMax, n.incKey.At(labelKill), event{kind: evKill, node: n.number, inc: n.inc})
	f.step(n, &machine.Drain{NowMs: f.clockMs(n)})
}

// onKill ends a graceful stop that has taken too long.
func (f *fleet) onKill(n *nodeState, inc uint32) {
	if n.inc == inc && n.machine != nil && n.draining {
		f.changed = true
		f.crash(n, "its graceful stop took too long")
		if n.wantUp {
			f.startSoon(n)
		}
	}
}

// startSoon makes sure that a node will run. If the node is down, it starts after a short drawn delay; if it is
// stopping, it starts once it has stopped.
func (f *fleet) startSoon(n *nodeState) {
	n.wantUp, n.barred = true, false
	if n.machine == nil && f.schema.migration(n) < 0 {
		f.startWithin(n, 10*time.Millisecond, 500*time.Millisecond)
	}
}

// startWithin schedules the start of a node that is down, after a delay drawn between least and most. If a start is
// already pending, the earlier one wins, so an operator can start a node before its automatic restart.
func (f *fleet) startWithin(n *nodeState, least, most time.Duration) {
	key := n.key.Num(labelStart, n.starts)
	n.starts++
	at := f.kernel.Now().Add(sim.Between(f.chooser, key, least, most))
	if n.startAt != 0 && n.startAt <= at {
		return
	}
	f.kernel.Cancel(n.start)
	n.start, n.startAt = f.kernel.At(at, key, event{kind: evNodeStart, node: n.number}), at
}

func (f *fleet) keepDown(n *nodeState) {
	n.wantUp, n.barred = false, false
	f.kernel.Cancel(n.start)
	n.startAt = 0
	f.schema.finish(n)
}

// onNodeStart starts a new incarnation of a node, with its current build, options and handlers.
func (f *fleet) onNodeStart(n *nodeState) {
	f.changed = true
	n.startAt = 0
	if !f.schema.readyFor(n) {
		return
	}
	n.inc++
	n.incKey = n.key.Num(labelIncarnation, uint64(n.inc))
	var err error
	if n.registry, err = f.registryOf(n.plan, n.build); err != nil {
		panic(fmt.Sprintf("cluster: node %s: %v", n.plan.Name, err)) // already checked by tryHandlers
	}
	for _, c := range n.changes {
		f.applyChange(n, c)
	}
	options := n.options.Clone()
	if f.plan.Strategy == plan.StrategyExact && options.SupportedReplayVersions == nil {
		options.SupportedReplayVersions = &engine.VersionRange{Min: n.build.Version, Max: n.build.Version}
	}
	rules := f.planted.For(n.plan.Name, n.build.Name())
	if rules.Code != nil {
		n.registry = workload.WithOutputs(n.registry, rules.Code)
	}
	m, err := f.makeMachine(n, machine.Config{
		Build: n.build, Registry: n.registry, Options: options, Name: n.plan.Name,
		RuntimeID: n.plan.Name + "." + strconv.FormatUint(uint64(n.inc), 10), Rules: &rules.Node, Replay: &rules.Replay,
		Arena:       f.arena.nodes,
		DoubleCheck: f.cfg.DoubleCheck,
		Watch:       f.cfg.Monitor != nil,
		Routing:     routing(f.plan),
	})
	switch {
	case err != nil && n.build.Release != "":
		f.failure = fmt.Errorf("node %s: %w", n.plan.Name, err)
		return
	case err != nil:
		panic(fmt.Sprintf("cluster: node %s: %v", n.plan.Name, err))
	}
	n.machine = m
	n.running, n.runningOptions = n.build, options
	caller := observe.Caller{Node: n.number, Incarnation: n.inc}
	if rules.Provider != f.planted.For("", "").Provider {
		f.ownRules[caller] = rules.Provider
	}
	f.setClock(n)
	n.provider = f.storeHandle(n.build.Codec, caller)
	f.inform(n)
	f.record(&Record{Kind: record.NodeStarted, Node: n.number, Incarnation: n.inc})
	f.step(n, &machine.Start{NowMs: f.clockMs(n)})
}

// shippedRegistry holds the handlers shipped with a build. It is never modified.
type shippedRegistry struct {
	build    *engine.Build
	registry *node.Registry
}

// crash ends an incarnation immediately. Its calls in transit may still arrive.
func (f *fleet) crash(n *nodeState, why string) {
	if n.machine == nil {
		return
	}
	f.changed = true
	f.record(&Record{Kind: record.NodeCrashed, Node: n.number, Incarnation: n.inc, Text: why})
	f.down(n)
}

// crashByFault crashes n. The node restarts automatically after a drawn delay, unless it was being stopped.
func (f *fleet) crashByFault(n *nodeState, kind faults.Kind) {
	f.record(&Record{Kind: record.Fault, Fault: kind, Node: n.number, Incarnation: n.inc})
	f.crash(n, string(kind))
	if n.wantUp {
		f.startWithin(n, 200*time.Millisecond, 8*time.Second)
	}
}

// down performs the steps common to all ends of an incarnation.
func (f *fleet) down(n *nodeState) {
	for _, t := range n.timers {
		f.kernel.Cancel(t.handle)
	}
	for _, j := range n.jobs {
		f.kernel.Cancel(j.handle)
	}
	f.kernel.Cancel(n.wake)
	n.release()
	if k, ok := n.machine.(keeper); ok {
		k.Close()
	}
	clear(n.jobs) // its activities
	n.timers, n.jobs, n.held = n.timers[:0], n.jobs[:0], n.held[:0]
	n.machine = nil
	if f.schema.invalid != nil {
		f.schema.invalid[n.number-1] = 0 // its prepared statements are gone
	}
	n.draining, n.paused = false, false
	f.parking.leaveGroups(n)
	f.inform(n)
}

// stopped ends an incarnation that has finished draining.
func (f *fleet) stopped(n *nodeState) {
	f.record(&Record{Kind: record.NodeStopped, Node: n.number, Incarnation: n.inc})
	f.down(n)
	if n.wantUp {
		f.startSoon(n)
	}
}

// pause freezes a node that is up: its inputs wait until it resumes. A node that is frozen already stays so until the later
// end of both. It has no effect if the node is stopping.
func (f *fleet) pause(n *nodeState, d time.Duration) {
	at := f.kernel.Now().Add(d)
	if n.machine == nil || n.draining || n.paused && at <= n.wakeAt {
		return
	}
	if n.paused {
		f.kernel.Cancel(n.wake)
	}
	n.paused, n.wakeAt = true, at
	f.inform(n)
	f.record(&Record{Kind: record.NodePaused, Node: n.number, Incarnation: n.inc, For: d})
	f.parking.leaveWaking(n)
	n.wake = f.kernel.At(at, n.incKey.At(labelPause), event{kind: evResume, node: n.number, inc: n.inc})
}

// resume delivers all inputs that a paused node has missed, in their original order.
func (f *fleet) resume(n *nodeState) {
	n.paused = false
	f.kernel.Cancel(n.wake)
	f.inform(n)
	f.record(&Record{Kind: record.NodeResumed, Node: n.number, Incarnation: n.inc})
	for _, g := range f.parking.groups {
		f.parking.mark(g) // its parked fetches can be woken
	}
	held := n.held
	n.held = nil
	for _, e := range held {
		if n.machine == nil || n.inc != e.inc {
			return
		}
		f.carryOut(e)
	}
}

func (f *fleet) inform(n *nodeState) {
	i := &f.infos[n.number-1]
	i.Incarnation, i.Registry = n.inc, n.registry
	i.Up, i.Draining, i.Paused = n.machine != nil, n.draining, n.paused
	if !n.barred {
		i.Refusal = ""
	}
	if n.machine != nil {
		i.Build, i.Options, i.Filter, i.Clock = n.running, n.runningOptions, n.machine.Filter(), n.clock
	}
}
