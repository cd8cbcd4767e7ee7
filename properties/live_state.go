package properties

import (
	"math"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// livenessChecks are the checkers of liveness. What they share sees everything before them.
func livenessChecks(s *liveState) []checker {
	return []checker{newPoisonChecker(s), newObligations(s), newParentChecker(s.m), newCancelChecker(s.m), newReviveChecker(s.m)}
}

// newLiveState is the shared state of the checkers of a run.
func newLiveState(m *run) *liveState {
	s := &liveState{base: base{m}, rows: make([]liveRow, 0, 512)}
	for i := range m.w.Nodes() {
		s.nodes = append(s.nodes, liveNode{number: uint32(i + 1)})
	}
	if p := m.w.Plan(); p != nil {
		s.plan = *p
	}
	return s
}

const neverMs = math.MaxInt64

// liveState is what liveness, coverage and expectations know beside the model: the nodes as they are now, who holds which
// delivery and what was decided about it, when instances last made progress, and what waits because nobody admits it.
// Listeners are told of facts.
type liveState struct {
	base
	plan      plan.Plan
	nodes     []liveNode     // by number - 1
	instances []liveInstance // by number
	rows      []liveRow      // by number
	// executing is the slot whose call has its atomic instant now, nil outside.
	executing *liveSlot
	// executingInc is the incarnation that sent that call: its node may have started anew since.
	executingInc uint32
	listeners    []listener
	pins         []*engine.Version // that were ever set; the store keeps one copy of each
	phase        cluster.Phase
	calmMs       int64 // when calm began, 0 before
	phaseMs      int64 // when the present phase began
	// nodesChanged asks for a look at who waits, at the end of the step.
	nodesChanged bool
}

// liveNode is a node as it is now. It is live while it fetches and works.
type liveNode struct {
	number               uint32
	up, draining, paused bool
	startedMs            int64
	incarnation          uint32
	build, previous      *engine.Build
	from                 *engine.Build // the last other build that it was, nil for none
	options              node.Options
	filter               *engine.CapabilityFilter // of the range in its options: what it can replay, whatever it declares
	reads                kindMask
	registry             *node.Registry
	liveSinceMs          int64
	turns, activities    []liveSlot
}

func (n *liveNode) live() bool { return n.up && !n.draining && !n.paused }

// liveSlot is a loop of a node with its last two deliveries: a fetch that was given up may still be served.
type liveSlot struct {
	recent [2]delivery
	last   int
}

// delivery is what a fetch handed to a slot.
type delivery struct {
	token        string
	worker       bool
	instance     engine.InstanceNo
	messages     []engine.MessageNo
	told         uint32
	atMs         int64
	incarnation  uint32
	pin          *engine.Version
	historyError bool
	start        startKind
	decision     node.Decision
	turn         node.TurnNote
	ackCall      uint64 // the world's number of its last ack
	committed    bool   // its ack took effect
	answered     bool   // and the node was told
	refused      bool   // its ack was refused for good, without a fault
	faulted      bool   // a fault hit its ack
	held         bool   // neither acked nor abandoned, as far as the store knows
}

// startKind is what a batch begins with.
type startKind uint8

const (
	startNone startKind = iota
	startStart
	startCan
)

var startNames = [...]string{"none", "start", "can"}

// liveInstance is what liveness knows of an instance beside the model.
type liveInstance struct {
	known                       bool // a start for it was accepted, or it exists
	ended                       bool
	poisoned                    bool // it or a descendant was
	deleted                     bool // it ever was
	untold                      bool // damage took the link of a child to it
	cancelled                   bool
	children                    int // that have not ended
	parent                      engine.InstanceNo
	turns                       int   // committed since calm began
	progressMs                  int64 // last committed turn, or message of its own activities and children
	cancelMs                    int64 // when the first cancel was queued; 0 for none
	waitingMs                   int64 // since when visible work of it waits that no live node admits; 0 for not
	releasedMs                  int64 // when a node appeared that admits what waited, until it is delivered; 0 for not
	waited                      bool  // it ever waited
	outsideMs                   int64 // until when a probe has held it or its messages back
	lost                        int64 // holders that lost their lock since calm began
	stallReported, waitReported bool
	// and of L08 and L09
	recoverReported, convergeReported bool
}

// liveRow is what liveness knows of a message beside the model.
type liveRow struct {
	firstVisibleMs int64 // when it was to be visible when it was inserted
	deliveries     uint32
	spared         uint32 // deliveries that are not chargeable
	byHandler      bool   // some of these because the handler is elsewhere
	stuck          bool   // nobody admitted it when calm ended
	reported       bool
	lastDecision   node.Decision
	before         node.Decision // the one before it: what became of the delivery before the last
	lastNode       uint32
	decidedAt      uint32 // deliveries when lastDecision was first made
	bounced        uint32 // deliveries after which a node gave it back for its pin
	backoffMs      int64  // delays of abandons since calm began, each up to what the contract allows
	backoffs       uint32 // how many these are
	againMs        int64  // when it is visible again after it had to wait for a start, or for a probe; 0 if it never had
}

func (s *liveState) observes() []engine.ObservationKind {
	return []engine.ObservationKind{
		engine.ObsCallEnd, engine.ObsLockTaken, engine.ObsLockExtended, engine.ObsCountChanged,
		engine.ObsRowInserted, engine.ObsRowRemoved, engine.ObsRowDelayed, engine.ObsDamaged, engine.ObsStatusSet, engine.ObsParentSet, engine.ObsInstanceCreated,
		engine.ObsInstanceRemoved, engine.ObsPinSet,
	}
}

func (s *liveState) records() []cluster.RecordKind {
	return []cluster.RecordKind{
		cluster.RecNodeStarted, cluster.RecNodeStopped, cluster.RecNodeCrashed, cluster.RecNodePaused, cluster.RecNodeResumed,
		cluster.RecNodeDraining, cluster.RecCallSent, cluster.RecCallExecuting, cluster.RecCallExecuted, cluster.RecAnswered,
		cluster.RecNote, cluster.RecPhaseBegan, cluster.RecFault, cluster.RecHandlersChanged,
	}
}

// instance is the entry of an instance number. The pointer is good until the next new number.
func (s *liveState) instance(no engine.InstanceNo) *liveInstance {
	for len(s.instances) <= int(no) {
		s.instances = append(s.instances, liveInstance{})
	}
	return &s.instances[no]
}

// row is the entry of a message number. The pointer is good until the next new number.
func (s *liveState) row(no engine.MessageNo) *liveRow {
	for len(s.rows) <= int(no) {
		s.rows = append(s.rows, liveRow{})
	}
	return &s.rows[no]
}

// node is the entry of a node, nil for clients and probes.
func (s *liveState) node(number uint32) *liveNode {
	if number == 0 || int(number) > len(s.nodes) {
		return nil
	}
	return &s.nodes[number-1]
}

func (s *liveState) observe(o *engine.Observation) {
	switch o.Kind {
	case engine.ObsRowInserted:
		s.onInserted(o)
	case engine.ObsRowRemoved:
		if o.Queue == engine.QueueWorker {
			s.progress(o.Instance, o.AtMs)
		}
	case engine.ObsRowDelayed:
		s.onDelayed(o)
	case engine.ObsCountChanged:
		// An abandon that ignores the attempt takes the delivery back.
		if c := s.m.store.call(o.Call); c != nil && o.NewCount < o.OldCount &&
			(c.kind == engine.CallAbandonOrchestrationItem || c.kind == engine.CallAbandonWorkItem) {
			if r := s.row(o.Message); r.deliveries > 0 {
				r.deliveries--
			}
		}
	case engine.ObsLockTaken:
		if !o.Undo {
			s.onLock(o)
		}
	case engine.ObsLockExtended:
		if !o.Undo {
			s.outside(o)
		}
	case engine.ObsStatusSet:
		s.onStatus(o)
	case engine.ObsDamaged:
		// Only a child's start knows its parent before the child exists: damaged, it leaves nobody to tell the parent.
		if r := s.m.store.row(o.Message); r != nil && r.kind == engine.ItemStartOrchestration && !r.instance.created {
			if parent := s.instance(r.instance.no).parent; parent != 0 {
				s.instance(parent).untold = true
			}
		}
	case engine.ObsParentSet:
		s.adopt(o.Instance, s.m.store.number(o.Name))
	case engine.ObsInstanceCreated:
		s.instance(o.Instance).known = true
	case engine.ObsInstanceRemoved:
		if !o.Undo {
			s.onDeleted(o.Instance)
		}
	case engine.ObsPinSet:
		s.onPin(o)
	case engine.ObsCallEnd:
		s.onCallEnd(o)
		s.passedOver(o)
	}
}

func (s *liveState) onInserted(o *engine.Observation) {
	r := s.row(o.Message)
	*r = liveRow{firstVisibleMs: o.UntilMs}
	in := s.instance(o.Instance)
	switch w := o.Item.(type) {
	case engine.StartItem:
		if w.ParentInstance != "" && !in.known && s.m.store.number(w.ParentInstance) != 0 {
			s.adopt(o.Instance, s.m.store.number(w.ParentInstance))
			in = s.instance(o.Instance)
		}
		in.known = true
	case engine.CancelInstanceItem:
		in.cancelled = true
		if in.cancelMs == 0 {
			in.cancelMs = o.AtMs
		}
	case engine.TimerFiredItem: // the instance set it itself, which was progress
	default:
		in.progressMs = max(in.progressMs, o.UntilMs)
	}
	if o.Queue == engine.QueueOrchestrator {
		for _, l := range s.listeners {
			l.onAccepted(o)
		}
		s.look(o.Instance, o.AtMs)
	}
}

// onDelayed adds up for how long abandons keep a message back: each for no longer than the contract lets it, and no more
// of them than there are attempts, so that a wrong backoff gains no time.
func (s *liveState) onDelayed(o *engine.Observation) {
	c := s.m.store.call(o.Call)
	if c == nil || c.kind != engine.CallAbandonOrchestrationItem && c.kind != engine.CallAbandonWorkItem {
		return
	}
	n, told := s.node(c.caller.Node), uint32(1)
	if n == nil { // a probe, which may hold work back for as long as it likes
		s.row(o.Message).againMs = o.UntilMs
		return
	}
	if d := s.find(n.number, c.request.Token); d != nil {
		told = d.told
	}
	r := s.row(o.Message)
	if row := s.m.store.row(o.Message); c.request.IgnoreAttempt && !isStart(row.kind) && startQueued(row.instance) {
		r.againMs = o.UntilMs // it waits for the start before it, which has a bound of its own
		return
	}
	if r.backoffs >= n.options.MaxAttempts {
		return
	}
	r.backoffs++
	r.backoffMs += min(o.UntilMs-o.AtMs, backoffMost(&n.options, told))
}

// adopt makes an instance the child of another.
func (s *liveState) adopt(child, parent engine.InstanceNo) {
	if parent == 0 || child == parent {
		return
	}
	s.instance(max(child, parent))
	c := &s.instances[child]
	if c.parent != 0 || c.ended {
		return
	}
	c.parent = parent
	s.instances[parent].children++
}

func (s *liveState) progress(no engine.InstanceNo, atMs int64) {
	in := s.instance(no)
	in.progressMs = max(in.progressMs, atMs)
}

func (s *liveState) onLock(o *engine.Observation) {
	s.outside(o)
	if o.Message != 0 {
		r := s.row(o.Message)
		r.deliveries++
		if r.deliveries > 1 {
			s.m.happened(factActivityRetaken)
		}
		return
	}
	in := s.instance(o.Instance)
	was := s.m.store.instance(o.Instance).before(o.Call).lock
	if was.token != "" && was.token != o.Token {
		in.lost++
		s.m.happened(factTakenOver)
	}
	if in.releasedMs != 0 {
		in.releasedMs = 0
		s.m.happened(factWaitOver)
	}
	in.waitingMs = 0
}

func (s *liveState) onStatus(o *engine.Observation) {
	in := s.instance(o.Instance)
	state := s.m.store.instance(o.Instance)
	ended := (o.Status == engine.StatusCompleted || o.Status == engine.StatusFailed) && o.Execution == max(state.currentID, 1)
	if ended == in.ended {
		return
	}
	in.ended = ended
	if in.parent != 0 {
		p := s.instance(in.parent)
		if ended {
			p.children--
		} else {
			p.children++
		}
		p.progressMs = max(p.progressMs, o.AtMs)
	}
}

func (s *liveState) onCallEnd(o *engine.Observation) {
	if o.Outcome != engine.OutcomeOK {
		return
	}
	c := s.m.store.call(o.Call)
	if c == nil {
		return
	}
	switch o.CallKind {
	case engine.CallFetchOrchestrationItem:
		for _, no := range o.Messages { // what was marked and not handed out was not delivered
			s.row(no).deliveries++
		}
		s.onDelivery(o)
	case engine.CallFetchWorkItem:
		s.onDelivery(o)
	case engine.CallAckOrchestrationItem:
		if c.request.Ack != nil {
			s.onCommit(o, c)
		}
	case engine.CallAckWorkItem, engine.CallAbandonWorkItem, engine.CallAbandonOrchestrationItem:
		if d := s.find(o.Caller.Node, c.request.Token); d != nil {
			d.held = false
		}
	}
	for _, in := range c.instances {
		s.look(in.no, o.AtMs)
	}
}
