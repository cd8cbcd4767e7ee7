package selfcheck_test

import (
	"reflect"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

const (
	fetchTurn = observe.CallFetchOrchestrationItem
	fetchWork = observe.CallFetchWorkItem
	giveBack  = observe.CallAbandonOrchestrationItem
	giveWork  = observe.CallAbandonWorkItem
	ackTurn   = observe.CallAckOrchestrationItem
	ackWork   = observe.CallAckWorkItem
	renewTurn = observe.CallRenewOrchestrationItemLock
	renewWork = observe.CallRenewWorkItemLock
)

// unsaid drops a record.
func unsaid(r *cluster.Record) { r.Kind = record.None }

// onAck falsifies the acks of turns, using a copy of each.
func onAck(change func(a *call.AckOrchestrationItem)) func(*cluster.Record) bool {
	return onCall(ackTurn, func(r *cluster.Record) {
		a := r.Request.(call.AckOrchestrationItem)
		if len(a.HistoryDelta) == 0 {
			return
		}
		a.HistoryDelta = slices.Clone(a.HistoryDelta)
		change(&a)
		r.Request = a
	})
}

// result gives every activity the same result.
func result(text string) func(*cluster.Record) bool {
	return onCall(ackWork, func(r *cluster.Record) {
		a := r.Request.(call.AckWorkItem)
		if c, ok := a.Completion.(engine.ActivityCompletedItem); ok {
			c.Result = text
			a.Completion = c
			r.Request = a
		}
	})
}

// busy is a scenario in which the store is often busy while activities read keys.
const busy = `scenario busy
fault-phase 30s
nodes A B run 1.5.0
faults none
fault answer-lost 1 in 4
load 10 instances from 1s over 10s
  mix 1 Clerk with Ledger-1
  mix 1 Chain with 2..5
`

// repeated replaces each repeated ack of a turn with the ack as it was first sent.
func repeated() func(*cluster.Record) bool {
	sent := map[string]call.AckOrchestrationItem{}
	return func(r *cluster.Record) bool {
		a, ok := r.Request.(call.AckOrchestrationItem)
		if r.Kind != record.CallSent || !ok {
			return false
		}
		first, known := sent[a.LockToken]
		if !known {
			sent[a.LockToken] = a
			return false
		}
		r.Request = first
		return len(first.HistoryDelta) > 0
	}
}

// lies returns one falsification for each rule of the specification.
func lies() []lie {
	all := []lie{
		{"another decision", "missing-handlers", onNote(machine.DecideNoHandler, func(n *machine.Note) { n.Decision = machine.DecideIncompatible }), nil, "expected no-handler"},
		{"another cause", "missing-handlers", onNote(machine.DecideNoHandler, func(n *machine.Note) { n.Cause += "!" }), nil, "cause \"handler missing"},
		{"another delay", "missing-handlers", onNote(machine.DecideNoHandler, func(n *machine.Note) { n.Delay++ }), nil, "expected no-handler"},
		{"another attempt", "missing-handlers", onNote(machine.DecideNoHandler, func(n *machine.Note) { n.AttemptCount++ }), nil, "at attempt"},
		{"another token", "missing-handlers", onNote(machine.DecideNoHandler, func(n *machine.Note) { n.Token += "!" }), nil, "expected token"},
		{"another instance", "missing-handlers", onNote(machine.DecideNoHandler, func(n *machine.Note) { n.Instance = "other" }), nil, "of other at attempt"},
		{"another execution", "missing-handlers", onNote(machine.DecideNoHandler, func(n *machine.Note) { n.ExecutionID++ }), nil, "expected no-handler"},
		{"a turn of another handler", "rolling-upgrade", onNote(machine.DecideTurn, func(n *machine.Note) { n.Turn.Handler = "Other@1.0.0" }), nil, "expected handler"},
		{"a first turn that is none", "rolling-upgrade", onNote(machine.DecideTurn, func(n *machine.Note) { n.Turn.First = !n.Turn.First }), nil, "expected handler"},
		{"more events than committed", "rolling-upgrade", onNote(machine.DecideTurn, func(n *machine.Note) { n.Turn.Events++ }), nil, "events, but commits"},
		{"nothing dropped with an ended execution", "rolling-upgrade", onNote(machine.DecideDropTerminal, func(n *machine.Note) { n.Dropped = nil }), nil, "expected all"},
		{"dropped by another rule", "missing-handlers", onNote(machine.DecidePoison, func(n *machine.Note) { n.Dropped[0].Rule = "terminal" }), nil, "by rule \"poison\""},
		{"a failed ack with another delay", "refused-acks", onNote(machine.DecideAckFailed, func(n *machine.Note) { n.Delay++ }), nil, "says ack-failed with a delay"},
		{"a lost activity with another delay", "late-renewals", onNote(machine.DecideWorkLost, func(n *machine.Note) { n.Delay++ }), nil, "says work-lost with a delay"},
		{"a turn that drops and does not say so", "probes", without("dropping message"), nil, "does not log"},

		{"a node that is asked to stop, and goes on", "drained-outage", func(r *cluster.Record) bool {
			if r.Kind != record.NodeStopped {
				return false
			}
			unsaid(r)
			return true
		}, nil, "but does not stop"},
		{"an acknowledged activity of which it says nothing", "rolling-upgrade", onNote(machine.DecideWorkDone, nil), nil, "does not say work-done"},
		{"a failed ack of which it says nothing", "refused-acks", onNote(machine.DecideAckFailed, nil), nil, "does not say ack-failed"},
		{"a failed ack for another reason", "refused-acks", onNote(machine.DecideAckFailed, func(n *machine.Note) { n.Cause += "!" }), nil, "because of"},
		{"a key read in vain for another reason", busy, onNote(machine.DecideReadFailed, func(n *machine.Note) { n.Cause += "!" }), nil, "because of"},
		{"a lost activity for another reason", "late-renewals", onNote(machine.DecideWorkLost, func(n *machine.Note) { n.Cause += "!" }), nil, "because of"},
		{"an end of another execution", "rolling-upgrade", onNote(machine.DecideWorkDone, func(n *machine.Note) { n.ExecutionID++ }), nil, "says work-done of execution"},
		{"a decision made twice", "rolling-upgrade", onNote(machine.DecideWorkDone, func(n *machine.Note) { n.Decision = machine.DecideWorkRun }), nil, "expected no such note"},
		{"a call that is waited for too long", "rolling-upgrade", onCall(fetchTurn, func(r *cluster.Record) { r.Deadline++ }), nil, "for at most"},
		{"a fetch tried again too seldom", "rolling-upgrade", onCall(fetchWork, func(r *cluster.Record) { r.Cadence++ }), nil, "to be tried again"},
		{"a look that waits for work", "sweeper", onCall(fetchTurn, func(r *cluster.Record) { r.Once = false }), nil, "expected every 0s, at once: true"},
		{"a call a step too late", "missing-handlers", onCall(giveBack, func(r *cluster.Record) { r.Step++ }), nil, "expected the call in step"},
		{"an ack repeated in the same memory", busy, repeated(), nil, "in the memory of the first"},
		{"an id that is no UUID", "features", result("same"), nil, "a UUID of version 8"},
		{"one owner for two incarnations", "sessions", onCall(fetchWork, func(r *cluster.Record) {
			if q := r.Request.(call.FetchWorkItem); q.Session != nil && r.Node == 1 {
				c := *q.Session
				c.OwnerID = "A-" + r.Slot.String()
				q.Session = &c
				r.Request = q
			}
		}), nil, "A-worker"},
		{"a traced line that is not logged", "mischief", without("told of activity"), nil, "does not log"},
		{"another kind of disagreement", "code-changed", onLog("detected nondeterminism", setField("kind")), nil, "as its turns fail"},
		{"a message left behind that nobody sent", "continue-as-new", onLog("Dropping carry-forward", setField("data")), nil, "has received"},
		{"a poisoned child of another execution", "poisoned-children", onAck(func(a *call.AckOrchestrationItem) {
			if s, ok := a.HistoryDelta[0].Data.(eventdata.OrchestrationStarted); ok && a.Metadata.Status == engine.StatusFailed {
				s.ParentExecutionID++
				a.HistoryDelta[0].Data = s
			}
		}), nil, "only to end it"},

		{"given back for longer", "missing-handlers", onCall(giveBack, abandon(func(q *call.AbandonOrchestrationItem) { q.Delay += time.Millisecond })), nil, "gives back"},
		{"given back uncounted", "missing-handlers", onCall(giveBack, abandon(func(q *call.AbandonOrchestrationItem) { q.IgnoreAttempt = !q.IgnoreAttempt })), nil, "gives back"},
		{"given back with another token", "missing-handlers", onCall(giveBack, abandon(func(q *call.AbandonOrchestrationItem) { q.LockToken += "!" })), nil, "gives back"},
		{"given back late", "missing-handlers", onCall(giveBack, later), nil, "expected a pause of 0s"},
		{"work given back for longer", "refused-acks", onCall(giveWork, func(r *cluster.Record) {
			q := r.Request.(call.AbandonWorkItem)
			q.Delay++
			r.Request = q
		}), nil, "gives back"},
		{"another call than is due", "missing-handlers", onCall(giveBack, func(r *cluster.Record) { r.CallKind = renewTurn + 100 }), nil, "expected abandon"},
		{"an ack of another token", "rolling-upgrade", onCall(ackTurn, func(r *cluster.Record) {
			q := r.Request.(call.AckOrchestrationItem)
			q.LockToken += "!"
			r.Request = q
		}), nil, "acknowledges token"},
		{"an ack of another execution", "rolling-upgrade", onCall(ackTurn, func(r *cluster.Record) {
			q := r.Request.(call.AckOrchestrationItem)
			q.ExecutionID++
			r.Request = q
		}), nil, "acknowledges token"},
		{"an activity of another token", "rolling-upgrade", onCall(ackWork, func(r *cluster.Record) {
			q := r.Request.(call.AckWorkItem)
			q.LockToken += "!"
			r.Request = q
		}), nil, "acknowledges token"},
		{"a fetch too late", "rolling-upgrade", onCall(fetchTurn, later), nil, "expected a pause of"},
		{"a fetch with another lock", "rolling-upgrade", onCall(fetchTurn, func(r *cluster.Record) {
			q := r.Request.(call.FetchOrchestrationItem)
			q.LockTimeout++
			r.Request = q
		}), nil, "fetches with lock"},
		{"a fetch without a filter", "rolling-upgrade", onCall(fetchTurn, func(r *cluster.Record) {
			q := r.Request.(call.FetchOrchestrationItem)
			q.Filter = nil
			r.Request = q
		}), nil, "fetches with lock"},
		{"work with another lock", "rolling-upgrade", onCall(fetchWork, func(r *cluster.Record) {
			q := r.Request.(call.FetchWorkItem)
			q.LockTimeout++
			r.Request = q
		}), nil, "fetches work with lock"},
		{"work without sessions", "sessions", onCall(fetchWork, func(r *cluster.Record) {
			q := r.Request.(call.FetchWorkItem)
			q.Session = nil
			r.Request = q
		}), nil, "fetches work with lock"},
		{"a renewal too late", "slow-work", onCall(renewTurn, later), nil, "renews token"},
		{"a renewal of another token", "slow-work", onCall(renewTurn, func(r *cluster.Record) {
			q := r.Request.(call.RenewOrchestrationItemLock)
			q.LockToken += "!"
			r.Request = q
		}), nil, "renews token"},
		{"an activity renewed for longer", "slow-work", onCall(renewWork, func(r *cluster.Record) {
			q := r.Request.(call.RenewWorkItemLock)
			q.ExtendFor++
			r.Request = q
		}), nil, "renews token"},
		{"sessions renewed for longer", "sessions", onCall(observe.CallRenewSessionLock, func(r *cluster.Record) {
			q := r.Request.(call.RenewSessionLock)
			q.ExtendFor++
			r.Request = q
		}), nil, "renews sessions"},
		{"sessions cleaned up sooner", "sessions", onCall(observe.CallCleanupOrphanedSessions, func(r *cluster.Record) {
			q := r.Request.(call.CleanupOrphanedSessions)
			q.IdleTimeout--
			r.Request = q
		}), nil, "cleans up sessions"},

		{"a lock that is not renewed", "slow-work", onCall(renewTurn, unsaid), nil, "has not renewed"},
		{"an activity that goes on without its lock", "late-renewals", onNote(machine.DecideWorkLost, nil), nil, "continues with token"},
		{"a slot that fetches no more", "rolling-upgrade", func() func(*cluster.Record) bool {
			fetches := 0
			return func(r *cluster.Record) bool {
				of := r.Slot
				switch r.Kind {
				case record.ActivityStarted, record.ActivityFinished:
					of = r.Activity.Slot
				case record.CallSent, record.Answered, record.Parked, record.Woken, record.Note:
				default:
					return false
				}
				if r.Node != 1 || of != (machine.Slot{Kind: machine.SlotWorker}) {
					return false
				}
				if r.Kind == record.CallSent && r.CallKind == observe.CallFetchWorkItem {
					fetches++
				}
				if fetches > 1 {
					unsaid(r)
				}
				return fetches > 1
			}
		}(), nil, "has made no call"},
		{"sessions renewed no more", "sessions", onCall(observe.CallRenewSessionLock, unsaid), nil, "has not called renew_session_lock"},
		{"sessions cleaned up no more", "sessions", onCall(observe.CallCleanupOrphanedSessions, unsaid), nil, "has not called cleanup"},
		{"sessions renewed late", "sessions", onCall(observe.CallRenewSessionLock, later), nil, "calls renew_session_lock after"},
		{"sessions of somebody else", "sessions", onCall(observe.CallRenewSessionLock, func(r *cluster.Record) {
			q := r.Request.(call.RenewSessionLock)
			q.Owners = []string{"somebody"}
			r.Request = q
		}), nil, "to include"},
		{"one owner for all slots", "sessions", onCall(fetchWork, func(r *cluster.Record) {
			if q := r.Request.(call.FetchWorkItem); q.Session != nil {
				c := *q.Session
				c.OwnerID = "all"
				q.Session = &c
				r.Request = q
			}
		}), nil, "a name of its own for each worker"},
		{"an answer not waited for", "rolling-upgrade", func(r *cluster.Record) bool {
			if r.Kind != record.Answered || r.Text != "deadline" {
				return false
			}
			r.At -= 1_000_000
			return true
		}, nil, "waits for"},
		{"ended at once", "sweeper", onNote(machine.DecideLooked, func(n *machine.Note) { n.Decision = machine.DecideSwept }), nil, "expected looked"},
		{"looked at for longer", "sweeper", onNote(machine.DecideLooked, func(n *machine.Note) { n.Delay++ }), nil, "expected looked"},
		{"a look too late", "sweeper", func(r *cluster.Record) bool {
			if r.Kind != record.CallSent || r.CallKind != fetchTurn || r.Slot.Index == 0 {
				return false
			}
			later(r)
			return true
		}, nil, "expected a pause of"},
		{"a poisoned start of another name", "missing-handlers", onAck(func(a *call.AckOrchestrationItem) {
			if s, ok := a.HistoryDelta[0].Data.(eventdata.OrchestrationStarted); ok && a.Metadata.Status == engine.StatusFailed {
				s.Name += "!"
				a.HistoryDelta[0].Data = s
			}
		}), nil, "only to end it"},
		{"a poisoned start without a pin", "missing-handlers", onAck(func(a *call.AckOrchestrationItem) {
			if a.Metadata.Status == engine.StatusFailed {
				a.Metadata.PinnedVersion = nil
			}
		}), nil, "pin <nil>"},
		{"an end with another output", "missing-handlers", onAck(func(a *call.AckOrchestrationItem) { a.Metadata.Output = nil }), nil, "an output other than"},
		{"the same id twice", "features", result("same"), nil, "gives the id"},
		{"another time", "features", result("1"), nil, "reports the time 1 ms"},

		{"no line about the filter", "rolling-upgrade", without("capability filter configured"), nil, "does not log"},
		{"another range", "rolling-upgrade", onLog("capability filter configured", setField("supported_range")), nil, "supported_range"},
		{"no line about a missing handler", "missing-handlers", without("Orchestration not registered"), nil, "does not log"},
		{"another backoff in the line", "missing-handlers", onLog("Orchestration not registered", setField("backoff_secs")), nil, "backoff_secs"},
		{"another level", "missing-handlers", onLog("Orchestration not registered", func(l *machine.Log) { l.Level = machine.LevelError }), nil, "at level 2"},
		{"no line about poison", "missing-handlers", without("Orchestration message exceeded"), nil, "does not log"},
		{"a line about somebody else", "missing-handlers", onLog("Orchestration message exceeded", func(l *machine.Log) { l.Instance = "other" }), nil, "for instance \"other\""},
		{"no line about a failed ack", "refused-acks", without("ack_orchestration_item"), nil, "does not log"},
		{"another error in the line", "refused-acks", onLog("ack_orchestration_item", setField("error")), nil, "logs"},
		{"no line about an ended instance", "rolling-upgrade", without("Instance is terminal"), nil, "does not log"},
		{"no line about a damaged history", "bad-history", without("History deserialization failed"), nil, "does not log"},
		{"no line about a lost activity", "late-renewals", without("Lock renewal failed"), nil, "does not log"},
		{"no line about early input", "early-input", without("Input arrived before"), nil, "does not log"},
	}
	for i, c := range new(cluster.Counters).List() {
		all = append(all, lie{"counter " + c.Name, "rolling-upgrade", nil, func(c *cluster.Counters) {
			f := reflect.ValueOf(c).Elem().Field(i)
			f.SetUint(f.Uint() + 1)
		}, "counts " + c.Name})
	}
	return all
}
