package cluster

import (
	"fmt"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim"
)

// nodeState is a node of the plan with its present incarnation.
type nodeState struct {
	number uint32
	plan   *NodePlan
	key    sim.Key // of the node
	incKey sim.Key // of the incarnation
	// build and options are what the next start takes; running and its options are those of the present incarnation.
	build          *engine.Build
	options        node.Options
	running        *engine.Build
	runningOptions node.Options
	// changes are registrations of the schedule, applied again at every start.
	changes []handlerChange

	// wantUp says whether the node should run; a node that is down and wanted starts when it may.
	wantUp   bool
	inc      uint32
	machine  *node.Node // nil while down
	provider engine.Provider
	registry *node.Registry
	draining bool
	starting bool
	paused   bool
	held     []event // what a paused node will see when it goes on

	timers   []timerRef // live timers of the incarnation
	jobs     []timerRef // live jobs
	busy     []jobState
	counters node.Counters
}

type handlerChange struct {
	handler string
	remove  bool
}

func (w *World) makeNodes() error {
	for i := range w.plan.Nodes {
		p := &w.plan.Nodes[i]
		n := &nodeState{
			number: uint32(i + 1), plan: p, key: w.root.Name(labelNode, p.Name),
			build: findBuild(w.builds, p.Build), options: node.DefaultOptions(),
		}
		for _, s := range p.Options {
			if err := n.options.Set(s.Name, s.Value); err != nil {
				return fmt.Errorf("cluster: node %s: %w", p.Name, err)
			}
		}
		w.nodes = append(w.nodes, n)
		w.infos = append(w.infos, NodeInfo{Number: n.number, Name: p.Name, Build: n.build, Options: n.options, Core: w.isCore(p)})
	}
	return nil
}

// isCore says whether a node is up in calm: its last step is not stop or remove, and an absent node is added.
func (w *World) isCore(p *NodePlan) bool {
	core := !p.Absent
	for i := range w.plan.Schedule {
		if s := &w.plan.Schedule[i]; s.Node == p.Name {
			core = s.Verb != VerbStop && s.Verb != VerbRemove && (core || s.Verb == VerbAdd || s.Verb == VerbStart)
			if s.Verb == VerbUpgrade || s.Verb == VerbRollback || s.Verb == VerbCrash || s.Verb == VerbStart || s.Verb == VerbAdd {
				core = true
			}
		}
	}
	return core
}

func (w *World) number(name string) uint32 {
	for i := range w.plan.Nodes {
		if w.plan.Nodes[i].Name == name {
			return uint32(i + 1)
		}
	}
	return 0
}

func findBuild(builds []*engine.Build, name string) *engine.Build {
	for _, b := range builds {
		if b.Name() == name {
			return b
		}
	}
	return nil
}

func (w *World) onSchedule(s *Step) {
	w.changed = true
	w.record(Record{Kind: RecScheduled, Schedule: s, Node: w.number(s.Node)})
	if s.Verb == VerbMark {
		return
	}
	n := w.nodes[w.number(s.Node)-1]
	switch s.Verb {
	case VerbUpgrade, VerbRollback:
		n.build = findBuild(w.builds, s.Build)
		w.restart(n)
	case VerbWiden, VerbNarrow:
		r := *s.Range
		n.options.SupportedReplayVersions = &r
		w.restart(n)
	case VerbStop, VerbRemove:
		n.wantUp = false
		w.drain(n)
	case VerbCrash:
		n.wantUp = false
		w.crash(n, "by the schedule")
	case VerbStart, VerbAdd:
		n.wantUp = true
		w.startSoon(n)
	case VerbPause:
		w.pause(n, s.For)
	case VerbRegister, VerbDeregister:
		c := handlerChange{handler: s.Handler, remove: s.Verb == VerbDeregister}
		n.changes = append(n.changes, c)
		if n.machine != nil {
			w.applyChange(n, c)
		}
	default:
		panic(fmt.Sprintf("cluster: schedule verb %q", s.Verb))
	}
}

// restart stops a node gracefully; it comes back with its present build and options. A node that is down takes them up
// at its next start.
func (w *World) restart(n *nodeState) {
	n.wantUp = true
	if n.machine == nil {
		w.startSoon(n)
		return
	}
	w.drain(n)
}

// drainMax is how long a graceful stop may take before the node is killed, as an operator's tools would.
const drainMax = 30 * time.Second

func (w *World) drain(n *nodeState) {
	if n.machine == nil || n.draining {
		return
	}
	if n.paused {
		w.resume(n)
		if n.machine == nil {
			return // what it had missed made it crash; its start is pending
		}
	}
	n.draining = true
	w.inform(n)
	w.record(Record{Kind: RecNodeDraining, Node: n.number, Incarnation: n.inc})
	w.kernel.After(drainMax, n.incKey.At(labelPause), event{kind: evKill, node: n.number, inc: n.inc})
	w.step(n, node.Drain{NowMs: w.NowMs()})
}

func (w *World) onKill(n *nodeState, inc uint32) {
	if n.inc == inc && n.machine != nil && n.draining {
		w.changed = true
		w.crash(n, "its graceful stop took too long")
	}
}

// startSoon starts a node after a short drawn delay.
func (w *World) startSoon(n *nodeState) {
	if n.machine != nil || n.starting {
		return
	}
	n.starting = true
	delay := sim.Between(w.chooser, n.key.Num(labelStart, uint64(n.inc)), 10*time.Millisecond, 500*time.Millisecond)
	w.kernel.After(delay, n.key.Num(labelStart, uint64(n.inc)), event{kind: evNodeStart, node: n.number})
}

func (w *World) onNodeStart(n *nodeState) {
	n.starting = false
	if n.machine != nil || !n.wantUp {
		return
	}
	w.changed = true
	n.inc++
	n.incKey = n.key.Num(labelIncarnation, uint64(n.inc))
	n.registry = node.NewRegistry()
	if err := w.cfg.Handlers(n.registry, n.build); err != nil {
		panic(fmt.Sprintf("cluster: handlers of build %s: %v", n.build.Name(), err))
	}
	if n.plan.Handlers != nil {
		if err := keepOnly(n.registry, n.plan.Handlers); err != nil {
			panic(fmt.Sprintf("cluster: node %s: %v", n.plan.Name, err))
		}
	}
	for _, c := range n.changes {
		w.applyChange(n, c)
	}
	machine, err := newNode(node.Config{
		Build: n.build, Registry: n.registry, Options: n.options, Name: n.plan.Name, Rules: &w.tables.Node, Replay: &w.tables.Replay,
	})
	if err != nil {
		panic(fmt.Sprintf("cluster: node %s: %v", n.plan.Name, err))
	}
	n.machine = machine
	n.running, n.runningOptions = n.build, n.options.Clone()
	n.draining, n.paused = false, false
	n.provider = w.store.Handle(n.build.Codec, engine.Caller{Node: n.number, Incarnation: n.inc})
	w.inform(n)
	w.record(Record{Kind: RecNodeStarted, Node: n.number, Incarnation: n.inc})
	w.step(n, node.Start{NowMs: w.NowMs()})
}

func (w *World) applyChange(n *nodeState, c handlerChange) {
	var err error
	if c.remove {
		err = deregister(n.registry, c.handler)
	} else {
		err = registerShipped(n.registry, c.handler)
	}
	if err != nil {
		panic(fmt.Sprintf("cluster: node %s: %v", n.plan.Name, err)) // Validate has refused unknown handlers
	}
	w.record(Record{Kind: RecHandlersChanged, Node: n.number, Incarnation: n.inc, Text: c.handler})
}

// crash ends an incarnation at once. What is on the wire may still arrive.
func (w *World) crash(n *nodeState, why string) {
	if n.machine == nil {
		return
	}
	w.changed = true
	w.record(Record{Kind: RecNodeCrashed, Node: n.number, Incarnation: n.inc, Text: why})
	w.down(n)
}

// crashByFault crashes a node that will be started again after a while.
func (w *World) crashByFault(n *nodeState, kind faults.Kind) {
	w.record(Record{Kind: RecFault, Fault: kind, Node: n.number, Incarnation: n.inc})
	w.crash(n, string(kind))
	n.starting = true
	delay := sim.Between(w.chooser, n.incKey.At(labelStart), 200*time.Millisecond, 8*time.Second)
	w.kernel.After(delay, n.incKey.At(labelStart), event{kind: evNodeStart, node: n.number})
}

func (w *World) down(n *nodeState) {
	n.counters.Add(n.machine.Counters())
	for _, t := range n.timers {
		w.kernel.Cancel(t.handle)
	}
	for _, t := range n.jobs {
		w.kernel.Cancel(t.handle)
	}
	n.timers, n.jobs, n.busy, n.held = n.timers[:0], n.jobs[:0], n.busy[:0], n.held[:0]
	n.machine = nil
	n.draining, n.paused = false, false
	w.leaveGroups(n)
	w.inform(n)
}

// stopped ends an incarnation that has drained.
func (w *World) stopped(n *nodeState) {
	w.record(Record{Kind: RecNodeStopped, Node: n.number, Incarnation: n.inc})
	w.down(n)
	if n.wantUp {
		w.startSoon(n)
	}
}

func (w *World) pause(n *nodeState, d time.Duration) {
	if n.machine == nil || n.paused || n.draining {
		return
	}
	n.paused = true
	w.inform(n)
	w.record(Record{Kind: RecNodePaused, Node: n.number, Incarnation: n.inc, For: d})
	w.kernel.After(d, n.incKey.At(labelPause), event{kind: evResume, node: n.number, inc: n.inc})
}

func (w *World) onResume(n *nodeState, inc uint32) {
	if n.inc == inc && n.machine != nil && n.paused {
		w.changed = true
		w.resume(n)
	}
}

// resume lets a paused node see all that it missed, in the order in which it would have.
func (w *World) resume(n *nodeState) {
	n.paused = false
	w.inform(n)
	w.record(Record{Kind: RecNodeResumed, Node: n.number, Incarnation: n.inc})
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
	for _, c := range n.machine.Step(in) {
		if n.machine == nil || n.inc != inc {
			return // it crashed while sending
		}
		w.do(n, c)
	}
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
		n.timers = append(n.timers, timerRef{uint64(c.Timer), h})
	case node.CancelTimer:
		w.cancelRef(&n.timers, uint64(c.Timer))
	case node.RunTurn:
		w.runTurn(n, c)
	case node.RunActivity:
		w.runActivity(n, c)
	case node.CancelJob:
		w.cancelRef(&n.jobs, uint64(c.Job))
	case node.Log:
		w.record(Record{Kind: RecLog, Node: n.number, Incarnation: n.inc, Log: &c})
	case node.Note:
		if c.Decision == node.DecideTurn {
			w.turns++
		}
		w.record(Record{Kind: RecNote, Node: n.number, Incarnation: n.inc, Note: &c, Slot: c.Slot})
	case node.Stopped:
		w.stopped(n)
	default:
		panic(fmt.Sprintf("cluster: call %T", c))
	}
}
