package selfcheck

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
)

// held is the work that a slot holds, from its delivery until it is given back or acknowledged.
type held struct {
	token, instance string
	count           uint32
	batch           *engine.FetchedOrchestration // set until its ack is sent
	messages        int                          // how many messages the batch has
	undecoded       string                       // the batch's history error
	work            engine.ActivityExecuteItem
	session         string
	want            duty
	undecided       bool // the node has not noted its decision yet
	decision        machine.Decision
	turn            machine.TurnNote // as noted
	notCarried      int              // how many queue messages the turn does not carry over, according to its note
	ack             call.Call        // the ack sent most recently
	failures        int              // how often the ack has failed
	retried         bool             // the ack must be sent again
	lost            bool             // the activity's lock was lost
	running         bool             // the activity's code is running
	value           *string          // of the key that it has read
	mustBeLost      bool             // the code was still running when the lock was lost
	// The lock's timeout, its renewal interval, and when that interval started. Then the renewal in flight, whether the
	// last renewal failed, and when to try again.
	timeout, renewEvery time.Duration
	since               sim.Time
	locked              sim.Time // when the lock was last known to be held
	lockedMs            int64    // the same, in store time
	renewal             uint64
	renewalSent         sim.Time
	again               bool
	// owed is a note that the node must still make in this step, with its cause.
	owed      machine.Decision
	owedCause string
}

// noted compares a node's note of its decision with the delivery.
func (k *nodes) noted(n *nodeState, r *cluster.Record) {
	s, note := n.slot(r.Slot), r.Note
	h := &s.held
	h.decision = note.Decision
	switch note.Decision {
	case machine.DecideTurn:
		n.tally.Turns++
		h.turn = machine.TurnNote{}
		if note.Turn != nil {
			h.turn = *note.Turn
		}
		h.notCarried = 0
		n.expectDrops(h, note)
		n.expectTraces(h, note)
		n.expectDisagreement(note)
		n.turned = r.Slot
	case machine.DecideWorkLost:
		n.tally.ActivitiesLost++
		h.lost = true
	case machine.DecideWorkPoison:
		n.tally.PoisonedActivities++
	case machine.DecidePoison:
		n.poisoned(h)
	}
	k.touch(n)
	n.tally.MessagesDropped += uint64(len(note.Dropped))
	if note.Token != h.token || note.Instance != h.instance || note.AttemptCount != h.count || note.Slot != r.Slot {
		k.wrong(n, h.instance, "decides %s about token %s of %s at attempt %d: expected token %s of %s at attempt %d",
			note.Decision, note.Token, note.Instance, note.AttemptCount, h.token, h.instance, h.count)
		return
	}
	if !h.undecided {
		k.notedLater(n, s, r, note)
		return
	}
	h.undecided = false
	v := &h.want
	if note.Decision != v.decision || note.ExecutionID != v.execution || note.Delay != v.delay || note.Cause != v.cause {
		k.wrong(n, h.instance, "decides %s about execution %d of %s at attempt %d, delay %v, cause %q: expected %s about execution %d, delay %v, cause %q%s",
			note.Decision, note.ExecutionID, h.instance, h.count, note.Delay, note.Cause, v.decision, v.execution, v.delay, v.cause, k.decidedBy(n, v))
		return
	}
	k.judgeDropped(n, h, note)
	switch v.decision {
	case machine.DecideTurn:
		if note.Turn == nil || note.Turn.Handler != v.handler || note.Turn.First != v.first {
			k.wrong(n, h.instance, "runs a turn of %s, %s: expected handler %s, first: %t", h.instance, turnText(note.Turn), v.handler, v.first)
		} else {
			k.judgeResumed(n, h, note.Turn)
		}
	case machine.DecideDropTerminal, machine.DecideDropUnstarted, machine.DecidePoison, machine.DecideSwept:
		k.due(s, observe.CallAckOrchestrationItem, r.At, 0)
	case machine.DecideWorkPoison:
		k.due(s, observe.CallAckWorkItem, r.At, 0)
	case machine.DecideWorkRun:
	default:
		k.due(s, abandonOf(s), r.At, 0)
	}
}

// judgeResumed judges whether a node goes on from an execution that it has kept: it must if it keeps one and the history is
// what its turn has left.
func (k *nodes) judgeResumed(n *nodeState, h *held, turn *machine.TurnNote) {
	o, history := &k.options(n).Options, h.batch.Item.History
	if turn.First {
		history = nil // what the batch has is the execution before
	}
	was := n.takeKept(h.instance)
	must := was.instance != "" && was.execution == h.want.execution && len(history) == was.from+len(was.delta) &&
		(o.KeptTurns == 0 || was.turns < o.KeptTurns) && reflect.DeepEqual(history[was.from:], was.delta)
	if turn.Resumed != must {
		k.wrong(n, h.instance, "goes on from a kept execution of %s: %t, after %d such turns, first: %t: expected otherwise, with at most %d turns without a replay, of %d executions",
			h.instance, turn.Resumed, was.turns, turn.First, o.KeptTurns, o.KeptExecutions)
	}
	if !turn.Resumed {
		was.turns = -1
	}
	if turn.Result == "Continue" && turn.Ack != nil {
		n.kept = append(n.kept, keptTurn{h.instance, h.want.execution, was.turns + 1, len(history), turn.Ack.HistoryDelta})
		n.kept = n.kept[max(len(n.kept)-o.KeptExecutions, 0):]
	}
}

// takeKept returns and removes what a node keeps of an instance.
func (n *nodeState) takeKept(instance string) (x keptTurn) {
	if i := slices.IndexFunc(n.kept, func(x keptTurn) bool { return x.instance == instance }); i >= 0 {
		x = n.kept[i]
		n.kept = slices.Delete(n.kept, i, i+1)
	}
	return x
}

// turnText describes what a note says about a turn.
func turnText(t *machine.TurnNote) string {
	if t == nil {
		return "which it says nothing of"
	}
	return fmt.Sprintf("by handler %s, first: %t", t.Handler, t.First)
}

func abandonOf(s *slot) observe.CallKind {
	if s.id.Kind == machine.SlotWorker {
		return observe.CallAbandonWorkItem
	}
	return observe.CallAbandonOrchestrationItem
}

func ackOf(s *slot) observe.CallKind {
	if s.id.Kind == machine.SlotWorker {
		return observe.CallAckWorkItem
	}
	return observe.CallAckOrchestrationItem
}

// dropRules names the rules by which a batch that is not run is dropped. It is never iterated over.
var dropRules = map[machine.Decision]string{
	machine.DecideDropTerminal: "terminal", machine.DecideDropUnstarted: "unstarted", machine.DecidePoison: "poison", machine.DecideSwept: "swept",
}

// judgeDropped checks that a batch that is not run is dropped as a whole, under the rule that its decision names. S24
// judges what a turn drops.
func (k *nodes) judgeDropped(n *nodeState, h *held, note *cluster.Note) {
	if note.Decision == machine.DecideTurn {
		return
	}
	rule, want := dropRules[note.Decision], 0
	if rule != "" {
		want = h.messages
	}
	wrong := len(note.Dropped) != want
	for i, d := range note.Dropped {
		wrong = wrong || d.Index != i || d.Rule != rule
	}
	if wrong {
		k.wrong(n, h.instance, "says that %s drops %+v: expected all %d messages, by rule %q", note.Decision, note.Dropped, want, rule)
	}
}

// givesBack judges an abandon.
func (k *nodes) givesBack(n *nodeState, s *slot, token string, delay time.Duration, uncounted bool) {
	h := &s.held
	n.abandoned(h.decision)
	h.session, h.renewal, h.renewEvery = "", 0, 0
	want, spared := h.want.delay, h.want.uncounted
	if h.decision != h.want.decision {
		want, spared = k.laterDelay(n, s, h.decision), false
	}
	if token != h.token || delay != want || uncounted != spared {
		k.wrong(n, h.instance, "gives back token %s with delay %v, counted: %t, because of %s: expected token %s, delay %v, counted: %t",
			token, delay, !uncounted, h.decision, h.token, want, !spared)
	}
}

// acksTurn judges the ack of a batch, except for its contents, which S24 judges.
func (k *nodes) acksTurn(n *nodeState, s *slot, sent call.Call, a *call.AckOrchestrationItem) {
	h := &s.held
	batch := h.batch
	if k.repeats(n, s, sent) {
		return
	}
	if a.LockToken != h.token || a.ExecutionID != h.want.execution {
		k.wrong(n, h.instance, "acknowledges token %s, execution %d of %s: expected token %s, execution %d", a.LockToken, a.ExecutionID, h.instance, h.token, h.want.execution)
		return
	}
	if h.decision == machine.DecideTurn && h.turn.Events != len(a.HistoryDelta) {
		k.wrong(n, h.instance, "notes, for a turn of %s, %d events, but commits %d", h.instance, h.turn.Events, len(a.HistoryDelta))
	}
	if h.decision == machine.DecideTurn && h.turn.First && len(a.HistoryDelta) > 0 {
		if e, ok := a.HistoryDelta[0].Data.(eventdata.OrchestrationStarted); ok && e.Name+"@"+e.Version != h.turn.Handler {
			k.wrong(n, h.instance, "begins %s with handler %s, but records %s@%s: expected the same", h.instance, h.turn.Handler, e.Name, e.Version)
		}
	}
	if h.decision == machine.DecidePoison || h.decision == machine.DecideSwept {
		var f eventdata.OrchestrationFailed
		ends := false
		for i := range a.HistoryDelta { // cancellations of what is open may follow it
			if failed, ok := a.HistoryDelta[i].Data.(eventdata.OrchestrationFailed); ok {
				f, ends = failed, true
			}
		}
		if !ends {
			k.wrong(n, h.instance, "ends %s without an event that says so: expected OrchestrationFailed", h.instance)
			return
		}
		k.judgePoison(n, h, f.Details)
		k.judgeEnd(n, h, batch, a, f.Details.Display())
	}
}

// repeats reports whether the node is sending its previous ack again. If so, it judges the repetition.
func (k *nodes) repeats(n *nodeState, s *slot, ack call.Call) bool {
	h := &s.held
	if !h.retried {
		h.ack, h.failures, h.batch = ack, 0, nil
		return false
	}
	if h.retried = false; !reflect.DeepEqual(h.ack, ack) {
		k.wrong(n, h.instance, "repeats a failed ack with other contents: expected the same ack")
	}
	if one, ok := h.ack.(call.AckOrchestrationItem); ok {
		two, _ := ack.(call.AckOrchestrationItem)
		if share(one.HistoryDelta, two.HistoryDelta) || share(one.WorkerItems, two.WorkerItems) ||
			share(one.OrchestratorItems, two.OrchestratorItems) || share(one.CancelledActivities, two.CancelledActivities) {
			k.wrong(n, h.instance, "repeats a failed ack in the memory of the first: expected a copy, since that memory is its receiver's")
		}
	}
	h.ack = ack
	return true
}

// share reports whether two slices share memory.
func share[T any](a, b []T) bool { return len(a) > 0 && len(b) > 0 && &a[0] == &b[0] }

// acksWork judges the ack of an activity.
func (k *nodes) acksWork(n *nodeState, s *slot, r *cluster.Record, a *call.AckWorkItem) {
	h := &s.held
	if k.repeats(n, s, r.Request) {
		return
	}
	w := &h.work
	switch c := a.Completion.(type) {
	case engine.ActivityCompletedItem:
		if a.LockToken != h.token || c.Instance != w.Instance || c.ExecutionID != w.ExecutionID || c.ID != w.ID || h.decision != machine.DecideWorkRun {
			k.wrong(n, h.instance, "acknowledges token %s with %s, after %s: expected the completion of %s", a.LockToken, pretty.Value(c), h.decision, h.token)
		}
		k.judgeResult(n, h, c.Result, r.AtMs)
	case engine.ActivityFailedItem:
		if h.decision == machine.DecideWorkRun {
			n.tally.ActivitiesFailed++
		}
		if a.LockToken != h.token || c.Instance != w.Instance || c.ExecutionID != w.ExecutionID || c.ID != w.ID {
			k.wrong(n, h.instance, "acknowledges token %s with %s: expected the failure of %s", a.LockToken, pretty.Value(c), h.token)
			return
		}
		if d := c.Details.Application; h.decision == machine.DecideWorkRun && (d == nil || c.Details != engine.ErrorDetails{Application: d} ||
			*d != eventdata.ApplicationError{Kind: eventdata.AppActivityFailed, Message: d.Message}) {
			k.wrong(n, h.instance, "acknowledges token %s with %s: expected the failure of code, that is ActivityFailed with its message alone", a.LockToken, pretty.Value(c))
		}
		if h.decision == machine.DecideWorkPoison {
			k.judgePoison(n, h, c.Details)
		}
	default:
		k.wrong(n, h.instance, "acknowledges token %s with %s, after %s: expected the completion or the failure of %s", a.LockToken, pretty.Value(a.Completion), h.decision, h.token)
	}
}

// acked processes the answer to an ack.
func (k *nodes) acked(n *nodeState, s *slot, r *cluster.Record) {
	h := &s.held
	if r.Err == nil {
		if h.decision == machine.DecideWorkRun {
			k.owes(n, h, machine.DecideWorkDone, "")
		}
		n.countCommit(h)
		h.session, h.renewal, h.renewEvery = "", 0, 0
		k.fetchesNext(n, s, r.At)
		if n.draining {
			s.next = next{}
		}
		return
	}
	h.failures++
	again := r.Outcome == observe.OutcomeRetryable && h.failures <= 5
	n.expectAckFailed(s, r.Err, again)
	k.touch(n)
	if again {
		n.tally.AckRetries++
		h.retried = true
		k.due(s, ackOf(s), r.At, 10*time.Millisecond<<(h.failures-1))
		return
	}
	n.tally.AckFailures++
	k.owes(n, h, machine.DecideAckFailed, r.Err.Error())
	k.due(s, abandonOf(s), r.At, 0)
}
