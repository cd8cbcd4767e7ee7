package track

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// This file processes the world's records about nodes, calls in flight, decisions and phases.

// Find returns the delivery that a node received with a token. It returns nil if the delivery is not among the last two
// of any slot.
func (s *State) Find(number uint32, token string) *Delivery {
	return s.FindIn(number, machine.Slot{}, token)
}

// FindIn is like Find, but looks first in the slot that most likely holds the delivery.
func (s *State) FindIn(number uint32, at machine.Slot, token string) *Delivery {
	n := s.Node(number)
	if n == nil || token == "" {
		return nil
	}
	return n.find(at, func(d *Delivery) bool { return d.Token == token })
}

// find returns one of a node's last deliveries, or nil. It looks first in the given slot.
func (n *Node) find(at machine.Slot, is func(d *Delivery) bool) *Delivery {
	first := n.Turns
	if at.Kind != machine.SlotOrchestration {
		first = n.Activities
	}
	if at.Index < len(first) {
		first = first[at.Index : at.Index+1]
	}
	for _, list := range [...][]Slot{first, n.Turns, n.Activities} {
		for i := range list {
			for j := range list[i].Recent {
				if d := &list[i].Recent[j]; is(d) {
					return d
				}
			}
		}
	}
	return nil
}

// slot returns the state of a node's loop, creating it if it does not exist.
func (n *Node) slot(at machine.Slot) *Slot {
	list := &n.Turns
	if at.Kind != machine.SlotOrchestration {
		list = &n.Activities
	}
	for len(*list) <= at.Index {
		*list = append(*list, Slot{})
	}
	return &(*list)[at.Index]
}

// acks are the kinds of calls that end a delivery with a result.
var acks = check.SetOf(observe.CallAckOrchestrationItem, observe.CallAckWorkItem)

// RecordsOf narrows the records of calls to those of acks, where the others change nothing.
func (*State) RecordsOf(k record.Kind) check.Set[observe.CallKind] {
	switch k {
	case record.CallSent, record.Answered, record.Fault:
		return acks
	}
	return check.AnyCall
}

func (s *State) Record(r *cluster.Record) {
	s.pass()
	switch r.Kind {
	case record.NodeStarted, record.NodeStopped, record.NodeCrashed, record.NodePaused, record.NodeResumed,
		record.NodeDraining, record.HandlersChanged:
		s.onNode(r)
	case record.CallSent: // an ack, by RecordsOf
		if d := s.FindIn(r.Node, r.Slot, call.LockToken(r.Request)); d != nil {
			d.ackCall = r.Call
		}
	case record.CallExecuting:
		if n := s.Node(r.Node); n != nil {
			s.executing, s.ExecutingInc = n.slot(r.Slot), r.Incarnation
		}
	case record.CallExecuted:
		s.executing = nil
		s.onExecuted(r)
	case record.Answered:
		if d := s.byAck(r); d != nil && d.Committed && !d.Answered {
			if r.Text != "" {
				s.Run.Happened(check.FactAnswerLost)
			} else {
				d.Answered = true
			}
		}
	case record.Fault:
		if d := s.byAck(r); d != nil {
			d.faulted = true
		}
	case record.Note:
		s.onNote(r)
	case record.DeadLetter:
		s.poisoned(s.Run.Model.Number(r.Instance))
	case record.PhaseBegan:
		s.onPhase(r)
	}
}

// poisoned records that an instance was poisoned or ended in a similar way.
func (s *State) poisoned(no observe.InstanceNo) {
	for ; no != 0 && !s.Instance(no).Poisoned; no = s.Instance(no).Parent {
		s.Instance(no).Poisoned = true
	}
}

// byAck returns the delivery that the call in a record acknowledges, or nil if the call is not an ack.
func (s *State) byAck(r *cluster.Record) *Delivery {
	n, call := s.Node(r.Node), r.Call
	if n == nil || call == 0 || r.CallKind != observe.CallAckOrchestrationItem && r.CallKind != observe.CallAckWorkItem {
		return nil
	}
	return n.find(r.Slot, func(d *Delivery) bool { return d.ackCall == call })
}

func (s *State) onExecuted(r *cluster.Record) {
	if r.Outcome != observe.OutcomePermanent {
		return
	}
	d := s.byAck(r)
	if d == nil {
		return
	}
	live, at := false, r.AtMs+s.Run.AheadMs(r.Node) // where callers' clocks count, the lock ends by the node's
	if d.Worker {
		for _, no := range d.Messages {
			row := s.Run.Model.Row(no)
			live = row.Present && row.Lock.Token == d.Token && row.Lock.Live(at)
		}
	} else {
		in := s.Run.Model.Instance(d.Instance)
		live = in.Lock.Token == d.Token && in.Lock.Live(at)
		if !live && in.Lock.Token == d.Token {
			s.Run.Happened(check.FactAckAfterExpiry)
		}
	}
	d.Refused = live && !d.faulted
}

func (s *State) onNode(r *cluster.Record) {
	n := s.Node(r.Node)
	if n == nil {
		return
	}
	was := n.Live()
	switch r.Kind {
	case record.NodeStarted:
		info := s.Run.World.Node(r.Node)
		n.Up, n.Draining, n.paused = true, false, false
		n.Previous, n.Build = n.Build, info.Build
		n.Incarnation, n.Options, n.Registry = r.Incarnation, info.Options, info.Registry
		n.reads = s.Run.Model.Kinds.ReadBy(info.Build)
		n.Filter = engine.FilterFor(model.RangeOf(&info.Options, info.Build))
		for _, l := range s.listeners {
			l.OnStarted(n)
		}
		n.StartedMs = r.AtMs
	case record.NodeStopped, record.NodeCrashed:
		if r.Kind == record.NodeCrashed {
			for _, l := range s.listeners {
				l.OnCrashed(n)
			}
		}
		n.Up, n.Draining, n.paused = false, false, false
	case record.NodePaused:
		n.paused = true
	case record.NodeResumed:
		n.paused = false
	case record.NodeDraining:
		n.Draining = true
	case record.HandlersChanged:
		for _, l := range s.listeners {
			l.OnHandlers(r)
		}
	}
	if n.Live() && !was {
		n.LiveSinceMs = r.AtMs
	}
	s.nodesChanged = true
}

func (s *State) onPhase(r *cluster.Record) {
	s.Phase, s.PhaseMs = r.Phase, r.AtMs
	if r.Phase == cluster.PhaseRecovery {
		s.RecoveryMs = r.AtMs
		for i := range s.instances {
			s.instances[i].Turns, s.instances[i].Lost = 0, 0
			if in := s.Run.Model.Instance(observe.InstanceNo(i)); in != nil { // there is no instance 0
				s.instances[i].RecoveryID = uint32(in.CurrentID)
			}
		}
		for p, page := range s.pages { // from now on, only the remainder of each delay counts
			for i := 0; page != nil && i < len(page); i++ {
				if row := &page[i]; row.backoffs+row.uncounted > 0 {
					left := s.Run.Model.Row(observe.MessageNo(p*model.RowsPerPage+i+1)).VisibleMs - r.AtMs
					row.BackoffMs = min(row.BackoffMs, max(left, 0))
					row.backoffs, row.uncounted = 0, 0
				}
			}
		}
	}
}

func (s *State) onNote(r *cluster.Record) {
	note := r.Note
	n := s.Node(r.Node)
	if n == nil {
		return
	}
	d := s.FindIn(r.Node, note.Slot, note.Token)
	if d == nil {
		return
	}
	d.Decision = note.Decision
	if note.Turn != nil {
		d.Turn = *note.Turn
	}
	for _, no := range d.Messages {
		row := s.Row(no)
		if row.Deliveries != row.decidedAt {
			row.Before, row.decidedAt = row.LastDecision, row.Deliveries
		}
		row.LastDecision, row.LastNode = note.Decision, r.Node
	}
	switch note.Decision {
	case machine.DecidePoison, machine.DecideWorkPoison, machine.DecideSwept:
		s.poisoned(d.Instance)
	}
	for _, l := range s.listeners {
		l.OnNoted(n, d, note)
	}
}

// outside records how long a probe locks an instance or a message. Obligations do not count that time.
func (s *State) outside(o *observe.Observation) {
	if c := s.Run.Model.Call(o.Call); c == nil || s.Node(c.Caller.Node) != nil {
		return
	}
	if o.Message != 0 {
		r := s.Row(o.Message)
		r.AgainMs = max(r.AgainMs, o.UntilMs)
		return
	}
	in := s.Instance(o.Instance)
	in.OutsideMs = max(in.OutsideMs, o.UntilMs)
}
