package machine

import (
	"errors"
	"fmt"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/replay"
)

// Config configures a node.
type Config struct {
	// Name identifies the node in messages.
	Name string
	// RuntimeID distinguishes this incarnation from every other node and incarnation. The worker slots derive from it
	// the names under which they claim sessions. If empty, the node's name is used, which is sufficient if no node
	// starts twice.
	RuntimeID string
	// Build is the build that the node runs.
	Build *engine.Build
	// Registry holds the node's handlers and activities. The node does not copy it.
	Registry *node.Registry
	// Options are the node's options. The node copies them.
	Options node.Options
	// Rules holds the rules for the node's own decisions; nil means DefaultRules.
	Rules *Rules
	// Replay holds the rules for the node's turns; nil means replay.DefaultRules.
	Replay *replay.Rules
	// Routing configures how the node treats work that it cannot run.
	Routing Routing
	// DoubleCheck makes the node compute every turn twice. TurnNote.Nondeterministic then describes the first
	// difference between the two computations.
	DoubleCheck bool
	// Watch makes the node record the requests of each turn's code in TurnNote.Asked.
	Watch bool
	// Arena is memory for turns, activities and effects. Nodes that are never stepped concurrently may share it. If it is
	// nil, the node's turns reuse no memory.
	Arena *Arena
}

// Node is one incarnation of a runtime node. It is not safe for concurrent use.
//
// Invariant: apart from its config, rules, registry and kept executions, a Node is plain data.
type Node struct {
	name     string
	build    *engine.Build
	registry *node.Registry
	options  node.Options
	rules    *Rules
	replay   *replay.Rules

	arena *Arena

	doubleCheck bool
	watch       bool
	routing     Routing
	supported   engine.VersionRange
	// admitted is the supported range as a filter; the runtime-side check uses it. filter is the filter that the node
	// fetches with. The two differ only under a planted bug. Both are read-only.
	admitted, filter *engine.CapabilityFilter

	nowMs    int64
	slots    []slot
	calls    CallID // the last id assigned; likewise for the next two fields
	timers   TimerID
	jobs     JobID
	started  bool
	draining bool
	stopped  bool
	owners   []string // see sessionOwners; read-only
	keeper   sessionKeeper
	sweeper  sweeper
	kept     kept
	counters Counters
	out      []Effect // effects of the current step
	// current is the delivery being decided. fetch is the fetch request shared by all orchestration slots; it is
	// read-only.
	current delivery
	fetch   call.Call
}

// New returns a node that is ready for its Start.
func New(c Config) (*Node, error) {
	if c.Build == nil || c.Registry == nil {
		return nil, errors.New("node: expected a build and a registry")
	}
	if err := c.Options.Validate(); err != nil {
		return nil, fmt.Errorf("node %s: %w", c.Name, err)
	}
	if c.Rules == nil {
		c.Rules = DefaultRules()
	}
	n := &Node{
		name: c.Name, build: c.Build, registry: c.Registry, options: c.Options.Clone(), rules: c.Rules, replay: c.Replay,
		doubleCheck: c.DoubleCheck, watch: c.Watch, supported: c.Options.Range(c.Build), arena: c.Arena,
	}
	if n.arena == nil {
		n.arena = &Arena{}
	}
	runtime := c.RuntimeID
	if runtime == "" {
		runtime = c.Name
	}
	n.owners = n.rules.sessionOwners(&n.options, runtime)
	n.admitted = engine.FilterFor(n.supported)
	n.filter = n.rules.DeclareFilter(n.supported)
	n.slots = n.arena.slots.Make(n.options.OrchestrationConcurrency + n.options.WorkerConcurrency)
	for i := range n.options.OrchestrationConcurrency {
		n.slots = append(n.slots, slot{id: Slot{SlotOrchestration, i}})
	}
	for i := range n.options.WorkerConcurrency {
		n.slots = append(n.slots, slot{id: Slot{SlotWorker, i}})
	}
	n.routed(c.Routing)
	return n, nil
}

// Filter returns the filter that the node fetches with, or would if it did not stall what it cannot replay. It must not be
// modified.
func (n *Node) Filter() *engine.CapabilityFilter { return n.filter }

// Counters returns a copy of the node's counters.
func (n *Node) Counters() Counters { return n.counters }

// Step applies one input to the node's state and returns the requested effects in order. The caller owns the returned
// slice, but the effects themselves are in the node's Arena. The node does not retain the input.
func (n *Node) Step(in Input) []Effect { return n.StepInto(in, nil) }

// StepInto is like Step but appends the effects to the slice effects.
func (n *Node) StepInto(in Input, effects []Effect) []Effect {
	n.out = effects
	switch in := in.(type) {
	case *Start:
		n.nowMs = in.NowMs
		n.onStart()
	case *Answer:
		n.nowMs = in.NowMs
		n.onAnswer(in)
	case *Wake:
		n.nowMs = in.NowMs
		n.onWake(in.Timer)
	case *Finished:
		n.nowMs = in.NowMs
		n.onFinished(in)
	case *Drain:
		n.nowMs = in.NowMs
		n.onDrain()
	default:
		panic("node " + n.name + ": unknown input") // does not print the type, because that would move inputs to the heap
	}
	n.stopIfDrained()
	out := n.out
	n.out = nil
	return out
}

func (n *Node) onStart() {
	if n.started {
		panic("node " + n.name + ": started twice")
	}
	n.started = true
	if n.draining {
		return
	}
	n.logStart()
	if n.options.WorkerNodeID != "" && n.options.WorkerConcurrency > 0 {
		n.keepSessions()
	}
	for i := range n.slots {
		n.next(&n.slots[i])
	}
}

func (n *Node) onAnswer(in *Answer) {
	if in.Call == 0 || in.Call > n.calls {
		panic(fmt.Sprintf("node %s: answer to call %d, which was never made", n.name, in.Call))
	}
	if n.onSessionAnswer(in) {
		return
	}
	for i := range n.slots {
		s := &n.slots[i]
		if s.hold != nil && s.hold.renewalCall == in.Call {
			n.onRenewed(s, in.Err)
			return
		}
		if s.call != in.Call {
			continue
		}
		s.call = 0
		switch s.phase {
		case phaseFetching:
			n.onFetched(s, in)
		case phaseAcking:
			n.onAcked(s, in.Err)
		case phaseAbandoning:
			n.next(s)
		case phaseReading:
			n.onKeyRead(s, in)
		default:
			panic(fmt.Sprintf("node %s: answer to call %d in phase %d", n.name, in.Call, s.phase))
		}
		return
	}
}

func (n *Node) onWake(t TimerID) {
	if t == 0 || t > n.timers {
		panic(fmt.Sprintf("node %s: wake of timer %d, which was never set", n.name, t))
	}
	if n.onSessionWake(t) {
		return
	}
	for i := range n.slots {
		s := &n.slots[i]
		if s.hold != nil && s.hold.renewalTimer == t {
			n.onRenewalDue(s)
			return
		}
		if s.timer != t {
			continue
		}
		s.timer = 0
		switch s.phase {
		case phasePausing:
			n.next(s)
		case phaseAckPausing:
			n.sendAck(s)
		case phaseGrace:
			n.onGraceOver(s)
		default:
			panic(fmt.Sprintf("node %s: wake of timer %d in phase %d", n.name, t, s.phase))
		}
		return
	}
}

func (n *Node) onFinished(in *Finished) {
	if in.Job == 0 || in.Job > n.jobs {
		panic(fmt.Sprintf("node %s: finish of job %d, which was never begun", n.name, in.Job))
	}
	for i := range n.slots {
		s := &n.slots[i]
		if s.job != in.Job {
			continue
		}
		s.job = 0
		switch {
		case s.id.Kind == SlotOrchestration:
			n.sendAck(s)
		case s.phase == phaseGrace:
			n.cancelTimer(&s.timer)
			n.endLost(s)
		default:
			n.onActivityDone(s, in.Panic)
		}
		return
	}
}

func (n *Node) onDrain() {
	if n.draining {
		return
	}
	n.draining = true
	for i := range n.slots {
		n.drain(&n.slots[i])
	}
}

// stopIfDrained emits Stopped, once, when every slot has stopped.
func (n *Node) stopIfDrained() {
	if !n.draining || n.stopped {
		return
	}
	for i := range n.slots {
		if n.slots[i].phase != phaseStopped {
			return
		}
	}
	n.stopped = true
	n.stopSessions()
	n.emit(&Stopped{})
}

func (n *Node) emit(c Effect) {
	if n.out == nil {
		n.out = make([]Effect, 0, 4) // enough for almost every step
	}
	n.out = append(n.out, c)
}

// ask emits provider call r with a deadline.
func (n *Node) ask(s *slot, r call.Call) CallID { return n.askAs(s.id, r) }

// askFetch emits fetch r, which has no deadline.
func (n *Node) askFetch(s *slot, r call.Call) CallID {
	c := n.callTo(s.id, r)
	c.Cadence = n.options.DispatcherMinPollInterval
	return n.calls
}

func (n *Node) askAs(id Slot, r call.Call) CallID {
	n.callTo(id, r).Deadline = n.rules.CallDeadline(n.options.CallDeadline)
	return n.calls
}

// callTo emits a provider call and returns it, so that the caller can fill in the remaining fields.
func (n *Node) callTo(id Slot, r call.Call) *ProviderCall {
	n.calls++
	c := n.arena.calls.New()
	c.ID, c.Slot, c.Request = n.calls, id, r
	n.emit(c)
	return c
}

func (n *Node) setTimer(after time.Duration, purpose string) TimerID {
	n.timers++
	c := n.arena.timers.New()
	c.Timer, c.After, c.Purpose = n.timers, after, purpose
	n.emit(c)
	return n.timers
}

// cancelTimer cancels a timer if it is set.
func (n *Node) cancelTimer(t *TimerID) {
	if *t != 0 {
		c := n.arena.stops.New()
		c.Timer = *t
		n.emit(c)
		*t = 0
	}
}

// note adds the slot's work to what and emits the note.
func (n *Node) note(s *slot, what Note) {
	h := s.hold
	note := n.arena.notes.New()
	*note = what
	note.Slot, note.Token, note.Instance, note.ExecutionID, note.AttemptCount = s.id, h.token, h.instance, h.execution, h.count
	n.emit(note)
}

// event returns an event stamped with the version of the node's build.
func (n *Node) event(instance string, execution, id uint64, data engine.EventData) engine.Event {
	return engine.Event{
		EventID: id, InstanceID: instance, ExecutionID: execution, TimestampMs: uint64(n.nowMs),
		DuroxideVersion: n.build.Version.String(), Data: data,
	}
}

func lastEventID(history []engine.Event) uint64 {
	var last uint64
	for _, e := range history {
		last = max(last, e.EventID)
	}
	return last
}
