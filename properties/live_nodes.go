package properties

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim/cluster"
)

// This file has what the shared state learns from the world: nodes, calls on their way, decisions and phases.

// find is the delivery of a token to a node, nil if it is not one of the last of a slot.
func (s *liveState) find(number uint32, token string) *delivery {
	n := s.node(number)
	if n == nil || token == "" {
		return nil
	}
	for i := range n.turns {
		if d := n.turns[i].find(token); d != nil {
			return d
		}
	}
	for i := range n.activities {
		if d := n.activities[i].find(token); d != nil {
			return d
		}
	}
	return nil
}

func (l *liveSlot) find(token string) *delivery {
	for i := range l.recent {
		if l.recent[i].token == token {
			return &l.recent[i]
		}
	}
	return nil
}

// slot is a loop of a node; it is made when it is first seen.
func (n *liveNode) slot(at node.Slot) *liveSlot {
	list := &n.turns
	if at.Kind != node.SlotOrchestration {
		list = &n.activities
	}
	for len(*list) <= at.Index {
		*list = append(*list, liveSlot{})
	}
	return &(*list)[at.Index]
}

func (s *liveState) record(r *cluster.Record) {
	switch r.Kind {
	case cluster.RecNodeStarted, cluster.RecNodeStopped, cluster.RecNodeCrashed, cluster.RecNodePaused, cluster.RecNodeResumed,
		cluster.RecNodeDraining, cluster.RecHandlersChanged:
		s.onNode(r)
	case cluster.RecCallSent:
		if a, ok := r.Request.(call.AckOrchestrationItem); ok {
			if d := s.find(r.Node, a.LockToken); d != nil {
				d.ackCall = r.Call
			}
		} else if a, ok := r.Request.(call.AckWorkItem); ok {
			if d := s.find(r.Node, a.LockToken); d != nil {
				d.ackCall = r.Call
			}
		}
	case cluster.RecCallExecuting:
		if n := s.node(r.Node); n != nil {
			s.executing, s.executingInc = n.slot(r.Slot), r.Incarnation
		}
	case cluster.RecCallExecuted:
		s.executing = nil
		s.onExecuted(r)
	case cluster.RecAnswered:
		if d := s.byAck(r); d != nil && d.committed && !d.answered {
			if r.Text != "" {
				s.m.happened(factAnswerLost)
			} else {
				d.answered = true
			}
		}
	case cluster.RecFault:
		if d := s.byAck(r); d != nil {
			d.faulted = true
		}
	case cluster.RecNote:
		s.onNote(r)
	case cluster.RecPhaseBegan:
		s.onPhase(r)
	}
}

// byAck is the delivery that the call of a record acks, nil if it acks none.
func (s *liveState) byAck(r *cluster.Record) *delivery {
	n, call := s.node(r.Node), r.Call
	if n == nil || call == 0 || r.CallKind != engine.CallAckOrchestrationItem && r.CallKind != engine.CallAckWorkItem {
		return nil
	}
	for _, list := range [2][]liveSlot{n.turns, n.activities} {
		for i := range list {
			for j := range list[i].recent {
				if d := &list[i].recent[j]; d.ackCall == call {
					return d
				}
			}
		}
	}
	return nil
}

func (s *liveState) onExecuted(r *cluster.Record) {
	d := s.byAck(r)
	if d == nil || r.Outcome != engine.OutcomePermanent {
		return
	}
	live := false
	if d.worker {
		for _, no := range d.messages {
			row := s.m.store.row(no)
			live = row.present && row.lock.token == d.token && row.lock.live(r.AtMs)
		}
	} else {
		in := s.m.store.instance(d.instance)
		live = in.lock.token == d.token && in.lock.live(r.AtMs)
		if !live && in.lock.token == d.token {
			s.m.happened(factAckAfterExpiry)
		}
	}
	d.refused = live && !d.faulted
}

func (s *liveState) onNode(r *cluster.Record) {
	n := s.node(r.Node)
	if n == nil {
		return
	}
	was := n.live()
	switch r.Kind {
	case cluster.RecNodeStarted:
		info := s.m.w.Node(r.Node)
		n.up, n.draining, n.paused = true, false, false
		n.previous, n.build = n.build, info.Build
		n.incarnation, n.options, n.registry = r.Incarnation, info.Options, info.Registry
		n.reads = s.m.store.kinds.readBy(info.Build)
		n.filter = engine.FilterFor(info.Options.Range(info.Build))
		for _, l := range s.listeners {
			l.onStarted(n)
		}
		n.startedMs = r.AtMs
	case cluster.RecNodeStopped, cluster.RecNodeCrashed:
		if r.Kind == cluster.RecNodeCrashed {
			for _, l := range s.listeners {
				l.onCrashed(n)
			}
		}
		n.up, n.draining, n.paused = false, false, false
	case cluster.RecNodePaused:
		n.paused = true
	case cluster.RecNodeResumed:
		n.paused = false
	case cluster.RecNodeDraining:
		n.draining = true
	case cluster.RecHandlersChanged:
		for _, l := range s.listeners {
			l.onHandlers(r)
		}
	}
	if n.live() && !was {
		n.liveSinceMs = r.AtMs
	}
	s.nodesChanged = true
}

func (s *liveState) onPhase(r *cluster.Record) {
	s.phase, s.phaseMs = r.Phase, r.AtMs
	if r.Phase == cluster.PhaseCalm {
		s.calmMs = r.AtMs
		for i := range s.instances {
			s.instances[i].turns, s.instances[i].lost = 0, 0
		}
		for i := range s.rows { // what is left of a delay counts
			row := &s.rows[i]
			if row.backoffs > 0 {
				left := s.m.store.row(engine.MessageNo(i)).visibleMs - r.AtMs
				row.backoffMs = min(row.backoffMs, max(left, 0))
				row.backoffs = 0
			}
		}
	}
}

func (s *liveState) onNote(r *cluster.Record) {
	note := r.Note
	n := s.node(r.Node)
	if n == nil {
		return
	}
	d := n.slot(note.Slot).find(note.Token)
	if d == nil {
		if d = s.find(r.Node, note.Token); d == nil {
			return
		}
	}
	d.decision = note.Decision
	if note.Turn != nil {
		d.turn = *note.Turn
	}
	for _, no := range d.messages {
		row := s.row(no)
		if row.deliveries != row.decidedAt {
			row.before, row.decidedAt = row.lastDecision, row.deliveries
		}
		row.lastDecision, row.lastNode = note.Decision, r.Node
	}
	switch note.Decision {
	case node.DecidePoison, node.DecideWorkPoison:
		for no := d.instance; no != 0 && !s.instance(no).poisoned; no = s.instance(no).parent {
			s.instance(no).poisoned = true
		}
	}
	for _, l := range s.listeners {
		l.onNoted(n, d, note)
	}
}

// outside notes for how long a probe has locked something: nobody answers for that time.
func (s *liveState) outside(o *engine.Observation) {
	if c := s.m.store.call(o.Call); c == nil || s.node(c.caller.Node) != nil {
		return
	}
	if o.Message != 0 {
		r := s.row(o.Message)
		r.againMs = max(r.againMs, o.UntilMs)
		return
	}
	in := s.instance(o.Instance)
	in.outsideMs = max(in.outsideMs, o.UntilMs)
}
