package selfcheck

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
)

// abandoned counts an abandon after a decision.
func (n *nodeState) abandoned(after machine.Decision) {
	t := &n.tally
	switch after {
	case machine.DecideHistoryError:
		t.AbandonedHistoryError++
	case machine.DecideIncompatible:
		t.AbandonedIncompatible++
	case machine.DecideWaitForStart:
		t.AbandonedWaitForStart++
	case machine.DecideNoHandler, machine.DecideWorkNoHandler:
		t.AbandonedNoHandler++
	case machine.DecideAckFailed:
		t.AbandonedAckFailed++
	case machine.DecideWorkLost:
		t.AbandonedWorkLost++
	case machine.DecideDrained:
		t.AbandonedDrained++
	case machine.DecideSessionsFull:
		t.AbandonedSessionsFull++
	case machine.DecideReadFailed:
		t.AbandonedReadFailed++
	}
}

// poisoned counts a poisoned batch.
func (n *nodeState) poisoned(h *held) {
	switch t := &n.tally; {
	case h.undecoded != "":
		t.PoisonedUndecodable++
	case h.want.supported != "":
		t.PoisonedIncompatible++
	case h.want.cause == "crashes":
		t.PoisonedCrashes++
	default:
		t.PoisonedNoHandler++
	}
}

// countCommit updates the tally for an ack that took effect.
func (n *nodeState) countCommit(h *held) {
	switch h.decision {
	case machine.DecideTurn:
		n.tally.TurnsCommitted++
		n.tally.NotCarried += uint64(h.notCarried)
		if a, ok := h.ack.(call.AckOrchestrationItem); ok {
			n.countEnd(&a)
		}
	case machine.DecideDropTerminal, machine.DecideDropUnstarted:
		n.tally.BatchesDropped++
	case machine.DecideWorkRun:
		n.tally.ActivitiesAcked++
	}
}

// countEnd updates the tally for the end of an execution, using the ack that committed it.
func (n *nodeState) countEnd(a *call.AckOrchestrationItem) {
	switch a.Metadata.Status {
	case engine.StatusCompleted:
		n.tally.Completed++
		return
	case engine.StatusContinuedAsNew:
		n.tally.ContinuedAsNew++
		return
	case engine.StatusFailed:
	default:
		return
	}
	var why engine.ErrorDetails
	for i := range a.HistoryDelta {
		if f, ok := a.HistoryDelta[i].Data.(eventdata.OrchestrationFailed); ok {
			why = f.Details
		}
	}
	if d := why.Application; d != nil && d.Kind == eventdata.AppCancelled {
		n.tally.Cancelled++
		return
	}
	n.tally.Failed++
	switch {
	case why.Application != nil:
		n.tally.FailedApplication++
	case why.Configuration != nil:
		n.tally.FailedConfiguration++
	case why.Infrastructure != nil:
		n.tally.FailedInfrastructure++
	case why.Poison != nil:
		n.tally.FailedPoison++
	}
}

// counted compares a node's counters with the tally.
func (k *nodes) counted(n *nodeState) {
	all, _ := k.run.world.Counters(n.number)
	if all == n.tally {
		return
	}
	want := n.tally.List()
	for i, c := range all.List() {
		if c.Value != want[i].Value {
			k.wrong(n, "", "counts %s %d times: expected %d", c.Name, c.Value, want[i].Value)
		}
	}
}
