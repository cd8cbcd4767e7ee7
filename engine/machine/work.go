package machine

import (
	"fmt"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orchhost"
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
	s.performed.done = false
	n.emit(run)
	n.startRenewing(s)
}

// performed is an activity's code that runs or has run, and its outcome.
type performed struct {
	done            bool
	ctx             node.ActivityContext
	result, failure string
	failed          bool
	slept           time.Duration
	panicked        *ActivityPanicked // nil if it has not
}

// Running implements watchdog.Subject.
func (p *performed) Running() (code, instance string) {
	return "activity " + p.ctx.Name, p.ctx.Instance
}

// Perform runs the code of the activity whose job is about to finish, and returns for how long it has slept. Unless that is
// 0, the job finishes that much later. Without a call of Perform, the code runs when the job finishes, and does not sleep.
func (n *Node) Perform(job JobID, nowMs int64) (slept time.Duration) {
	for i := range n.slots {
		s := &n.slots[i]
		if s.job != job || s.phase != phaseRunning || s.performed.done || s.hold.activity.Name == orchhost.SystemGetKVValue {
			continue
		}
		n.nowMs = nowMs
		if run, found := n.activityCode(s.hold.activity.Name); found {
			n.perform(s, run)
			return s.performed.slept
		}
	}
	return 0
}

// perform calls user code and turns a panic or runtime.Goexit into a failure. It also calls the error's Error method,
// which is user code, too.
func (n *Node) perform(s *slot, run node.Activity) {
	held, p := &s.hold.activity, &s.performed
	*p = performed{done: true}
	p.ctx = node.ActivityContext{
		Instance: held.Instance, ExecutionID: held.ExecutionID, ActivityID: held.ID, Attempt: s.hold.count,
		Name: held.Name, SessionID: held.SessionID, Tag: held.Tag, WorkerID: n.workerID(s),
	}.WithSleep(&p.slept)
	text, place, panicked := n.arena.replay.Contain(p, func() {
		var err error
		if p.result, err = run(p.ctx, held.Input); err != nil {
			p.failure, p.failed = err.Error(), true
		}
	})
	if panicked {
		p.panicked = &ActivityPanicked{Activity: p.ctx, Text: text, At: place}
		p.failure, p.failed = orchhost.ActivityPanicked+text, true
	}
}

// onActivityDone runs the activity's code at the end of its duration, unless it has run, and acknowledges the outcome.
func (n *Node) onActivityDone(s *slot, panicked string) {
	a := s.hold.activity
	run, found := n.activityCode(a.Name)
	if !found { // the activity was deregistered while it was running
		n.abandon(s, Note{Decision: DecideWorkNoHandler, Delay: n.options.UnregisteredBackoffBase, Cause: missingActivity(a)})
		return
	}
	if panicked != "" {
		n.completeActivity(s, "", panicked, true)
		return
	}
	if !s.performed.done {
		if n.readsKey(s) {
			return
		}
		n.perform(s, run)
	}
	if s.performed.panicked != nil {
		n.emit(s.performed.panicked)
	}
	n.completeActivity(s, s.performed.result, s.performed.failure, s.performed.failed)
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
