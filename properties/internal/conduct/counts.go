package conduct

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/call"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/machine"
)

// counter identifies one of a node's counters.
type counter int

// The counters, in the same order as their names below.
const (
	fetches counter = iota
	fetchedNothing
	fetchedOrchestrations
	fetchedWork
	fetchErrors
	turns
	turnsCommitted
	completed
	failed
	cancelled
	continuedAsNew
	failedApplication
	failedConfiguration
	failedInfrastructure
	failedPoison
	notCarried
	batchesDropped
	messagesDropped
	ackRetries
	ackFailures
	renewals
	renewalFailures
	activities
	activitiesAcked
	activitiesFailed
	activitiesLost
	sessionRenewals
	sessionsCleaned
	sessionErrors
	abandonedHistoryError
	abandonedIncompatible
	abandonedWaitForStart
	abandonedNoHandler
	abandonedAckFailed
	abandonedWorkLost
	abandonedDrained
	abandonedSessionsFull
	abandonedReadFailed
	poisonedUndecodable
	poisonedIncompatible
	poisonedNoHandler
	poisonedCrashes
	poisonedActivities
	counters
)

// tally holds the values that a node's counters must have.
type tally [counters]uint64

var names = [counters]string{
	"fetches", "fetched_nothing", "fetched_orchestrations", "fetched_work", "fetch_errors", "turns", "turns_committed",
	"completed", "failed", "cancelled", "continued_as_new", "failed_application", "failed_configuration",
	"failed_infrastructure", "failed_poison", "not_carried", "batches_dropped", "messages_dropped", "ack_retries",
	"ack_failures", "renewals", "renewal_failures", "activities", "activities_acked", "activities_failed", "activities_lost",
	"session_renewals", "sessions_cleaned", "session_errors", "abandoned_history_error", "abandoned_incompatible",
	"abandoned_wait_for_start", "abandoned_no_handler", "abandoned_ack_failed", "abandoned_work_lost", "abandoned_drained",
	"abandoned_sessions_full", "abandoned_read_failed", "poisoned_undecodable", "poisoned_incompatible",
	"poisoned_no_handler", "poisoned_crashes", "poisoned_activities",
}

// abandonedFor maps the decision behind an abandon to the counter for it.
var abandonedFor = map[machine.Decision]counter{ // never iterated over, so map order does not matter
	machine.DecideHistoryError:  abandonedHistoryError,
	machine.DecideIncompatible:  abandonedIncompatible,
	machine.DecideWaitForStart:  abandonedWaitForStart,
	machine.DecideNoHandler:     abandonedNoHandler,
	machine.DecideWorkNoHandler: abandonedNoHandler,
	machine.DecideAckFailed:     abandonedAckFailed,
	machine.DecideWorkLost:      abandonedWorkLost,
	machine.DecideDrained:       abandonedDrained,
	machine.DecideSessionsFull:  abandonedSessionsFull,
	machine.DecideReadFailed:    abandonedReadFailed,
}

// poisonedFor returns the counter for a poisoned batch.
func poisonedFor(v *duty, h *held) counter {
	switch {
	case h.undecoded != "":
		return poisonedUndecodable
	case v.supported != "":
		return poisonedIncompatible
	case v.cause == "crashes":
		return poisonedCrashes
	}
	return poisonedNoHandler
}

// countCommit updates the tally for an ack that took effect.
func (n *nodeState) countCommit(h *held) {
	switch h.decision {
	case machine.DecideTurn:
		n.tally[turnsCommitted]++
		n.tally[notCarried] += uint64(h.notCarried)
		if a, ok := h.ack.(call.AckOrchestrationItem); ok {
			n.countEnd(&a)
		}
	case machine.DecideDropTerminal, machine.DecideDropUnstarted:
		n.tally[batchesDropped]++
	case machine.DecideWorkRun:
		n.tally[activitiesAcked]++
	}
}

// countEnd updates the tally for the end of an execution, using the ack that committed it.
func (n *nodeState) countEnd(a *call.AckOrchestrationItem) {
	switch a.Metadata.Status {
	case engine.StatusCompleted:
		n.tally[completed]++
		return
	case engine.StatusContinuedAsNew:
		n.tally[continuedAsNew]++
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
		n.tally[cancelled]++
		return
	}
	n.tally[failed]++
	switch {
	case why.Application != nil:
		n.tally[failedApplication]++
	case why.Configuration != nil:
		n.tally[failedConfiguration]++
	case why.Infrastructure != nil:
		n.tally[failedInfrastructure]++
	case why.Poison != nil:
		n.tally[failedPoison]++
	}
}

// counted compares a node's counters with the tally.
func (k *checker) counted(n *nodeState) {
	all, _ := k.Run.World.Counters(n.number)
	for i, c := range all.List() {
		if i >= int(counters) || c.Name != names[i] {
			k.wrong(n, "", "has an unknown counter %s", c.Name)
			return
		}
		if c.Value != n.tally[i] {
			k.wrong(n, "", "counts %s %d times: expected %d", c.Name, c.Value, n.tally[i])
		}
	}
}
