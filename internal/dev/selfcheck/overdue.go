package selfcheck

import (
	"time"

	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
)

// slack is how far rounding to milliseconds can shift a pause.
const slack = 2 * time.Millisecond

// overdue reports calls that were due but that a node has not made. A slot that neither waits for an answer nor makes a
// call has stopped working, even if other slots hide this by doing its work. What was due when a node froze has been
// reported then, and while it is frozen it can do nothing.
func (k *nodes) overdue(n *nodeState, at sim.Time) {
	if n.frozen {
		return
	}
	for i := range n.slots {
		s := &n.slots[i]
		if x := s.next; n.passed(x, at) && !(n.draining && x.kind == fetchOf(s)) {
			k.wrong(n, s.held.instance, "has made no call for %v from its slot %v: expected a call after %v%s", at.Sub(x.since), s.id, max(x.after, 0), k.optionBehind(n, x.by))
		}
		k.keepsLock(n, s, at)
	}
	for _, x := range []next{n.sessions.renewNext, n.sessions.cleanNext} {
		if n.passed(x, at) {
			k.wrong(n, "", "has not called %s for %v: expected the call after %v%s", x.kind, at.Sub(x.since), x.after, k.optionBehind(n, x.by))
		}
	}
}

// passed reports whether a call's due time has passed by more than a margin.
func (n *nodeState) passed(x next, at sim.Time) bool {
	return x.known && n.quiet(x.since) && at.Sub(x.since) > max(x.after, 0)+slack
}

// keepsGrace reports a lost activity that has run to its end although its grace period was over before. The node must
// have given up on it, which frees its slot.
func (k *nodes) keepsGrace(n *nodeState, s *slot, at sim.Time) {
	if x := s.next; s.held.lost && n.passed(x, at) {
		k.wrong(n, s.held.instance, "continues an activity for %v after it has lost token %s: expected it to give up after %v%s", at.Sub(x.since), s.held.token, x.after, k.optionBehind(n, x.by))
	}
}

// endsOwn reports an activity whose code ends on a slot that no longer holds it. The node must have stopped the code
// when it gave up on it.
func (k *nodes) endsOwn(n *nodeState, s *slot, r *cluster.Record) {
	h, ran := &s.held, &r.Activity.Item
	if !h.running || h.work.Instance != ran.Instance || h.work.ExecutionID != ran.ExecutionID || h.work.ID != ran.ID {
		k.wrong(n, ran.Instance, "runs activity %d of %s, execution %d, to its end: expected it to have stopped it, since slot %v has given it up", ran.ID, ran.Instance, ran.ExecutionID, s.id)
	}
}

// keepsLock checks, when a slot gives up its work, that it sent every renewal that was due. A lock that has expired
// need not be renewed; in that case, an activity that is still running counts as lost.
func (k *nodes) keepsLock(n *nodeState, s *slot, at sim.Time) {
	h := &s.held
	if h.token == "" || h.renewal != 0 || n.wrongClock || h.decision == machine.DecideLooked {
		return
	}
	if h.mustBeLost && !h.lost {
		k.wrong(n, h.instance, "continues with token %s, although it has lost the lock", h.token)
		return
	}
	after := h.renewEvery
	if h.again {
		after = renewalRetry(h.timeout)
	}
	if h.renewEvery == 0 || at.Sub(h.since) <= after+slack {
		return
	}
	due := h.since.Add(after)
	if !n.quiet(h.locked) {
		// A paused node notices this when it resumes, in the order of the due times.
		if due > n.disturbed || at.Sub(n.disturbed) <= slack || n.disturbed.Sub(h.locked) <= h.timeout+slack {
			return
		}
		due = n.disturbed
	}
	switch left := h.timeout - due.Sub(h.locked); {
	case left > slack:
		while := ""
		if n.draining {
			while = ", also while it drains"
		}
		k.wrong(n, h.instance, "has not renewed token %s for %v: expected a renewal after %v%s%s", h.token, at.Sub(h.since), after, k.lockOptions(n, s), while)
	case left < -slack && h.running && !h.lost:
		k.wrong(n, h.instance, "continues an activity under token %s, whose lock expired before it could be renewed", h.token)
	}
}

// patient checks that a node waits for the configured time before it reports that a call got no answer.
func (k *nodes) patient(n *nodeState, r *cluster.Record, sent sim.Time) {
	if r.Text != "deadline" || !n.quiet(sent) {
		return
	}
	if took, want := r.At.Sub(sent), k.options(n).Options.CallDeadline; took < want-slack {
		k.wrong(n, "", "waits for %s for %v: expected %v (call_deadline)", r.CallKind, took, want)
	}
}
