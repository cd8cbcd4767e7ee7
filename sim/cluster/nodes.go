package cluster

import (
	"fmt"
	"strconv"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/workload"
)

// nodeState is a node of the plan with its present incarnation.
type nodeState struct {
	number uint32
	plan   *plan.Node
	key    sim.Key // of the node
	incKey sim.Key // of the incarnation
	// build and options are what the next start takes; running and its options are those of the present incarnation.
	build          *engine.Build
	options        node.Options
	running        *engine.Build
	runningOptions node.Options
	// changes are registrations of the schedule, applied again at every start.
	changes []handlerChange

	// wantUp says whether the node should run. Invariant: one that is down and wanted has a start pending, and no other has.
	wantUp  bool
	start   sim.Handle // the pending start
	startAt sim.Time   // when it is due, 0 for none
	starts  uint64     // how many starts were drawn

	inc      uint32
	machine  *node.Node // nil while down
	provider engine.Provider
	registry *node.Registry
	draining bool
	paused   bool
	wake     sim.Handle // the end of the pause
	held     []event    // what a paused node will see when it goes on

	timers   []timer // that are set
	jobs     []job   // that run
	counters node.Counters
}

// makeNodes makes the nodes of the plan, all down.
func (w *World) makeNodes() error {
	for i := range w.plan.Nodes {
		p := &w.plan.Nodes[i]
		n := &nodeState{
			number: uint32(i + 1), plan: p, key: w.root.Name(labelNode, p.Name),
			build: plan.FindBuild(w.builds, p.Build), options: node.DefaultOptions(),
		}
		for _, s := range p.Options {
			if err := n.options.Set(s.Name, s.Value); err != nil {
				return fmt.Errorf("cluster: node %s: %w", p.Name, err)
			}
		}
		if err := w.tryHandlers(p); err != nil {
			return fmt.Errorf("cluster: node %s: %w", p.Name, err)
		}
		w.nodes = append(w.nodes, n)
		w.infos = append(w.infos, NodeInfo{Number: n.number, Name: p.Name, Build: n.build, Options: n.options, Core: w.isCore(p)})
	}
	return nil
}

// number is the number of a node of that name, 0 if there is none.
func (w *World) number(name string) uint32 {
	for i := range w.plan.Nodes {
		if w.plan.Nodes[i].Name == name {
			return uint32(i + 1)
		}
	}
	return 0
}

// restart stops a node gracefully, if it is up, and starts it with what are now its build and options.
func (w *World) restart(n *nodeState) {
	w.startSoon(n)
	w.drain(n)
}

// drainMax is how long a graceful stop may take before the node is killed, as an operator's tools would.
const drainMax = 30 * time.Second

// drain stops a node gracefully. One that is frozen goes on first: what it missed may freeze it again, or crash it.
func (w *World) drain(n *nodeState) {
	for n.machine != nil && n.paused {
		w.resume(n)
	}
	if n.machine == nil || n.draining {
		return
	}
	n.draining = true
	w.inform(n)
	w.record(&Record{Kind: RecNodeDraining, Node: n.number, Incarnation: n.inc})
	w.kernel.After(drainMax, n.incKey.At(labelKill), event{kind: evKill, node: n.number, inc: n.inc})
	w.step(n, node.Drain{NowMs: w.NowMs()})
}

// onKill ends a graceful stop that took too long.
func (w *World) onKill(n *nodeState, inc uint32) {
	if n.inc == inc && n.machine != nil && n.draining {
		w.changed = true
		w.crash(n, "its graceful stop took too long")
		if n.wantUp {
			w.startSoon(n)
		}
	}
}

// startSoon makes a node run: it starts after a short drawn delay if it is down, and when it has stopped if it is
// stopping.
func (w *World) startSoon(n *nodeState) {
	n.wantUp = true
	if n.machine == nil {
		w.startWithin(n, 10*time.Millisecond, 500*time.Millisecond)
	}
}

// startWithin draws when a node that is down starts. Of two starts the earlier counts: an operator need not wait for a
// machine to come back by itself.
func (w *World) startWithin(n *nodeState, least, most time.Duration) {
	key := n.key.Num(labelStart, n.starts)
	n.starts++
	at := w.kernel.Now().Add(sim.Between(w.chooser, key, least, most))
	if n.startAt != 0 && n.startAt <= at {
		return
	}
	w.kernel.Cancel(n.start)
	n.start, n.startAt = w.kernel.At(at, key, event{kind: evNodeStart, node: n.number}), at
}

// keepDown takes the wish back that a node runs, and the start that may be pending.
func (w *World) keepDown(n *nodeState) {
	n.wantUp = false
	w.kernel.Cancel(n.start)
	n.startAt = 0
}

// onNodeStart starts a new incarnation of a node that is down, with its present build, options and handlers.
func (w *World) onNodeStart(n *nodeState) {
	w.changed = true
	n.startAt = 0
	n.inc++
	n.incKey = n.key.Num(labelIncarnation, uint64(n.inc))
	n.registry = w.handlersOf(n.build)
	if n.plan.Handlers != nil {
		if err := keepOnly(n.registry, n.plan.Handlers); err != nil {
			panic(fmt.Sprintf("cluster: node %s: %v", n.plan.Name, err))
		}
	}
	if err := workload.RegisterPrograms(n.registry, w.plan.Programs); err != nil {
		panic(fmt.Sprintf("cluster: node %s: %v", n.plan.Name, err)) // tryHandlers has tried
	}
	for _, c := range n.changes {
		w.applyChange(n, c)
	}
	machine, err := node.New(node.Config{
		Build: n.build, Registry: n.registry, Options: n.options, Name: n.plan.Name,
		RuntimeID: n.plan.Name + "." + strconv.FormatUint(uint64(n.inc), 10), Rules: &w.tables.Node, Replay: &w.tables.Replay,
		Workspace:   w.workspace,
		DoubleCheck: w.cfg.DoubleCheck,
	})
	if err != nil {
		panic(fmt.Sprintf("cluster: node %s: %v", n.plan.Name, err))
	}
	n.machine = machine
	n.running, n.runningOptions = n.build, n.options.Clone()
	n.provider = w.storeHandle(n.build.Codec, engine.Caller{Node: n.number, Incarnation: n.inc})
	w.inform(n)
	w.record(&Record{Kind: RecNodeStarted, Node: n.number, Incarnation: n.inc})
	w.step(n, node.Start{NowMs: w.NowMs()})
}

// handlersOf makes a registry with the handlers of a build. What is shipped with it is registered once in a run.
func (w *World) handlersOf(b *engine.Build) *node.Registry {
	for i := range w.shipped {
		if w.shipped[i].build == b {
			return w.shipped[i].registry.Clone()
		}
	}
	r := node.NewRegistry()
	if err := w.cfg.Handlers(r, b); err != nil {
		panic(fmt.Sprintf("cluster: handlers of build %s: %v", b.Name(), err)) // tryHandlers has tried
	}
	if w.shippedHandlers {
		w.shipped = append(w.shipped, shippedRegistry{b, r.Clone()})
	}
	return r
}

// shippedRegistry is what is shipped with a build; nobody changes it.
type shippedRegistry struct {
	build    *engine.Build
	registry *node.Registry
}

// crash ends an incarnation at once. What is on the wire may still arrive.
func (w *World) crash(n *nodeState, why string) {
	if n.machine == nil {
		return
	}
	w.changed = true
	w.record(&Record{Kind: RecNodeCrashed, Node: n.number, Incarnation: n.inc, Text: why})
	w.down(n)
}

// crashByFault crashes a node, which comes back by itself after a while unless it was stopping for good.
func (w *World) crashByFault(n *nodeState, kind faults.Kind) {
	w.record(&Record{Kind: RecFault, Fault: kind, Node: n.number, Incarnation: n.inc})
	w.crash(n, string(kind))
	if n.wantUp {
		w.startWithin(n, 200*time.Millisecond, 8*time.Second)
	}
}

// down is what every end of an incarnation has in common.
func (w *World) down(n *nodeState) {
	n.counters.Add(n.machine.Counters())
	for _, t := range n.timers {
		w.kernel.Cancel(t.handle)
	}
	for _, j := range n.jobs {
		w.kernel.Cancel(j.handle)
	}
	w.kernel.Cancel(n.wake)
	clear(n.jobs) // its activities
	n.timers, n.jobs, n.held = n.timers[:0], n.jobs[:0], n.held[:0]
	n.machine = nil
	n.draining, n.paused = false, false
	w.leaveGroups(n)
	w.inform(n)
}

// stopped ends an incarnation that has drained.
func (w *World) stopped(n *nodeState) {
	w.record(&Record{Kind: RecNodeStopped, Node: n.number, Incarnation: n.inc})
	w.down(n)
	if n.wantUp {
		w.startSoon(n)
	}
}

// pause freezes a node that is up: what reaches it meanwhile, it sees when it goes on. A node that is frozen already, or
// stopping, takes no notice.
func (w *World) pause(n *nodeState, d time.Duration) {
	if n.machine == nil || n.paused || n.draining {
		return
	}
	n.paused = true
	w.inform(n)
	w.record(&Record{Kind: RecNodePaused, Node: n.number, Incarnation: n.inc, For: d})
	w.leaveWaking(n)
	n.wake = w.kernel.After(d, n.incKey.At(labelPause), event{kind: evResume, node: n.number, inc: n.inc})
}

func (w *World) onResume(n *nodeState) {
	w.changed = true
	w.resume(n)
}

// resume lets a paused node see all that it missed, in the order in which it would have.
func (w *World) resume(n *nodeState) {
	n.paused = false
	w.kernel.Cancel(n.wake)
	w.inform(n)
	w.record(&Record{Kind: RecNodeResumed, Node: n.number, Incarnation: n.inc})
	for _, g := range w.groups {
		g.dirty = true // its parked fetches may be woken again
	}
	held := n.held
	n.held = nil
	for _, e := range held {
		if n.machine == nil || n.inc != e.inc {
			return
		}
		w.handle(e)
	}
}

// inform brings what monitors see of a node up to date.
func (w *World) inform(n *nodeState) {
	i := &w.infos[n.number-1]
	i.Incarnation, i.Registry = n.inc, n.registry
	i.Up, i.Draining, i.Paused = n.machine != nil, n.draining, n.paused
	if n.machine != nil {
		i.Build, i.Options, i.Filter = n.running, n.runningOptions, n.machine.Filter()
	}
}

// step feeds one input to a node and carries out what it wants done.
func (w *World) step(n *nodeState, in node.Input) {
	w.changed = true
	inc := n.inc
	calls := n.machine.StepInto(in, w.nodeCalls[:0])
	w.nodeCalls = nil // a step within this one has its own
	for _, c := range calls {
		if n.machine == nil || n.inc != inc {
			break // it crashed while sending
		}
		w.do(n, c)
	}
	clear(calls)
	w.nodeCalls = calls
}

// do carries out one call of a node.
func (w *World) do(n *nodeState, c node.Call) {
	switch c := c.(type) {
	case node.ProviderCall:
		w.send(n, c)
	case node.CancelCall:
		w.cancelCall(n, c.ID)
	case node.SetTimer:
		h := w.kernel.After(c.After, n.incKey.Num(labelTimer, uint64(c.Timer)), event{kind: evTimer, node: n.number, inc: n.inc, a: uint64(c.Timer)})
		n.timers = append(n.timers, timer{c.Timer, h})
	case node.CancelTimer:
		if t, ok := n.takeTimer(c.Timer); ok {
			w.kernel.Cancel(t.handle)
		}
	case node.RunTurn:
		w.runTurn(n, c)
	case node.RunActivity:
		w.runActivity(n, c)
	case node.CancelJob:
		if j, ok := n.takeJob(c.Job); ok {
			w.kernel.Cancel(j.handle)
		}
	case node.Log:
		w.log = c
		w.record(&Record{Kind: RecLog, Node: n.number, Incarnation: n.inc, Log: &w.log})
	case node.Note:
		if c.Decision == node.DecideTurn {
			w.turns++
		}
		w.note = c
		w.checkHandler(n, &w.note)
		w.record(&Record{Kind: RecNote, Node: n.number, Incarnation: n.inc, Note: &w.note, Slot: c.Slot})
	case node.Stopped:
		w.stopped(n)
	default:
		panic(fmt.Sprintf("cluster: call %T", c))
	}
}
