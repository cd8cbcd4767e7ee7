package replay

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/eventdata"
)

// replay runs the code over baseline and delta and reports whether the two agree so far.
//
// Before an event is applied, the code is polled if it can go on. That holds for old events, for this turn's completions
// and for new schedules alike, so a later turn, for which all of them are history, polls the code at the same places.
// Breadcrumbs are written when nothing else is left to do, and applied together: the code that they unblock runs after
// them.
func (t *turn) replay() bool {
	t.replaying = len(t.in.History) > 0
	t.walk = walk{end: len(t.sched)}
	t.left = t.walk.end
	for t.walkOn() {
		if t.poll(); t.stopped() && !t.walk.differs {
			t.left = t.walk.next
			break
		}
	}
	if t.walk.differs {
		return false
	}
	t.walk.over = true
	t.replaying = false
	if t.due || t.rules.FreedEventWakes {
		t.poll()
	}
	return t.abort.IsZero()
}

// walk is how far replay has come. It is kept with the turn, since the code's own coroutine may go on with it.
type walk struct {
	next, end int  // the event to apply next, and where the walk ends
	polled    bool // the code has been polled before that event
	differs   bool // code and history disagree
	over      bool
	inPlace   bool // the code's coroutine goes on with it
	broken    any  // what the walk panicked with there
}

// walkOn applies events until the code is to be polled; it returns false if the walk is over.
func (t *turn) walkOn() bool {
	w, persisted := &t.walk, len(t.in.History)
	for !w.differs && w.next < w.end {
		if w.next == persisted && !w.polled {
			t.replaying = false
			t.reorder()
		}
		pos := t.position(w.next)
		if !w.polled && (t.due || len(t.runnable) > 0 && !t.isNoted(t.at(pos))) {
			w.polled = true
			return true
		}
		if e := t.apply(pos); e != nil {
			t.disagree(e)
			w.differs = true
			return false
		}
		w.polled = false
		w.next++
	}
	return false
}

// walkInPlace goes on with the walk where the code waits: on its own stack. Nothing else differs from going on in replay, but
// that takes two switches between coroutines each time the code waits for something that the history has. It returns true
// when the code is polled, and false if that is for replay to say. It needs code that has no coroutine beside it.
func (t *turn) walkInPlace() (polled bool) {
	t.failStrays()
	w := &t.walk
	w.inPlace = true
	t.runnable = t.runnable[:0]
	whole := false
	defer func() {
		if !whole { // resume panics with it: the code must not recover it
			w.broken = recover()
		}
	}()
	for !t.stopped() && t.walkOn() {
		t.due = false
		if len(t.runnable) > 0 {
			t.polls++
			w.inPlace = false
			polled = true
			break
		}
	}
	whole = true
	return polled
}

// isNoted reports whether an event is the breadcrumb of a future that the code has already dropped. Breadcrumbs that
// were written together are applied together, before the code goes on. A breadcrumb of the next such group belongs to a
// future that the code has not dropped yet.
func (t *turn) isNoted(e *engine.Event) bool {
	switch e.Data.(type) {
	case eventdata.ActivityCancelRequested, eventdata.SubOrchestrationCancelRequested, eventdata.ExternalSubscribedCancelled,
		eventdata.QueueSubscriptionCancelled:
		pos := t.find(e.SourceEventID)
		return pos >= 0 && t.futures[t.sched[pos].future].state == futureDropped
	}
	return false
}
