package machine

import (
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/node"
)

// onWork decides what to do with fetched activity f. It abandons the activity if the node is draining or has no handler
// for it, ends it if it is poison, and otherwise runs it.
func (n *Node) onWork(s *slot, f *engine.FetchedWork) {
	item, ok := f.Item.(engine.ActivityExecuteItem)
	h := n.take(s, f.LockToken, f.Item.Target(), f.AttemptCount, n.options.WorkerLockTimeout)
	h.execution, h.activity = item.ExecutionID, item
	o := &n.options
	switch {
	case n.draining:
		n.abandon(s, Note{Decision: DecideDrained, Cause: "the node drains"})
	case !ok:
		// A conforming provider would reject such an item. The node must not drop it.
		n.abandon(s, Note{Decision: DecideWorkNoHandler, Delay: o.UnregisteredBackoffMax, Cause: fmt.Sprintf("not an activity: %s", f.Item.Kind())})
	case item.SessionID != "" && n.sessionsInFlight() > n.rules.SessionCap(o.MaxSessionsPerRuntime):
		n.abandon(s, Note{Decision: DecideSessionsFull, Delay: sessionsFullDelay, Cause: "the node serves as many sessions as it may"})
	case n.rules.ExceedsMaxAttempts(f.AttemptCount, o.MaxAttempts):
		n.poisonsWork(s)
	default:
		if _, found := n.activityCode(item.Name); !found {
			delay := n.rules.UnregisteredBackoff(f.AttemptCount, o.UnregisteredBackoffBase, o.UnregisteredBackoffMax)
			n.logActivityUnregistered(s.hold, delay)
			n.abandon(s, Note{Decision: DecideWorkNoHandler, Delay: delay, Cause: missingActivity(item)})
			return
		}
		n.runActivity(s)
	}
}

func (n *Node) poisonsWork(s *slot) {
	h := s.hold
	cause := "crashes"
	if _, found := n.activityCode(h.activity.Name); !found {
		cause = missingActivity(h.activity)
	}
	n.logWorkPoison(h)
	n.counters.PoisonedActivities++
	n.note(s, Note{Decision: DecideWorkPoison, Cause: cause})
	n.startRenewing(s)
	n.commit(s, DecideWorkPoison, call.AckWorkItem{LockToken: h.token, Completion: failedActivity(h.activity, engine.ErrorDetails{
		Poison: &eventdata.PoisonError{
			AttemptCount: h.count, MaxAttempts: n.options.MaxAttempts,
			MessageType: eventdata.PoisonType{
				Kind: eventdata.PoisonActivity, Instance: h.activity.Instance, ExecutionID: h.activity.ExecutionID,
				ActivityName: h.activity.Name, ActivityID: h.activity.ID, Cause: cause,
			},
			Message: string(n.appendItem(nil, h.activity)),
		},
	})})
}

func (n *Node) runActivity(s *slot) {
	h := s.hold
	if h.activity.SessionID != "" {
		n.keepSessions()
	}
	n.counters.Activities++
	n.note(s, Note{Decision: DecideWorkRun})
	h.decision = DecideWorkRun
	s.phase = phaseRunning
	n.jobs++
	s.job = n.jobs
	run := n.arena.activities.New()
	run.Job, run.Slot, run.Item, run.AttemptCount, run.LockTimeout = s.job, s.id, h.activity, h.count, h.lockTimeout
	n.emit(run)
	n.startRenewing(s)
}

// onActivityDone runs the activity's code at the end of its duration and acknowledges the outcome.
func (n *Node) onActivityDone(s *slot, panicked string) {
	a := s.hold.activity
	run, found := n.activityCode(a.Name)
	if !found { // the activity was deregistered while it was running
		n.abandon(s, Note{Decision: DecideWorkNoHandler, Delay: n.options.UnregisteredBackoffBase, Cause: missingActivity(a)})
		return
	}
	result, failure, failed := "", panicked, panicked != ""
	if !failed {
		if n.readsKey(s) {
			return
		}
		result, failure, failed = n.callActivity(run, node.ActivityContext{
			Instance: a.Instance, ExecutionID: a.ExecutionID, ActivityID: a.ID, Attempt: s.hold.count,
			Name: a.Name, SessionID: a.SessionID, Tag: a.Tag, WorkerID: n.workerID(s),
		}, a.Input)
	}
	n.completeActivity(s, result, failure, failed)
}

// completeActivity acknowledges an activity with its result or, if failed is set, its failure.
func (n *Node) completeActivity(s *slot, result, failure string, failed bool) {
	a := s.hold.activity
	var completion engine.WorkItem
	if failed {
		n.counters.ActivitiesFailed++
		result = failure
	}
	if failed && n.rules.FailureFails {
		completion = failedActivity(a, engine.ErrorDetails{
			Application: &eventdata.ApplicationError{Kind: eventdata.AppActivityFailed, Message: failure},
		})
	} else {
		completion = engine.ActivityCompletedItem{Instance: a.Instance, ExecutionID: a.ExecutionID, ID: a.ID, Result: result}
	}
	n.commit(s, DecideWorkRun, call.AckWorkItem{LockToken: s.hold.token, Completion: completion})
}

// callActivity calls user code and turns a panic or runtime.Goexit into a failure. It also calls the error's Error
// method, which is user code, too.
func (n *Node) callActivity(run node.Activity, ctx node.ActivityContext, input string) (result, failure string, failed bool) {
	a := n.arena.activity()
	defer a.forget()
	a.code, a.ctx, a.input = run, ctx, input
	text, place, panicked := n.arena.replay.Contain(a, a.call)
	if panicked {
		n.emit(&ActivityPanicked{Activity: ctx, Text: text, At: place})
		return "", "activity panicked: " + text, true
	}
	return a.result, a.failure, a.failed
}

func failedActivity(a engine.ActivityExecuteItem, details engine.ErrorDetails) engine.WorkItem {
	return engine.ActivityFailedItem{Instance: a.Instance, ExecutionID: a.ExecutionID, ID: a.ID, Details: details}
}

func missingActivity(a engine.ActivityExecuteItem) string { return "activity missing: " + a.Name }

// onActivityLost stops an activity that has lost its lock: the orchestration cancelled it, the lock expired, or a
// renewal failed permanently. The activity may continue for the grace period, but its result is discarded. The node
// then abandons it, and the delivery counts as an attempt. The abandon has an effect only after a failed renewal: the
// lock may then still be live and would keep other nodes from running the activity until it expires. (0.1.26
// acknowledges the activity instead, which loses it forever.)
func (n *Node) onActivityLost(s *slot, cause string, discard bool) {
	n.counters.ActivitiesLost++
	s.hold.discard = discard
	n.note(s, Note{Decision: DecideWorkLost, Delay: workAckFailedDelay, Cause: cause})
	n.logActivityLost(s.hold, cause)
	if n.options.ActivityCancellationGracePeriod == 0 {
		n.onGraceOver(s)
		return
	}
	s.phase = phaseGrace
	s.timer = n.setTimer(n.options.ActivityCancellationGracePeriod, timerGrace)
}

// onGraceOver gives up on a lost activity that is still running at the end of the grace period.
func (n *Node) onGraceOver(s *slot) {
	n.emit(&CancelJob{Job: s.job})
	s.job = 0
	n.endLost(s)
}

func (n *Node) endLost(s *slot) {
	if s.hold.discard {
		n.commit(s, DecideWorkLost, call.AckWorkItem{LockToken: s.hold.token})
		return
	}
	n.handBack(s, DecideWorkLost, workAckFailedDelay)
}
