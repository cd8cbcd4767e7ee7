package replay

import (
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orchhost"
)

// quiescencePolls is the maximum number of polls, after the walk, that the code's own new schedules may cause.
const quiescencePolls = 100

// convert turns the actions that no event in the history claimed into events. If a new event unblocks the code, convert
// polls the code before it writes the next event. Reaching the quiescencePolls limit fails the turn, even if the code
// ends in that poll.
func (t *turn) convert() {
	t.cancelDropsEarly()
	for t.convertOn() {
		t.poll()
	}
}

// convertOn writes actions until the code must be polled. It returns false when there is nothing left to write.
func (t *turn) convertOn() bool {
	if t.pollLimit == 0 {
		t.pollLimit = t.rules.PollLimit(t.polls)
	}
	for {
		if t.wrote {
			if t.wrote = false; t.polls >= t.pollLimit && t.abort.IsZero() {
				t.abort = engine.ErrorDetails{Infrastructure: &eventdata.InfrastructureError{
					Operation: "quiescence_loop",
					Message: "quiescence loop exceeded 100 iterations —" + strings.Repeat(" ", 22) +
						"orchestration is emitting unbounded persistent event subscriptions",
				}}
			}
		}
		if !t.abort.IsZero() || !t.emitted() {
			return false
		}
		t.wrote = true
		if t.returned || len(t.runnable) == 0 {
			t.write(t.nextAction())
			if !t.due || t.returned {
				continue
			}
			if t.due = false; len(t.runnable) == 0 {
				continue
			}
		}
		return true
	}
}

// write adds the event for an action and applies it.
func (t *turn) write(a *action) {
	makeStorable(&a.Action)
	var data engine.EventData
	kind := notSchedule
	switch a.Kind {
	case orchhost.ActionActivity:
		kind, data = scheduleActivity, eventdata.ActivityScheduled{Name: a.Name, Input: a.Input, SessionID: a.Session, Tag: a.Tag}
		t.asked = t.asked || a.Tag != ""
	case orchhost.ActionTimer:
		kind, data = scheduleTimer, eventdata.TimerCreated{FireAtMs: t.in.NowMs + uint64(max(0, a.Delay.Milliseconds()))}
	case orchhost.ActionWait2:
		kind = scheduleWait
		if t.writes(eventdata.KindExternalSubscribed2) {
			data = eventdata.ExternalSubscribed2{Name: a.Name, Topic: a.Topic}
			break
		}
		data = eventdata.ExternalSubscribed{Name: a.Name}
	case orchhost.ActionWait:
		kind, data = scheduleWait, eventdata.ExternalSubscribed{Name: a.Name}
	case orchhost.ActionDequeue:
		kind, data = scheduleDequeue, eventdata.QueueSubscribed{Name: a.Name}
	case orchhost.ActionSubOrchestration:
		instance := a.Instance
		if instance == "" {
			instance = t.childID()
		}
		kind, data = scheduleChild, eventdata.SubOrchestrationScheduled{Name: a.Name, Instance: instance, Input: a.Input}
	case orchhost.ActionDetached:
		if !t.rules.RecordsDetached {
			t.unrecorded = append(t.unrecorded, engine.StartItem{
				Instance: a.Instance, Orchestration: a.Name, Input: a.Input, Version: a.Version, ExecutionID: engine.InitialExecutionID,
			})
			return
		}
		data = eventdata.OrchestrationChained{Name: a.Name, Instance: a.Instance, Input: a.Input}
	case orchhost.ActionContinueAsNew:
		t.noteContinue(a)
		t.nextID++ // the action uses up an event id but has no event
		return
	default:
		t.add(0, t.stateEvent(a))
		t.asked = true
		return
	}
	pos := t.add(0, data)
	t.sched[pos].kind = kind
	t.bind(pos, a.token, data)
	t.pending = append(t.pending, pending{pos: pos, version: a.Version})
}

// noteContinue records the first continue-as-new and ignores later ones.
func (t *turn) noteContinue(a *action) {
	if t.continues == nil {
		t.canRoom = a.Action
		t.continues = &t.canRoom
	}
}

// apply applies the event at pos to the code. It returns nil if they agree.
func (t *turn) apply(pos int) *Nondeterminism {
	e := t.at(pos)
	if t.sched[pos].kind != notSchedule {
		return t.claim(pos, e, "history schedule but no emitted action")
	}
	switch d := e.Data.(type) {
	case eventdata.OrchestrationChained:
		return t.claim(pos, e, "history OrchestrationChained but no emitted action")
	case eventdata.ActivityCompleted:
		return t.deliver(e, d.Result, nil)
	case eventdata.ActivityFailed:
		return t.deliver(e, "", &d.Details)
	case eventdata.TimerFired:
		return t.deliver(e, "", nil)
	case eventdata.SubOrchestrationCompleted:
		return t.deliver(e, d.Result, nil)
	case eventdata.SubOrchestrationFailed:
		return t.deliver(e, "", &d.Details)
	case eventdata.ExternalEvent:
		t.arrive(waitKey{name: d.Name}, d.Data)
	case eventdata.ExternalEvent2:
		t.arrive(waitKey{second: true, name: d.Name, topic: d.Topic}, d.Data)
	case eventdata.QueueEventDelivered:
		t.queueArrive(d.Name, pos, d.Data)
	case eventdata.ExternalSubscribedCancelled, eventdata.QueueSubscriptionCancelled:
		t.unsubscribe(t.find(e.SourceEventID))
	default:
		if changesState(d) {
			return t.claimState(e)
		}
	}
	return nil
}

// claim matches schedule event e against the oldest unmatched action and binds that action's future to e.
func (t *turn) claim(pos int, e *engine.Event, missing string) *Nondeterminism {
	if !t.emitted() {
		return mismatch(noEmittedAction, e.EventID, missing)
	}
	a := t.oldestAction()
	if !t.matches(&a.Action, e.Data) && !t.matchesStorable(&a.Action, e.Data) {
		return mismatch(scheduleMismatch, e.EventID,
			"schedule mismatch: action="+describeAction(&a.Action)+" vs event="+describeEvent(e.Data))
	}
	t.bind(pos, a.token, e.Data)
	return nil
}

// oldestAction returns the next action to match. Under Verify, it skips a continue-as-new, which leaves no event.
func (t *turn) oldestAction() *action {
	a := t.nextAction()
	for t.verifying && a.Kind == orchhost.ActionContinueAsNew && t.emitted() {
		t.noteContinue(a)
		a = t.nextAction()
	}
	return a
}

// bind binds future token to its schedule event at pos, whose kind is known.
func (t *turn) bind(pos int, token orchhost.Token, data engine.EventData) {
	s := &t.sched[pos]
	s.future, s.open = token, s.kind != notSchedule // a detached start has no completion
	if token != 0 {
		t.futures[token].pos = int32(pos)
	}
	if s.kind == scheduleWait || s.kind == scheduleDequeue {
		t.bindWait(pos, token, data)
	}
}

// bindWait adds the wait or dequeue at pos to the table of its queue.
func (t *turn) bindWait(pos int, token orchhost.Token, data engine.EventData) {
	switch d := data.(type) {
	case eventdata.ExternalSubscribed:
		t.subscribe(waitKey{name: d.Name}, pos, token)
	case eventdata.QueueSubscribed:
		t.dequeue(d.Name, pos, token)
		if token != 0 && t.futures[token].state == futureDropped && t.discards() {
			t.unsubscribe(pos)
		}
	case eventdata.ExternalSubscribed2:
		t.subscribe(waitKey{second: true, name: d.Name, topic: d.Topic}, pos, token)
	}
}

// deliver resolves a future with its completion's outcome.
func (t *turn) deliver(e *engine.Event, value string, details *engine.ErrorDetails) *Nondeterminism {
	pos := t.find(e.SourceEventID)
	if pos < 0 || !t.sched[pos].open {
		return mismatch(completionWithoutSchedule, e.EventID, "completion without open schedule")
	}
	if _, ok := e.Data.(eventdata.ActivityCompleted); ok {
		if t.sched[pos].kind != scheduleActivity {
			return mismatch(completionExpectedActivity, e.EventID, "completion kind mismatch: expected activity")
		}
		value = t.activityResult(pos, value)
	}
	var err error
	if details != nil {
		err = failure(details.Display())
	}
	token := t.sched[pos].future
	if t.rules.Recipient != nil {
		token = t.rules.Recipient(token, func() []orchhost.Token { return t.pendingLike(pos) })
	}
	t.sched[pos].open = false
	t.resolve(token, value, err)
	return nil
}

// activityResult returns the result of the activity scheduled at pos as the code sees it.
func (t *turn) activityResult(pos int, recorded string) string {
	if t.rules.SystemResult == nil {
		return recorded
	}
	if d, ok := t.at(pos).Data.(eventdata.ActivityScheduled); ok && strings.HasPrefix(d.Name, orchhost.SystemActivityPrefix) {
		return t.rules.SystemResult(d.Name, recorded, t.in.NowMs)
	}
	return recorded
}

// failure is an activity's or child's error as seen by orchestration code.
type failure string

func (f failure) Error() string { return string(f) }

// pendingLike returns, in ascending order, the unresolved futures with the same kind of schedule as the one at pos.
func (t *turn) pendingLike(pos int) []orchhost.Token {
	var out []orchhost.Token
	for i := 1; i < len(t.futures); i++ {
		f := &t.futures[i]
		if f.state == futurePending && f.pos >= 0 && t.sched[f.pos].kind == t.sched[pos].kind {
			out = append(out, orchhost.Token(i))
		}
	}
	return out
}

// reorder prepares t.order if ApplyOrder is set.
func (t *turn) reorder() {
	if t.rules.ApplyOrder == nil {
		return
	}
	for i := len(t.in.History); i < len(t.sched); i++ {
		t.order = append(t.order, i)
	}
	slices.SortStableFunc(t.order, func(a, b int) int { return t.rules.ApplyOrder(t.at(a), t.at(b)) })
}

// position returns the position of the i-th event in the order in which the walk applies them.
func (t *turn) position(i int) int {
	if n := len(t.in.History); i >= n && t.order != nil {
		return t.order[i-n]
	}
	return i
}
