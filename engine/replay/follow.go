package replay

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orchhost"
)

// replay runs the code over the baseline and the delta, and reports whether code and events agree.
//
// Before applying an event, replay polls the code if it can make progress. It does so for old events, this turn's
// completions and new schedules alike. To a later turn, all of these are history, so it polls the code in the same
// places. Breadcrumbs are different. The turn writes them when nothing else is left to do, applies them as a group, and
// only then runs the code that they unblock.
func (t *turn) replay() bool {
	t.replaying = len(t.in.History) > 0 && !t.resumed
	t.walk = walk{end: len(t.sched)}
	if t.resumed {
		t.walk.next = len(t.in.History)
	}
	t.left = t.walk.end
	for t.walkOn() {
		if t.poll(); t.stopped() {
			t.left = t.walk.next
			break
		}
	}
	t.walk.over = true
	t.replaying = false
	if t.due || t.rules.FreedEventWakes {
		t.poll()
	}
	return t.abort.IsZero()
}

// walk tracks replay's progress. It is part of the turn, because the code's own coroutine may continue it.
type walk struct {
	next, end int  // the next event to apply, and the end of the events to apply
	polled    bool // the code has already been polled before the next event
	over      bool
	inPlace   bool // the code's own coroutine is continuing the walk
	broken    any  // panic value raised in walkInPlace
}

// walkOn applies events until the code must be polled. It returns false when the walk is over.
func (t *turn) walkOn() bool {
	w, persisted := &t.walk, len(t.in.History)
	for w.next < w.end {
		if w.next == persisted && !w.polled {
			t.replaying = false
			t.reorder()
		}
		pos := t.position(w.next)
		if !w.polled && (t.due || len(t.runnable) > 0 && !t.isNoted(t.at(pos))) {
			w.polled = true
			return true
		}
		if len(t.actions)-t.claimed > 1 && w.next < persisted && !t.in.places && t.claimActivities() {
			continue
		}
		if e := t.apply(pos); e != nil {
			t.disagree(e) // which stops the turn
			return false
		}
		w.polled = false
		w.next++
	}
	return false
}

// claimActivities applies the old activities that come next and that the code has asked for, in the same order. It
// reports whether there were any. This is what apply does for each of them, in a third of the instructions: code that
// fans out asks for all its activities again in every turn.
func (t *turn) claimActivities() bool {
	w, actions := &t.walk, t.actions[t.claimed:]
	history := t.in.History[min(w.next, len(t.in.History)):]
	n := 0
	for ; n < len(history) && n < len(actions); n++ {
		a := &actions[n]
		if !asksFor(&a.Action, history[n].Data) {
			break
		}
		s := &t.sched[w.next+n]
		s.future, s.open = a.token, true
		if a.token != 0 {
			t.futures[a.token].pos = int32(w.next + n)
		}
	}
	if n == 0 {
		return false
	}
	if t.claimed += n; n == len(actions) {
		t.actions, t.claimed = t.actions[:0], 0
	}
	w.next += n
	w.polled = false
	return true
}

// asksFor reports whether data schedules the activity that action a asks for.
func asksFor(a *orchhost.Action, data engine.EventData) bool {
	switch d := data.(type) {
	case eventdata.ActivityScheduled:
		return a.Kind == orchhost.ActionActivity && a.Name == d.Name && a.Input == d.Input &&
			(len(a.Session)|len(d.SessionID)|len(a.Tag)|len(d.Tag) == 0 || a.Session == d.SessionID && a.Tag == d.Tag)
	}
	return false
}

// walkInPlace continues the walk on the stack of the waiting code, and after the walk writes what the code has asked
// for. The effect is the same as returning to replay, but each await of a result that is already in the history saves
// two coroutine switches, and so does the end of a turn. walkInPlace returns true if it has polled the code. If not,
// the turn is over if tearing is set, and otherwise replay must take over. It works only for code with a single
// coroutine.
func (t *turn) walkInPlace() (polled bool) {
	t.failStrays()
	w := &t.walk
	w.inPlace = true
	t.runnable = t.runnable[:0]
	defer func() { w.broken = recover() }() // resume raises a panic again, where the code cannot recover it
	for !t.stopped() && t.walkOn() {
		t.due = false
		if len(t.runnable) > 0 {
			polled = true
			break
		}
	}
	if !polled && !t.stopped() && !t.verifying && !t.rules.DropsBeforeBreadcrumb {
		polled = t.endInPlace()
	}
	if polled {
		t.polls++
		w.inPlace = false
	}
	return polled
}

// endInPlace does what replay, convert and settleDrops do after the walk, and ends the code unless there are drops to
// settle. It returns true if the code must be polled.
func (t *turn) endInPlace() (poll bool) {
	if w := &t.walk; !w.over {
		w.over, t.replaying = true, false
		if poll = (t.due || t.rules.FreedEventWakes) && len(t.runnable) > 0; poll {
			t.due = false
			return true
		}
		t.due = false
	}
	if t.convertOn() {
		return true
	}
	if t.abort.IsZero() && !t.drops && len(t.crumbs) == 0 && !t.keeps() {
		t.endCode()
	}
	return false
}

// isNoted reports whether e is the breadcrumb of a future that the code has already dropped. Breadcrumbs written as a
// group are applied together before the code resumes. If the code has not yet dropped a breadcrumb's future, the
// breadcrumb belongs to the next group.
func (t *turn) isNoted(e *engine.Event) bool {
	switch e.Data.(type) {
	case eventdata.ActivityCancelRequested, eventdata.SubOrchestrationCancelRequested, eventdata.ExternalSubscribedCancelled,
		eventdata.QueueSubscriptionCancelled:
		pos := t.find(e.SourceEventID)
		return pos >= 0 && t.futures[t.sched[pos].future].state == futureDropped
	}
	return false
}
