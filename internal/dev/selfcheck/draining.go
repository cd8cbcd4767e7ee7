package selfcheck

import (
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// drains records that a node is asked to stop. From then on it must fetch no more work, cancel the fetches that wait for
// work, finish what it holds, and stop in the step in which it has nothing left
// (docs/contract-decisions.md, "A draining node").
func (k *nodes) drains(n *nodeState, r *cluster.Record) {
	n.draining, n.drainedAt, n.drainedMs = true, r.At, r.AtMs
	k.touch(n)
}

// rests records that a slot has no work and fetches next, unless its node drains.
func (k *nodes) rests(n *nodeState, s *slot) {
	s.idle = true
	if n.draining {
		k.touch(n)
	}
}

// mustStop reports a draining node that has no work and waits for no answer, but goes on.
func (k *nodes) mustStop(n *nodeState) {
	if !n.judged || !n.draining || n.lingers {
		return
	}
	for i := range n.slots {
		if !n.slots[i].idle {
			return
		}
	}
	n.lingers = true
	k.wrong(n, "", "was asked to stop at %s, holds no work and waits for no answer, but does not stop: expected it to stop at once", k.run.at(n.drainedMs))
}

// mayStop reports a node that says that it has stopped, but has not finished what it holds, or waits for an answer.
func (k *nodes) mayStop(n *nodeState) {
	if !n.draining {
		k.wrong(n, "", "stops: expected it to go on, since nobody asked it to stop")
	}
	for i := range n.slots {
		switch s := &n.slots[i]; {
		case s.idle, s.kind == observe.CallNone:
		case s.held.token != "" && s.call == 0:
			k.wrong(n, s.held.instance, "stops, but its slot %v still has the work with token %s, after %s: expected it to finish that first", s.id, s.held.token, s.held.decision)
		default:
			k.wrong(n, s.held.instance, "stops, but its slot %v still waits for the answer to %s: expected it to wait for that first", s.id, s.kind)
		}
	}
}

// mayRemain reports what a node does after it has stopped or crashed: nothing of it may remain.
func (k *nodes) mayRemain(n *nodeState, r *cluster.Record) {
	switch r.Kind {
	case record.CallSent, record.Note, record.Log, record.ActivityStarted, record.ActivityFinished:
		if n.gone && r.Incarnation == n.incarnation {
			k.wrong(n, r.Instance, "goes on after it has stopped or crashed: %s", r.Kind)
		}
	}
}

// mayPark reports a fetch that waited for work while its node drained. The node must have cancelled it.
func (k *nodes) mayPark(n *nodeState, s *slot, at sim.Time) {
	if waited := at.Sub(n.drainedAt); s.parked && n.draining && waited > slack {
		k.wrong(n, "", "was asked to stop at %s, but %s of its slot %v waited for work for another %v: expected it to cancel the fetch at once", k.run.at(n.drainedMs), s.kind, s.id, waited)
	}
}

// mayParkAny is mayPark for all slots of a node that has gone, or whose run has ended.
func (k *nodes) mayParkAny(n *nodeState, at sim.Time) {
	for i := range n.slots {
		k.mayPark(n, &n.slots[i], at)
	}
}
