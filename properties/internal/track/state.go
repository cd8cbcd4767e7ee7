package track

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/arena"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// New returns the state that a run's checkers share.
func New(m *check.Run) *State {
	s := &State{dueMs: model.NeverMs, made: arena.From[[model.RowsPerPage]Row](m.Arena)}
	s.Base = check.Base{
		Run: m, Due: &s.nodesChanged, OnEnd: check.Ends{OK: check.AnyCall, Nothing: check.SetOf(observe.CallFetchOrchestrationItem)},
		OnObserve: check.SetOf(
			observe.CallBegin, observe.LockTaken, observe.LockExtended, observe.CountChanged, observe.RowInserted, observe.RowRemoved, observe.RowDelayed,
			observe.Damaged, observe.StatusSet, observe.ParentSet, observe.InstanceCreated, observe.InstanceRemoved, observe.PinSet,
		),
		OnRecord: check.SetOf(
			record.NodeStarted, record.NodeStopped, record.NodeCrashed, record.NodePaused, record.NodeResumed,
			record.NodeDraining, record.CallSent, record.CallExecuting, record.CallExecuted, record.Answered,
			record.Note, record.PhaseBegan, record.Fault, record.HandlersChanged, record.DeadLetter, record.Scheduled,
		),
	}
	for i := range m.World.Nodes() {
		s.Nodes = append(s.Nodes, Node{Number: uint32(i + 1)})
	}
	if p := m.World.Plan(); p != nil {
		s.Plan = *p
	}
	return s
}

// State is the state beyond the model that liveness, coverage and expectations share: nodes, their deliveries and
// decisions, when instances last made progress, and work that no node admits. It reports facts to listeners.
type State struct {
	check.Base
	Plan      plan.Plan
	Nodes     []Node                    // indexed by node number - 1
	instances []Instance                // by number
	pages     []*[model.RowsPerPage]Row // rows in the order of their numbers, as in the model; nil for released pages
	made      *arena.Of[[model.RowsPerPage]Row]
	gone      Row   // stands in for the rows of released pages
	held      []int // pages that were still needed at the last attempt to release them, in ascending order
	// executing is the slot whose call the store is executing at this instant, or nil.
	executing *Slot
	// ExecutingInc is the incarnation that sent the executing call. The node may have been restarted since.
	ExecutingInc uint32
	listeners    []listener
	pins         []*engine.Version // all pins that were ever set; the store keeps one copy of each
	Phase        cluster.Phase
	allAdmitted  []admitted // what admitsAll has answered since the last change of a pin
	RecoveryMs   int64      // when the recovery phase began, or 0 before that
	PhaseMs      int64      // when the current phase began
	// nodesChanged requests that the waiting instances be updated at the end of the step.
	nodesChanged bool
	dueMs        int64 // when time alone next makes an instance wait for a node that admits it, or NeverMs
}

// Node is a node's current state. A node is live while it fetches and works.
type Node struct {
	Number               uint32
	Up, Draining, paused bool
	StartedMs            int64
	Incarnation          uint32
	Build, Previous      *engine.Build
	From                 *engine.Build // the node's previous build, if it was a different one; otherwise nil
	Options              node.Options
	Filter               *engine.CapabilityFilter // for the range in the node's options: which pins it can replay, no matter what filter it declares
	reads                model.KindSet
	Registry             *node.Registry
	LiveSinceMs          int64
	Turns, Activities    []Slot
}

func (n *Node) Live() bool { return n.Up && !n.Draining && !n.paused }

// Slot is one of a node's loops with its last two deliveries. It keeps two because the store may still serve a fetch
// that the node has given up on.
type Slot struct {
	Recent [2]Delivery
	Last   int
}

// Delivery is the work that a slot's fetch received.
type Delivery struct {
	Token        string
	Worker       bool
	Instance     observe.InstanceNo
	Messages     []observe.MessageNo
	Told         uint32
	Incarnation  uint32
	Pin          *engine.Version
	HistoryError bool
	Start        startKind
	Decision     machine.Decision
	Turn         machine.TurnNote
	ackCall      uint64 // the world's number for the delivery's last ack
	Committed    bool   // the ack took effect
	Answered     bool   // the node received the answer to the ack
	Refused      bool   // the ack failed permanently, and not because of a fault
	faulted      bool   // a fault hit the ack
	Held         bool   // the store has seen neither an ack nor an abandon for it
}

// startKind is the kind of start message in a batch.
type startKind uint8

const (
	startNone startKind = iota
	StartStart
	StartCan
)

var StartNames = [...]string{"none", "start", "can"}

// Instance is an instance's state beyond the model.
type Instance struct {
	Known                             bool // a start for the instance was accepted, or its row exists
	Ended                             bool
	Poisoned                          bool // the instance or one of its descendants was poisoned
	Deleted                           bool // the instance was deleted at some time
	Alone                             bool // its parent was deleted, but the instance was not
	Untold                            bool // the link to it from one of its children was damaged or deleted
	Cancelled                         bool
	Children                          int // how many of its children have not ended
	Parent                            observe.InstanceNo
	Turns, RecoveryID                 uint32 // turns committed since the recovery phase began, and the execution then
	ProgressMs                        int64  // when its last turn was committed, or when the last message from its own activities or children arrived
	CancelMs                          int64  // when the first cancel was queued, or 0
	waitTold                          bool   // whether listeners know that it waits; they do not if an end has left it over
	waitingMs                         int64  // when it first had visible work that no live node admits, or 0 if it has none now
	ReleasedMs                        int64  // when a node appeared that admits its waiting work, until the work is delivered; otherwise 0
	OutsideMs                         int64  // when a probe's lock on the instance or its messages ends
	Lost                              int64  // how many holders have lost their lock since the recovery phase began
	StallReported, WaitReported       bool
	RecoverReported, ConvergeReported bool // set once L08 or L09 has been reported for the instance
}

// Row is a message's state beyond the model.
type Row struct {
	Asker          observe.InstanceNo // for a start, the parent that it names, or 0
	FirstVisibleMs int64              // the visibility time that it was inserted with
	LeftMs         int64              // when it last left its queue
	Deliveries     uint32
	Returned       uint32 // how many more deliveries an abandon has taken back, because it did not count them
	Spared         uint32 // how many deliveries are not chargeable
	ForOthers      bool   // some of these deliveries are not chargeable because only other nodes have the handler, or replay the version
	Stuck          bool   // no node admitted it when the recovery phase ended
	Reported       bool
	LastDecision   machine.Decision
	Before         machine.Decision // the decision about the delivery before the most recent one
	LastNode       uint32
	decidedAt      uint32 // how many deliveries there had been when LastDecision was first made
	Bounced        uint32 // how often a node gave it back because of its pin
	BackoffMs      int64  // the total of the delays from abandons since the recovery phase began, each capped at the contract's limit
	backoffs       uint32 // how many such delays there were of deliveries that count, and of those that do not
	uncounted      uint32
	Sender         uint32 // the node that sent it, or 0 for a client
	MovedMs        int64  // when a message that was visible before it last left the same queue, as far as is known
	AgainMs        int64  // when it becomes visible again after it waited for a start or was locked by a probe; otherwise 0
}

// Instance returns an instance's entry. The pointer is valid until a new number is used.
func (s *State) Instance(no observe.InstanceNo) *Instance {
	for len(s.instances) <= int(no) {
		s.instances = append(s.instances, Instance{})
	}
	return &s.instances[no]
}

// Node returns a node's entry, or nil for clients and probes.
func (s *State) Node(number uint32) *Node {
	if number == 0 || int(number) > len(s.Nodes) {
		return nil
	}
	return &s.Nodes[number-1]
}

func (s *State) Observe(o *observe.Observation) {
	switch o.Kind {
	case observe.CallBegin:
		s.pass()
	case observe.RowInserted:
		s.onInserted(o)
	case observe.RowRemoved:
		s.Row(o.Message).LeftMs = o.AtMs
		if o.Reason == observe.RemovedDeleted {
			s.onLost(o.Message)
		}
		if o.Queue == observe.QueueWorker {
			in := s.Instance(o.Instance)
			in.ProgressMs = max(in.ProgressMs, o.AtMs)
		}
	case observe.RowDelayed:
		s.onDelayed(o)
	case observe.CountChanged:
		// An abandon with ignore_attempt takes back the delivery's count.
		if c := s.Run.Model.Call(o.Call); c != nil && o.NewCount < o.OldCount &&
			(c.Kind == observe.CallAbandonOrchestrationItem || c.Kind == observe.CallAbandonWorkItem) {
			if r := s.Row(o.Message); r.Deliveries > 0 {
				r.Deliveries--
				r.Returned++
			}
		}
	case observe.LockTaken:
		if !o.Undo {
			s.onLock(o)
		}
	case observe.LockExtended:
		if !o.Undo {
			s.outside(o)
		}
	case observe.StatusSet:
		s.onStatus(o)
	case observe.Damaged:
		s.onLost(o.Message)
	case observe.ParentSet:
		s.adopt(o.Instance, s.Run.Model.Number(o.Name))
	case observe.InstanceCreated:
		s.Instance(o.Instance).Known = true
	case observe.InstanceRemoved:
		if !o.Undo {
			s.onDeleted(o.Instance)
		}
	case observe.PinSet:
		s.onPin(o)
	}
}

func (s *State) Finish() { s.pass() }

// onLost handles a message that is damaged, or deleted with the instance that it is for. Until a child exists, only its
// start names the parent. If the child's id is already taken, perhaps by an earlier child of the same parent that has
// ended, nothing else ever will. So if such a start is lost, no message reaches the parent.
func (s *State) onLost(no observe.MessageNo) {
	r := s.Run.Model.Row(no)
	if r == nil {
		return
	}
	if asker := s.Row(no).Asker; asker != 0 && (!r.Instance.Created || s.Instance(r.Instance.No).Parent != asker || r.Instance.Status().Terminal()) {
		s.Instance(asker).Untold = true
	}
}

func (s *State) onInserted(o *observe.Observation) {
	r := s.Row(o.Message)
	*r = Row{FirstVisibleMs: o.UntilMs}
	if call := s.Run.Model.Call(o.Call); call != nil {
		r.Sender = call.Caller.Node
	}
	in := s.Instance(o.Instance)
	switch w := o.Item.(type) {
	case engine.StartItem:
		r.Asker = s.Run.Model.Number(w.ParentInstance)
		if r.Asker != 0 && !in.Known {
			s.adopt(o.Instance, r.Asker)
			in = s.Instance(o.Instance)
		}
		in.Known = true
	case engine.CancelInstanceItem:
		in.Cancelled = true
		if in.CancelMs == 0 {
			in.CancelMs = o.AtMs
		}
	case engine.TimerFiredItem: // the instance set the timer itself, and that already counted as progress
	default:
		in.ProgressMs = max(in.ProgressMs, o.UntilMs)
	}
	if o.Queue == observe.QueueOrchestrator {
		for _, l := range s.listeners {
			l.OnAccepted(o)
		}
		s.look(o.Instance, o.AtMs)
	}
}

// onDelayed adds up the delays from a message's abandons. It counts each delay only up to the contract's limit, and
// only as many delays as there are attempts, and as many of deliveries that do not count, so a wrong backoff cannot
// extend the bound.
func (s *State) onDelayed(o *observe.Observation) {
	c := s.Run.Model.Call(o.Call)
	if c == nil || c.Kind != observe.CallAbandonOrchestrationItem && c.Kind != observe.CallAbandonWorkItem {
		return
	}
	n, r := s.Node(c.Caller.Node), s.Row(o.Message)
	if n == nil { // a probe may hold work for as long as it likes
		r.AgainMs = o.UntilMs
		return
	}
	told := r.Deliveries // of a call that comes so late that its delivery is forgotten
	if d := s.Find(n.Number, c.Request.Token); d != nil {
		told = d.Told
	}
	if row := s.Run.Model.Row(o.Message); (c.Request.IgnoreAttempt || s.Plan.Strategy == plan.StrategyBounce) && !model.IsStart(row.Kind) && model.StartQueued(row.Instance) {
		r.AgainMs = o.UntilMs // the message waits for an earlier start, which has its own bound
		return
	}
	delays := &r.backoffs
	if c.Request.IgnoreAttempt {
		delays = &r.uncounted
	}
	if *delays >= n.Options.MaxAttempts {
		return
	}
	*delays++
	r.BackoffMs += min(o.UntilMs-o.AtMs, BackoffMost(&n.Options, told))
}

// adopt makes an instance the child of another.
func (s *State) adopt(child, parent observe.InstanceNo) {
	if parent == 0 || child == parent {
		return
	}
	s.Instance(max(child, parent))
	c := &s.instances[child]
	if c.Parent != 0 || c.Ended {
		return
	}
	c.Parent = parent
	s.instances[parent].Children++
}

func (s *State) onLock(o *observe.Observation) {
	s.outside(o)
	if o.Message != 0 {
		r := s.Row(o.Message)
		r.Deliveries++
		if r.Deliveries > 1 {
			s.Run.Happened(check.FactActivityRetaken)
		}
		return
	}
	in := s.Instance(o.Instance)
	if s.Run.Model.LockBefore(o).Token != "" {
		in.Lost++
		s.Run.Happened(check.FactTakenOver)
	}
	if s.onlyLooks(o) {
		return
	}
	if in.ReleasedMs != 0 {
		in.ReleasedMs = 0
		s.Run.Happened(check.FactWaitOver)
	}
	s.waited(in, s.Run.Model.Instance(o.Instance))
}

func (s *State) onStatus(o *observe.Observation) {
	in := s.Instance(o.Instance)
	state := s.Run.Model.Instance(o.Instance)
	ended := (o.Status == engine.StatusCompleted || o.Status == engine.StatusFailed) && o.Execution == max(state.CurrentID, 1)
	if ended == in.Ended {
		return
	}
	in.Ended = ended
	if in.Parent != 0 {
		p := s.Instance(in.Parent)
		if ended {
			p.Children--
		} else {
			p.Children++
		}
		p.ProgressMs = max(p.ProgressMs, o.AtMs)
	}
}

func (s *State) Ended(c *model.Call, o *observe.Observation) {
	if o.Outcome == observe.OutcomeOK {
		s.succeeded(c, o)
	}
	if c.Kind == observe.CallFetchOrchestrationItem {
		s.passedOver(c, o)
	}
}

func (s *State) succeeded(c *model.Call, o *observe.Observation) {
	switch c.Kind {
	case observe.CallFetchOrchestrationItem:
		for _, no := range o.Messages { // a message that was marked but not delivered does not count as delivered
			s.Row(no).Deliveries++
		}
		s.onDelivery(o)
	case observe.CallFetchWorkItem:
		s.onDelivery(o)
	case observe.CallAckOrchestrationItem:
		if c.Request.Ack != nil {
			s.onCommit(o, c)
		}
	case observe.CallAckWorkItem, observe.CallAbandonWorkItem, observe.CallAbandonOrchestrationItem:
		if d := s.Find(o.Caller.Node, c.Request.Token); d != nil {
			d.Held = false
		}
	}
	for _, in := range c.Instances {
		s.look(in.No, o.AtMs)
	}
}
