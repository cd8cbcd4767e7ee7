package conduct

import (
	"time"

	"github.com/durosim/durosim/internal/machine"
	"github.com/durosim/durosim/sim"
)

// slack is what milliseconds may round away of a pause.
const slack = 2 * time.Millisecond

// overdue reports a call that a node has not made although it was due. A slot that waits for nothing has stopped working;
// other slots may hide that by doing its work.
func (k *checker) overdue(n *nodeState, at sim.Time) {
	for i := range n.slots {
		s := &n.slots[i]
		if x := s.next; n.passed(x, at) && !n.draining {
			k.wrong(n, s.held.instance, "has not gone on for %v with slot %v: expected that after %v", at.Sub(x.since), s.id, max(x.after, 0))
		}
		k.keepsLock(n, s, at)
	}
	for _, x := range []next{n.sessions.renewNext, n.sessions.cleanNext} {
		if n.passed(x, at) {
			k.wrong(n, "", "has not called %s for %v: expected that after %v", x.kind, at.Sub(x.since), x.after)
		}
	}
}

// passed reports whether something is long due.
func (n *nodeState) passed(x next, at sim.Time) bool {
	return x.known && n.quiet(x.since) && at.Sub(x.since) > max(x.after, 0)+slack
}

// keepsLock checks, when a slot gives up its work, that it renewed the lock whenever a renewal was due. Only a lock that had
// already expired is not renewed; an activity that is still running is lost with it.
func (k *checker) keepsLock(n *nodeState, s *slot, at sim.Time) {
	h := &s.held
	if h.token == "" || h.renewal != 0 || n.wrongClock || h.decision == machine.DecideLooked {
		return
	}
	if h.mustBeLost && !h.lost {
		k.wrong(n, h.instance, "goes on with token %s, whose lock it has lost", h.token)
		return
	}
	after := h.renewEvery
	if h.again {
		after = retriedAfter(h.timeout)
	}
	if h.renewEvery == 0 || at.Sub(h.since) <= after+slack {
		return
	}
	due := h.since.Add(after)
	if !n.quiet(h.locked) {
		// A frozen node finds out when it goes on, in the order in which things were due.
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
		k.wrong(n, h.instance, "has not renewed token %s for %v: expected that after %v%s", h.token, at.Sub(h.since), after, while)
	case left < -slack && h.running && !h.lost:
		k.wrong(n, h.instance, "goes on with an activity under token %s, whose lock ran out before it could be renewed", h.token)
	}
}
