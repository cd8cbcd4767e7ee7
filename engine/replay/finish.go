package replay

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orchhost"
)

// finish decides the result and writes its consequences. In order of precedence, the result comes from a turn failure,
// a cancel request, a continue-as-new, or the handler's return.
func (t *turn) finish() {
	t.nextID = t.at(len(t.sched)-1).EventID + 1 // a continue-as-new may have left a gap
	main := t.mainTask()
	limit := t.overLimit()
	if limit != "" && t.abort.IsZero() && t.rules.LimitEnds {
		t.abort = orchestrationFailed(limit)
	}
	switch {
	case !t.abort.IsZero():
		t.fail(ResultFailed, t.abort)
	case t.cancelled && t.rules.CancelEnds:
		t.fail(ResultCancelled, engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppCancelled, Reason: t.reason}})
	case t.continues != nil:
		t.end(ResultContinueAsNew, eventdata.OrchestrationContinuedAsNew{Input: t.continues.Input}, t.continues.Input)
	default:
		t.reconcile()
		switch {
		case !t.abort.IsZero():
			t.fail(ResultFailed, t.abort)
		case !t.returned: // the result is ResultContinue
			t.enqueue()
		case main.err != nil:
			t.dropFutures()
			t.fail(ResultFailed, orchestrationFailed(main.message))
		default:
			t.dropFutures()
			t.end(ResultCompleted, eventdata.OrchestrationCompleted{Output: main.value}, main.value)
		}
	}
	if limit != "" && !t.rules.LimitEnds {
		t.appendLimitFailure(limit)
	}
	t.out.OrchestratorItems = append(append(t.out.OrchestratorItems, t.unrecorded...), t.refusals...)
	if t.rules.Pins(len(t.in.History) == 0) {
		pin := t.arena.pins.New()
		*pin = t.in.Build.Version
		t.out.Metadata.PinnedVersion = pin
	}
	t.out.Delta = t.ownDelta()
	t.out.Polls = t.polls
}

func (t *turn) mainTask() *task {
	if len(t.tasks) == 0 {
		return nil
	}
	return t.tasks[0]
}

// isDropped reports whether the code dropped a future, either explicitly or by returning before the future was
// resolved.
func (t *turn) isDropped(token orchhost.Token) bool {
	f := &t.futures[token]
	return f.state == futureDropped || t.returned && f.state == futurePending
}

// reconcile checks that the code has dropped again every future that it dropped in earlier turns. The code may drop
// additional futures.
func (t *turn) reconcile() {
	if len(t.crumbs) == 0 {
		return
	}
	for _, group := range dropGroups {
		inGroup := func(pos int) bool { return t.sched[pos].kind == group.kind }
		dropped := func(pos int) bool { return t.sched[pos].future != 0 && t.isDropped(t.sched[pos].future) }
		if !slices.ContainsFunc(t.crumbs, func(pos int) bool { return inGroup(pos) && !dropped(pos) }) {
			continue
		}
		then := slices.DeleteFunc(slices.Clone(t.crumbs), func(pos int) bool { return !inGroup(pos) })
		var now []int
		for pos := range t.in.History {
			if inGroup(pos) && dropped(pos) {
				now = append(now, pos)
			}
		}
		t.disagree(mismatch(cancellationMismatch, 0, fmt.Sprintf(
			"cancellation mismatch (%s): baseline_dropped_future_cancel_requests=%s ctx_cancelled_in_replayed_segment=%s",
			group.name, t.idSet(then), t.idSet(now))))
		return
	}
}

// dropGroups lists the kinds of schedules whose drops are recorded, in recording order.
var dropGroups = [...]struct {
	kind scheduleKind
	name string
}{
	{scheduleActivity, "activities"}, {scheduleChild, "sub-orchestrations"},
	{scheduleWait, "external waits"}, {scheduleDequeue, "persistent waits"},
}

func (t *turn) idSet(positions []int) string {
	slices.Sort(positions)
	var b strings.Builder
	for i, pos := range slices.Compact(positions) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, t.at(pos).EventID)
	}
	return "{" + b.String() + "}"
}

// settleDrops records each future that the code dropped, and resumes any code that the breadcrumbs unblock. It repeats
// this until nothing is unblocked. It does nothing if the code has ended.
func (t *turn) settleDrops() {
	for t.goesOn() {
		if t.reconcile(); !t.abort.IsZero() {
			return
		}
		from := len(t.sched)
		t.dropFutures()
		for pos := from; pos < len(t.sched); pos++ {
			t.apply(pos)
		}
		if len(t.runnable) == 0 || !t.rules.FreedEventWakes {
			return
		}
		t.poll()
		t.convert()
	}
}

// cancelDropsEarly cancels dropped dequeues before their breadcrumbs are written, as 0.1.26 does. A replay does not
// repeat this early cancellation.
func (t *turn) cancelDropsEarly() {
	if !t.rules.DropsBeforeBreadcrumb {
		return
	}
	for i := 1; i < len(t.futures); i++ {
		if f := &t.futures[i]; f.wait == waitQueue && f.state == futureDropped && f.pos >= 0 {
			t.queues.cancel(int(f.pos))
		}
	}
}

// dropFutures records the drops that no earlier turn has recorded. A schedule that has completed in the meantime needs
// no record. A dropped wait or dequeue always needs one, because its arrival passes to the next one.
func (t *turn) dropFutures() {
	if !t.drops && !t.returned {
		return
	}
	var lists [len(dropGroups)][]int
	for i := 1; i < len(t.futures); i++ {
		f := &t.futures[i]
		if f.pos < 0 || !t.isDropped(orchhost.Token(i)) {
			continue
		}
		s := &t.sched[f.pos]
		for g, group := range dropGroups {
			if s.kind == group.kind && !s.withdrawn && !s.closed {
				lists[g] = append(lists[g], int(f.pos))
			}
		}
	}
	for _, list := range lists {
		slices.Sort(list)
		for _, pos := range list {
			t.dropSchedule(pos)
		}
	}
}

func (t *turn) dropSchedule(pos int) {
	id := t.at(pos).EventID
	t.sched[pos].withdrawn = true
	switch d := t.at(pos).Data.(type) {
	case eventdata.ActivityScheduled:
		t.add(id, eventdata.ActivityCancelRequested{Reason: eventdata.ReasonDroppedFuture})
		if t.rules.WithdrawsDropped {
			t.withdrawActivity(id)
		}
	case eventdata.SubOrchestrationScheduled:
		t.add(id, eventdata.SubOrchestrationCancelRequested{Reason: eventdata.ReasonDroppedFuture})
		t.cancelChild(pos, d, eventdata.ReasonParentDroppedFuture)
	case eventdata.QueueSubscribed:
		t.add(id, eventdata.QueueSubscriptionCancelled{Reason: eventdata.ReasonDroppedFuture})
	default:
		t.add(id, eventdata.ExternalSubscribedCancelled{Reason: eventdata.ReasonDroppedFuture})
	}
}

func (t *turn) withdrawActivity(id uint64) {
	t.out.Cancelled = append(t.out.Cancelled, engine.ScheduledActivityIdentifier{
		Instance: t.in.Instance, ExecutionID: t.in.ExecutionID, ActivityID: id,
	})
}

func (t *turn) cancelChild(pos int, d eventdata.SubOrchestrationScheduled, reason string) {
	t.cancels = append(t.cancels, childCancel{pos, engine.CancelInstanceItem{
		Instance: d.Child(t.in.Instance), Reason: reason,
	}})
}

// enqueueCancels sends cancel requests to children. It skips a child whose start was scheduled, but not enqueued, by
// this turn.
func (t *turn) enqueueCancels() {
	for _, c := range t.cancels {
		if c.pos < len(t.in.History) || t.out.Result == ResultContinue || t.rules.CancelsUnstarted {
			t.out.OrchestratorItems = append(t.out.OrchestratorItems, c.item)
		}
	}
}

// childID returns the automatic id of a child that the next event would schedule (docs/contract/runtime.md#r7.10).
func (t *turn) childID() string {
	event := strconv.FormatUint(t.nextID, 10)
	if t.in.Build.OwnChildIDs && t.in.ExecutionID > engine.InitialExecutionID {
		event = strconv.FormatUint(t.in.ExecutionID, 10) + "_" + event
	}
	return eventdata.ChildPrefix + event
}
