package selfcheck

import (
	"fmt"
	"time"

	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/sim/cluster"
)

// ranOut is the cause given for losing an activity whose lock has expired.
const ranOut = "the lock ran out before it could be renewed"

// owes requires a node to make a note about the work that it holds before this step ends.
func (k *nodes) owes(n *nodeState, h *held, what machine.Decision, cause string) {
	h.owed, h.owedCause = what, cause
	k.touch(n)
}

// pays reports a note that a node owes but has not made.
func (k *nodes) pays(n *nodeState, s *slot) {
	h := &s.held
	if h.owed != machine.DecideNone && n.judged {
		k.wrong(n, h.instance, "does not say %s of %s: expected this, with the cause %q", h.owed, h.token, h.owedCause)
	}
	h.owed = machine.DecideNone
}

// laterDelay returns the delay with which a slot gives back work that it began with, after a further decision about it.
func (k *nodes) laterDelay(n *nodeState, s *slot, d machine.Decision) time.Duration {
	switch {
	case d == machine.DecideWorkNoHandler:
		return k.options(n).Options.UnregisteredBackoffBase
	case d == machine.DecideAckFailed && s.id.Kind != machine.SlotWorker:
		return 50 * time.Millisecond
	case d == machine.DecideAckFailed, d == machine.DecideReadFailed, d == machine.DecideWorkLost:
		return 100 * time.Millisecond
	}
	return 0
}

// notedLater judges a node's further notes about a delivery, after its first decision. Each note must be due, and must
// have the right delay and cause.
func (k *nodes) notedLater(n *nodeState, s *slot, r *cluster.Record, note *cluster.Note) {
	h := &s.held
	want, cause, due := k.laterDelay(n, s, note.Decision), h.owedCause, note.Decision == h.owed
	switch {
	case note.Decision == machine.DecideWorkLost && !due:
		due, cause = h.running, ranOut
	case note.Decision == machine.DecideWorkNoHandler: // its handler was withdrawn while it was running
		cause, due = "activity missing: "+h.work.Name, h.want.decision == machine.DecideWorkRun
	}
	h.owed = machine.DecideNone
	switch {
	case !due:
		again := ""
		if note.Decision == machine.DecideAckFailed && h.retried {
			again = ", since the ack failed with an error that may go away, and must be sent again"
		}
		k.wrong(n, h.instance, "says %s of %s, after %s: expected no such note now%s", note.Decision, h.token, h.want.decision, again)
	case note.Delay != want:
		what := ""
		if note.Decision == machine.DecideAckFailed {
			what = fmt.Sprintf(", the delay of an abandon after an ack has failed for good (failures: %d)", h.failures)
		}
		k.wrong(n, h.instance, "says %s with a delay of %v: expected %v%s", note.Decision, note.Delay, want, what)
	case note.Cause != cause || note.ExecutionID != h.want.execution:
		k.wrong(n, h.instance, "says %s of execution %d because of %q: expected execution %d and %q", note.Decision, note.ExecutionID, note.Cause, h.want.execution, cause)
	}
	if note.Decision == machine.DecideWorkLost {
		n.expectLost(h, note.Cause)
		k.touch(n)
		h.renewEvery = 0
		k.due(s, observe.CallNone, r.At, k.options(n).Options.ActivityCancellationGracePeriod)
		s.next.by = byGrace
	}
}
