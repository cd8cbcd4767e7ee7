package track

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/internal/machine"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/record"
	"github.com/durosim/durosim/internal/slab"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// New returns the shared state of the checkers of a run.
func New(m *check.Run) *State {
	s := &State{Base: check.Base{Run: m}, room: slab.Of[[model.RowsPerPage]Row](m.Slabs)}
	for i := range m.World.Nodes() {
		s.Nodes = append(s.Nodes, Node{Number: uint32(i + 1)})
	}
	if p := m.World.Plan(); p != nil {
		s.Plan = *p
	}
	return s
}

// State is the state, beyond the model, that liveness, coverage and expectations share: the nodes, their deliveries and
// decisions, the last progress of instances, and the work that no node admits. It reports facts to listeners.
type State struct {
	check.Base
	Plan      plan.Plan
	Nodes     []Node                    // by number - 1
	instances []Instance                // by number
	pages     []*[model.RowsPerPage]Row // rows by number, as in the model; nil for pages that were released
	room      *slab.Slab[[model.RowsPerPage]Row]
	gone      Row   // stands for the rows of these pages
	held      []int // the pages that were still needed at the last attempt to release them, ascending
	// executing is the slot whose call is at its atomic instant, nil if there is none.
	executing *Slot
	// ExecutingInc is the incarnation that sent that call: the node may have been restarted since then.
	ExecutingInc uint32
	listeners    []listener
	pins         []*engine.Version // all that were ever set; the store keeps one copy of each
	Phase        cluster.Phase
	CalmMs       int64 // when calm began, 0 before that
	PhaseMs      int64 // when the present phase began
	// nodesChanged requests an update of the waiting instances at the end of the step.
	nodesChanged bool
}

// Node is the present state of a node. It is live while it fetches and works.
type Node struct {
	Number               uint32
	Up, Draining, paused bool
	StartedMs            int64
	Incarnation          uint32
	Build, Previous      *engine.Build
	From                 *engine.Build // the previous, different build of the node, nil if there is none
	Options              node.Options
	Filter               *engine.CapabilityFilter // for the range in its options: the pins that it can replay, whatever filter it declares
	reads                model.KindSet
	Registry             *node.Registry
	LiveSinceMs          int64
	Turns, Activities    []Slot
}

func (n *Node) Live() bool { return n.Up && !n.Draining && !n.paused }

// Slot is a loop of a node with its last two deliveries, since the store may still serve a fetch that was given up.
type Slot struct {
	Recent [2]Delivery
	Last   int
}

// Delivery is the work that a slot received from a fetch.
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
	ackCall      uint64 // the world's number of its last ack
	Committed    bool   // its ack took effect
	Answered     bool   // the node got the answer
	Refused      bool   // its ack failed permanently, without a fault
	faulted      bool   // a fault hit its ack
	Held         bool   // neither acked nor abandoned, according to the store
}

// startKind is the kind of start in a batch.
type startKind uint8

const (
	startNone startKind = iota
	StartStart
	StartCan
)

var StartNames = [...]string{"none", "start", "can"}

// Instance is the state of an instance beyond the model.
type Instance struct {
	Known                       bool // a start for it was accepted, or its row exists
	Ended                       bool
	Poisoned                    bool // it or one of its descendants was poisoned
	Deleted                     bool // it was deleted at some time
	Alone                       bool // its parent was deleted, but it was not
	Untold                      bool // damage destroyed the link from one of its children to it
	Cancelled                   bool
	Children                    int // children that have not ended
	Parent                      observe.InstanceNo
	Turns                       int   // turns committed since calm began
	ProgressMs                  int64 // time of the last committed turn, or of the last message from its own activities and children
	CancelMs                    int64 // when the first cancel was queued; 0 for none
	waitingMs                   int64 // since when it has visible work that no live node admits; 0 if it has none
	ReleasedMs                  int64 // when a node appeared that admits its waiting work, until that is delivered; 0 if there is none
	OutsideMs                   int64 // until when a probe locks it or its messages
	Lost                        int64 // holders that lost their lock since calm began
	StallReported, WaitReported bool
	// the same for L08 and L09
	RecoverReported, ConvergeReported bool
}

// Row is the state of a message beyond the model.
type Row struct {
	Asker          observe.InstanceNo // for a start, the parent that it names, 0 if it names none
	FirstVisibleMs int64              // the time of visibility that it was inserted with
	Deliveries     uint32
	Spared         uint32 // number of deliveries that are not chargeable
	ByHandler      bool   // for some of these, the reason is a handler that only other nodes have
	Stuck          bool   // no node admitted it when calm ended
	Reported       bool
	LastDecision   machine.Decision
	Before         machine.Decision // the decision about the delivery before the last one
	LastNode       uint32
	decidedAt      uint32 // number of deliveries when LastDecision was first made
	Bounced        uint32 // how often a node gave it back because of its pin
	BackoffMs      int64  // sum of the delays of abandons since calm began, each capped at the contract's limit
	backoffs       uint32 // number of these delays
	Sender         uint32 // the node that sent it; 0 for a client
	AgainMs        int64  // when it is visible again after it waited for a start or was locked by a probe; 0 if neither happened
}

func (s *State) Observes() check.Set[observe.Kind] {
	return check.SetOf(
		observe.LockTaken, observe.LockExtended, observe.CountChanged,
		observe.RowInserted, observe.RowRemoved, observe.RowDelayed, observe.Damaged, observe.StatusSet, observe.ParentSet, observe.InstanceCreated,
		observe.InstanceRemoved, observe.PinSet,
	)
}

func (s *State) Records() check.Set[record.Kind] {
	return check.SetOf(
		record.NodeStarted, record.NodeStopped, record.NodeCrashed, record.NodePaused, record.NodeResumed,
		record.NodeDraining, record.CallSent, record.CallExecuting, record.CallExecuted, record.Answered,
		record.Note, record.PhaseBegan, record.Fault, record.HandlersChanged, record.DeadLetter,
	)
}

// Instance returns the entry of an instance. The pointer is valid until a new number is used.
func (s *State) Instance(no observe.InstanceNo) *Instance {
	for len(s.instances) <= int(no) {
		s.instances = append(s.instances, Instance{})
	}
	return &s.instances[no]
}

// Node returns the entry of a node, nil for clients and probes.
func (s *State) Node(number uint32) *Node {
	if number == 0 || int(number) > len(s.Nodes) {
		return nil
	}
	return &s.Nodes[number-1]
}

func (s *State) Observe(o *observe.Observation) {
	switch o.Kind {
	case observe.RowInserted:
		s.onInserted(o)
	case observe.RowRemoved:
		if o.Queue == observe.QueueWorker {
			s.progress(o.Instance, o.AtMs)
		}
	case observe.RowDelayed:
		s.onDelayed(o)
	case observe.CountChanged:
		// An abandon that ignores the attempt uncounts the delivery.
		if c := s.Run.Model.Call(o.Call); c != nil && o.NewCount < o.OldCount &&
			(c.Kind == observe.CallAbandonOrchestrationItem || c.Kind == observe.CallAbandonWorkItem) {
			if r := s.Row(o.Message); r.Deliveries > 0 {
				r.Deliveries--
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
		// Until a child exists, only its start names the parent, and if the id of the child is taken, nothing else
		// ever does. If such a start is damaged, no message reaches the parent.
		if r := s.Run.Model.Row(o.Message); r != nil {
			asker := s.Row(o.Message).Asker
			if asker != 0 && (!r.Instance.Created || s.Instance(r.Instance.No).Parent != asker) {
				s.Instance(asker).Untold = true
			}
		}
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

func (s *State) onInserted(o *observe.Observation) {
	r := s.Row(o.Message)
	*r = Row{FirstVisibleMs: o.UntilMs}
	if call := s.Run.Model.Call(o.Call); call != nil {
		r.Sender = call.Caller.Node
	}
	in := s.Instance(o.Instance)
	switch w := o.Item.(type) {
	case engine.StartItem:
		if w.ParentInstance != "" && !in.Known && s.Run.Model.Number(w.ParentInstance) != 0 {
			s.adopt(o.Instance, s.Run.Model.Number(w.ParentInstance))
			in = s.Instance(o.Instance)
		}
		if w.ParentInstance != "" {
			r.Asker = s.Run.Model.Number(w.ParentInstance)
		}
		in.Known = true
	case engine.CancelInstanceItem:
		in.Cancelled = true
		if in.CancelMs == 0 {
			in.CancelMs = o.AtMs
		}
	case engine.TimerFiredItem: // the instance set the timer itself, which was progress
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

// onDelayed adds up the delays of a message's abandons. It counts each delay up to the contract's limit, and as many delays
// as there are attempts, so that a wrong backoff does not extend the bound.
func (s *State) onDelayed(o *observe.Observation) {
	c := s.Run.Model.Call(o.Call)
	if c == nil || c.Kind != observe.CallAbandonOrchestrationItem && c.Kind != observe.CallAbandonWorkItem {
		return
	}
	n, told := s.Node(c.Caller.Node), uint32(1)
	if n == nil { // a probe may hold work for any time
		s.Row(o.Message).AgainMs = o.UntilMs
		return
	}
	if d := s.Find(n.Number, c.Request.Token); d != nil {
		told = d.Told
	}
	r := s.Row(o.Message)
	if row := s.Run.Model.Row(o.Message); c.Request.IgnoreAttempt && !model.IsStart(row.Kind) && model.StartQueued(row.Instance) {
		r.AgainMs = o.UntilMs // it waits for an earlier start, which has a bound of its own
		return
	}
	if r.backoffs >= n.Options.MaxAttempts {
		return
	}
	r.backoffs++
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

func (s *State) progress(no observe.InstanceNo, atMs int64) {
	in := s.Instance(no)
	in.ProgressMs = max(in.ProgressMs, atMs)
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
	was := s.Run.Model.Instance(o.Instance).Before(o.Call).Lock
	if was.Token != "" && was.Token != o.Token {
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

func (s *State) Ends() check.Ends {
	return check.Ends{OK: check.AnyCall, Nothing: check.SetOf(observe.CallFetchOrchestrationItem)}
}

func (s *State) Ended(c *model.Call, o *observe.Observation) {
	if o.Outcome == observe.OutcomeOK {
		s.succeeded(c, o)
	}
	if c.Kind == observe.CallFetchOrchestrationItem {
		s.passedOver(c, o)
	}
}

// succeeded processes a call that succeeded.
func (s *State) succeeded(c *model.Call, o *observe.Observation) {
	switch c.Kind {
	case observe.CallFetchOrchestrationItem:
		for _, no := range o.Messages { // a message that was marked but not handed out does not count as delivered
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

// BackoffMost returns the longest delay with which a node may give work back at its n-th delivery, in milliseconds:
// the contract's curve for a missing handler, or the fixed delay of the other reasons.
func BackoffMost(o *node.Options, n uint32) int64 {
	fixed := max(machine.HistoryErrorDelay, machine.IncompatibleDelay, machine.WaitForStartDelay)
	return max(fixed, machine.UnregisteredBackoff(n, o.UnregisteredBackoffBase, o.UnregisteredBackoffMax)).Milliseconds()
}
