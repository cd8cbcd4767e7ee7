package upgrade

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/memprovider"
)

// rebuild queues, for an export without queues, what the histories show to be under way. ends holds the last events of
// the instances that have ended. An instance that nothing under way can wake is left out: it is stuck before any step.
func (r *reader) rebuild(s *Snapshot, running map[string]bool, ends map[string]engine.EventData) {
	if r.takenMs == 0 {
		r.takenMs = int64(r.survey.latest)
	}
	for again := true; again; { // who waits for a child that is left out is stuck, too
		again, r.messages = false, nil
		s.Store.Instances = slices.DeleteFunc(s.Store.Instances, func(in memprovider.PreloadedInstance) bool {
			x := r.executions[executionKey{in.Instance, in.Current}]
			if r.underWay(&in, x, running, ends) {
				return false
			}
			reason := "running instances that are stuck before the plan begins: their histories show nothing under way that could wake them"
			if slices.ContainsFunc(x.events, func(row eventRow) bool { return row.event == nil }) {
				reason = "running instances of which it is not known what they wait for: no build reads their histories"
			}
			r.leave(x.place, in.Instance, reason, in.Instance)
			again, running[in.Instance] = true, false
			return true
		})
	}
}

// underWay queues what execution x of in has under way. It returns false if that cannot wake the instance.
func (r *reader) underWay(in *memprovider.PreloadedInstance, x *executionRow, running map[string]bool, ends map[string]engine.EventData) bool {
	closed := map[uint64]bool{}
	for _, row := range x.events {
		if row.event != nil {
			closed[row.event.SourceEventID] = true
		}
	}
	waits := false
	for _, row := range x.events {
		if kind := row.stored.Kind; row.event == nil && kind != "" && !slices.ContainsFunc(r.codecs, func(c engine.Codec) bool { return c.Kinds().Has(kind) }) {
			waits = true // for what a newer build knows
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
					return false
				}
				if !known {
					queued.item = engine.StartItem{Instance: child, Orchestration: d.Name, Input: d.Input, ParentInstance: in.Instance, ParentExecutionID: execution, ParentID: id, ExecutionID: engine.InitialExecutionID}
				}
			}
		case eventdata.ExternalSubscribed, eventdata.ExternalSubscribed2, eventdata.QueueSubscribed:
		default:
			continue
		}
		waits = true
		if queued.item != nil {
			r.messages = append(r.messages, queued)
		}
	}
	return waits
}
