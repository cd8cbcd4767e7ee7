package upgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/memprovider"
)

// rebuild leaves out the instances that are stuck before any step, since nothing under way can wake them. If the export
// has no queues, it queues what the histories show to be under way. ends holds the last events of the instances that
// have ended.
func (r *reader) rebuild(s *Snapshot, running map[string]bool, ends map[string]engine.EventData) {
	if s.NoQueues && r.takenMs == 0 {
		r.takenMs = int64(r.survey.latest)
	}
	queued, reached := map[source]bool{}, map[string]bool{}
	for _, m := range r.messages {
		queued[sourceOf(m.item)], reached[m.item.Target()] = true, true
	}
	for again := true; again; { // who waits for a child that is left out can be stuck, too
		if again = false; s.NoQueues {
			r.messages = nil
		}
		s.Store.Instances = slices.DeleteFunc(s.Store.Instances, func(in memprovider.PreloadedInstance) bool {
			x := r.executions[executionKey{in.Instance, in.Current}]
			w := r.underWay(&in, x, running, ends)
			unread := slices.ContainsFunc(x.events, func(row eventRow) bool { return row.event == nil })
			if s.NoQueues && (w.open || len(w.messages) > 0) {
				r.messages = append(r.messages, w.messages...)
				return false
			}
			if !s.NoQueues && (w.open || unread || reached[in.Instance]) {
				return false
			}
			reason := "running instances that are stuck before the plan begins: nothing under way can wake them"
			if unread {
				reason = "running instances of which it is not known what they wait for: no build reads their histories"
			}
			r.leave(x.place, in.Instance, reason, in.Instance)
			again, running[in.Instance] = true, false
			return true
		})
	}
	for i := range s.Store.Instances {
		in := &s.Store.Instances[i]
		x := r.executions[executionKey{in.Instance, in.Current}]
		w := r.underWay(in, x, running, ends)
		for _, m := range w.messages {
			if !s.NoQueues && !queued[sourceOf(m.item)] {
				w.never = append(w.never, string(m.item.Kind()))
			}
		}
		if len(w.never) > 0 {
			s.Store.Incomplete = append(s.Store.Incomplete, in.Instance)
			r.leave(x.place, in.Instance, "what histories wait for and no row of a queue brings: it never comes", fmt.Sprintf("%s, %s", in.Instance, strings.Join(w.never, ", ")))
		}
	}
}

// source identifies what a message brings: a start, the end of an activity, of a timer or of a child.
type source struct {
	instance      string
	execution, id uint64
}

// sourceOf is the same for an activity and its end.
func sourceOf(item engine.WorkItem) source {
	switch m := item.(type) {
	case engine.StartItem, engine.ContinueAsNewItem:
		return source{instance: m.Target()}
	case engine.ActivityExecuteItem:
		return source{m.Instance, m.ExecutionID, m.ID}
	case engine.ActivityCompletedItem:
		return source{m.Instance, m.ExecutionID, m.ID}
	case engine.ActivityFailedItem:
		return source{m.Instance, m.ExecutionID, m.ID}
	case engine.TimerFiredItem:
		return source{m.Instance, m.ExecutionID, m.ID}
	case engine.SubOrchCompletedItem:
		return source{m.ParentInstance, m.ParentExecutionID, m.ParentID}
	case engine.SubOrchFailedItem:
		return source{m.ParentInstance, m.ParentExecutionID, m.ParentID}
	}
	return source{}
}

// waits is what an execution waits for: messages, what comes without one that the store has (open), and what never comes.
type waits struct {
	messages []messageRow
	open     bool
	never    []string
}

// underWay returns what execution x of in waits for.
func (r *reader) underWay(in *memprovider.PreloadedInstance, x *executionRow, running map[string]bool, ends map[string]engine.EventData) (w waits) {
	closed := map[uint64]bool{}
	for _, row := range x.events {
		if row.event != nil {
			closed[row.event.SourceEventID] = true
		}
	}
	for _, row := range x.events {
		if kind := row.stored.Kind; row.event == nil && kind != "" && !slices.ContainsFunc(r.codecs, func(c engine.Codec) bool { return c.Kinds().Has(kind) }) {
			w.open = true // for what a newer build knows
		}
		if row.event == nil || closed[row.stored.ID] {
			continue
		}
		id, execution := row.stored.ID, in.Current
		queued := messageRow{place: row.place}
		switch d := row.event.Data.(type) {
		case eventdata.ActivityScheduled:
			queued.item = engine.ActivityExecuteItem{Instance: in.Instance, ExecutionID: execution, ID: id, Name: d.Name, Input: d.Input, SessionID: d.SessionID, Tag: d.Tag}
		case eventdata.TimerCreated:
			queued.item, queued.visibleMs = engine.TimerFiredItem{Instance: in.Instance, ExecutionID: execution, ID: id, FireAtMs: d.FireAtMs}, int64(d.FireAtMs)
		case eventdata.OrchestrationContinuedAsNew:
			queued.item = engine.ContinueAsNewItem{Instance: in.Instance, Orchestration: in.Orchestration, Version: in.Version, Input: d.Input}
		case eventdata.SubOrchestrationScheduled:
			child := d.Child(in.Instance)
			alive, known := running[child]
			switch end := ends[child].(type) {
			case eventdata.OrchestrationCompleted:
				queued.item = engine.SubOrchCompletedItem{ParentInstance: in.Instance, ParentExecutionID: execution, ParentID: id, Result: end.Output}
			case eventdata.OrchestrationFailed:
				queued.item = engine.SubOrchFailedItem{ParentInstance: in.Instance, ParentExecutionID: execution, ParentID: id, Details: end.Details}
			default:
				if known && !alive {
					w.never = append(w.never, "the end of "+child)
					continue
				}
				if !known {
					queued.item = engine.StartItem{Instance: child, Orchestration: d.Name, Input: d.Input, ParentInstance: in.Instance, ParentExecutionID: execution, ParentID: id, ExecutionID: engine.InitialExecutionID}
				}
			}
		case eventdata.ExternalSubscribed, eventdata.ExternalSubscribed2, eventdata.QueueSubscribed:
		default:
			continue
		}
		if w.open = w.open || queued.item == nil; queued.item != nil {
			w.messages = append(w.messages, queued)
		}
	}
	return w
}
