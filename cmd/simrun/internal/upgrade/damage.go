package upgrade

import (
	"cmp"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/memprovider"
)

// This file finds what no node can have written, whatever its code is: in a run, it would look like code that was changed.

// schedules returns the kinds of event that one of a kind refers to, or nil, and whether it completes it.
func schedules(kind engine.EventKind) (of []engine.EventKind, completes bool) {
	switch kind {
	case eventdata.KindActivityCompleted, eventdata.KindActivityFailed:
		return []engine.EventKind{eventdata.KindActivityScheduled}, true
	case eventdata.KindTimerFired:
		return []engine.EventKind{eventdata.KindTimerCreated}, true
	case eventdata.KindSubOrchestrationCompleted, eventdata.KindSubOrchestrationFailed:
		return []engine.EventKind{eventdata.KindSubOrchestrationScheduled}, true
	case eventdata.KindActivityCancelRequested:
		return []engine.EventKind{eventdata.KindActivityScheduled}, false
	case eventdata.KindSubOrchestrationCancelRequested:
		return []engine.EventKind{eventdata.KindSubOrchestrationScheduled}, false
	case eventdata.KindExternalSubscribedCancelled:
		return []engine.EventKind{eventdata.KindExternalSubscribed, eventdata.KindExternalSubscribed2}, false
	case eventdata.KindQueueSubscriptionCancelled:
		return []engine.EventKind{eventdata.KindQueueSubscribed}, false
	}
	return nil, false
}

// checkHistory checks the history of in's current execution, which has neither completed nor failed: what it ends are open
// events of the right kind, and it ends as its row says. A node that meets something else lets the execution fail.
func (r *reader) checkHistory(in *memprovider.PreloadedInstance, x *executionRow) {
	var end engine.EventKind
	next, unread, endedBy := false, false, map[uint64]uint64{}
	for i, row := range x.events {
		if i > 0 && row.stored.ID == x.events[i-1].stored.ID {
			continue // left out
		}
		kind := row.stored.Kind
		unread = unread || row.event == nil
		if i == 0 && row.stored.ID == engine.InitialEventID && kind != "" && kind != eventdata.KindOrchestrationStarted && in.Orchestration != "" {
			r.fail(row.place, "type", "execution %d of %s begins with %s", in.Current, in.Instance, kind)
		}
		switch kind {
		case eventdata.KindOrchestrationCompleted, eventdata.KindOrchestrationFailed:
			end = kind
		case eventdata.KindOrchestrationContinuedAsNew:
			next, end = true, cmp.Or(end, kind)
		case eventdata.KindActivityScheduled, eventdata.KindTimerCreated, eventdata.KindSubOrchestrationScheduled, eventdata.KindExternalSubscribed, eventdata.KindExternalSubscribed2, eventdata.KindQueueSubscribed:
			if end != "" {
				r.fail(row.place, "type", "event %d of execution %d of %s is %s, after its end", row.stored.ID, in.Current, in.Instance, kind)
			}
		}
		of, completes := schedules(kind)
		if of == nil || row.event == nil || row.event.SourceEventID >= row.stored.ID {
			continue
		}
		source := row.event.SourceEventID
		switch is, wrong := x.unlike(source, of); {
		case wrong && (completes || is != absent):
			r.fail(row.place, "source_event_id", "event %d of execution %d of %s is the %s of event %d, which is %s", row.stored.ID, in.Current, in.Instance, kind, source, is)
		case completes && endedBy[source] > 0:
			r.fail(row.place, "source_event_id", "event %d of execution %d of %s ends event %d, which event %d has ended", row.stored.ID, in.Current, in.Instance, source, endedBy[source])
		case completes:
			endedBy[source] = row.stored.ID
		}
	}
	switch again := x.status == engine.StatusContinuedAsNew; {
	case again && !next && !unread:
		r.fail(x.place, "status", "execution %d of %s is %s, and its history does not end so", in.Current, in.Instance, x.status)
	case !again && end != "":
		r.fail(x.place, "status", "execution %d of %s is %s, and its history ends with %s", in.Current, in.Instance, cmp.Or(x.status, engine.StatusRunning), end)
	}
}

const absent = "not there"

// unlike returns what event id is if it is none of the kinds.
func (x *executionRow) unlike(id uint64, of []engine.EventKind) (is string, wrong bool) {
	i, there := slices.BinarySearchFunc(x.events, id, func(row eventRow, id uint64) int { return cmp.Compare(row.stored.ID, id) })
	if !there {
		return absent, true
	}
	kind := x.events[i].stored.Kind
	return string(kind), kind != "" && !slices.Contains(of, kind)
}

// checkOrigin checks that what a message or a child comes from is an event of the right kind, if that is of the current
// execution of an instance that is running.
func (r *reader) checkOrigin(s *Snapshot, at place, field, what string, from source, of engine.EventKind) {
	in := s.Store.Instance(from.instance)
	if in == nil || from.id == 0 || in.Current != from.execution {
		return
	}
	if is, wrong := r.executions[executionKey{in.Instance, in.Current}].unlike(from.id, []engine.EventKind{of}); wrong {
		r.fail(at, field, "%s belongs to event %d of execution %d of %s, which is %s, and no %s", what, from.id, from.execution, from.instance, is, of)
	}
}

// checkOrigins does so for each message of the store, and each child.
func (r *reader) checkOrigins(s *Snapshot) {
	for _, m := range r.messages {
		from, of := sourceOf(m.item), eventdata.KindActivityScheduled
		switch d := m.item.(type) {
		case engine.TimerFiredItem:
			of = eventdata.KindTimerCreated
		case engine.SubOrchCompletedItem, engine.SubOrchFailedItem:
			of = eventdata.KindSubOrchestrationScheduled
		case engine.StartItem:
			from, of = source{d.ParentInstance, max(d.ParentExecutionID, 1), d.ParentID}, eventdata.KindSubOrchestrationScheduled
		}
		r.checkOrigin(s, m.place, "work_item", string(m.item.Kind()), from, of)
	}
	for i := range s.Store.Instances {
		if in := &s.Store.Instances[i]; in.Parent != nil {
			x := r.executions[executionKey{in.Instance, in.Current}]
			r.checkOrigin(s, x.place, "", in.Instance, source{in.Parent.Instance, in.Parent.ExecutionID, in.Parent.EventID}, eventdata.KindSubOrchestrationScheduled)
		}
	}
}
