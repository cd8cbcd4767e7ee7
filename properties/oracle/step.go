package oracle

import (
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
)

// judged applies the specification to the call, and returns the states that are consistent with the answer.
func (s *State) judged(j *judge) []*State {
	a := j.answer
	if a.Lost {
		return s.lost(j)
	}
	if retryable := a.Err != nil && a.Err.Retryable; retryable || j.failing {
		s.retryable(j, retryable)
	}
	switch r := j.call.(type) {
	case call.EnqueueForOrchestrator:
		s.enqueueForOrchestrator(j, r)
	case call.FetchOrchestrationItem:
		s.fetchOrchestration(j, r)
	case call.AckOrchestrationItem:
		s.ackOrchestration(j, r)
	case call.AbandonOrchestrationItem:
		s.abandonOrchestration(j, r)
	case call.RenewOrchestrationItemLock:
		s.renewOrchestration(j, r)
	case call.Read:
		s.read(j, "5.6", r.Instance, s.find(r.Instance).latest())
	case call.ReadWithExecution:
		s.read(j, "5.6", r.Instance, r.ExecutionID)
	case call.AppendWithExecution:
		s.appendEvents(j, r)
	case call.EnqueueForWorker:
		s.enqueueForWorker(j, r)
	case call.FetchWorkItem:
		s.fetchWork(j, r)
	case call.AckWorkItem:
		s.ackWork(j, r)
	case call.RenewWorkItemLock:
		s.renewWork(j, r)
	case call.AbandonWorkItem:
		s.abandonWork(j, r)
	case call.RenewSessionLock:
		s.renewSessions(j, r)
	case call.CleanupOrphanedSessions:
		s.cleanupSessions(j)
	case call.GetCustomStatus:
		s.customStatus(j, r)
	case call.GetKVValue:
		s.kvValue(j, r)
	case call.GetKVAllValues:
		s.kvValues(j, r)
	case call.GetInstanceStats:
		s.stats(j, r)
	default:
		s.judgedAdmin(j)
	}
	return j.next
}

func (s *State) judgedAdmin(j *judge) {
	switch r := j.call.(type) {
	case call.ListInstances:
		s.listInstances(j)
	case call.ListInstancesByStatus:
		s.listByStatus(j, r)
	case call.ListExecutions:
		s.listExecutions(j, r)
	case call.ReadHistoryWithExecutionID:
		s.read(j, "7", r.Instance, r.ExecutionID)
	case call.ReadHistory:
		s.read(j, "7", r.Instance, s.find(r.Instance).latest())
	case call.LatestExecutionID:
		s.latestExecution(j, r)
	case call.GetInstanceInfo:
		s.instanceInfo(j, r)
	case call.GetExecutionInfo:
		s.executionInfo(j, r)
	case call.GetSystemMetrics:
		s.metrics(j)
	case call.GetQueueDepths:
		s.depths(j)
	case call.ListChildren:
		s.children(j, r)
	case call.GetParentID:
		s.parentID(j, r)
	case call.GetInstanceTree:
		s.instanceTree(j, r)
	case call.DeleteInstance:
		s.deleteInstance(j, r)
	case call.DeleteInstancesAtomic:
		s.deleteAtomic(j, r)
	case call.DeleteInstanceBulk:
		s.deleteBulk(j, r)
	case call.PruneExecutions:
		s.prune(j, r)
	case call.PruneExecutionsBulk:
		s.pruneBulk(j, r)
	case call.Plant:
		s.plant(j, r)
	case call.CorruptEvent:
		s.corruptEvent(j, r)
	case call.CorruptMessage:
		s.corruptMessage(j, r)
	default:
		panic(fmt.Sprintf("oracle: no rule for %T", j.call))
	}
}

// retryable judges a retryable error, given or, if the storage was made to fail, possible. Nothing has changed (I8, I11),
// except that a bulk call may have done part of its work (F22), which deleteBulk and pruneBulk handle.
func (s *State) retryable(j *judge, given bool) {
	same := func() *State { return s }
	switch {
	case j.failing:
		j.allow(by("8", "I8 I11"), given, same, "a retryable error, without effect: the storage was made to fail")
		return
	case j.options.StorageErrors:
		j.allow(by("8", "I8 I11"), true, same, "a retryable error, without effect")
		return
	}
	j.allow(clause{"9", "I8 I11", f5Contention}, true, same, "a retryable error under contention, without effect")
	j.object(by("8", ""), "a retryable error, although the storage works and no other caller competes")
}

// plant applies a call that puts data directly into the store.
func (s *State) plant(j *judge, r call.Plant) {
	j.next = append(j.next, s.with(func(n *State) {
		in := n.edit(r.Instance)
		switch {
		case r.Orchestration != "":
			in.row, in.name, in.version, in.current = true, r.Orchestration, r.Version, r.ExecutionID
			return
		case r.Parent != nil:
			in.parent = *r.Parent
			return
		case r.CustomStatus != nil:
			in.custom, in.customVersion = r.CustomStatus, 1
			return
		case r.Key != nil:
			in.store = put(in.store, entry{key: r.Key.Key, value: r.Key.Value, updatedMs: r.Key.LastUpdatedAtMs})
			return
		}
		e := in.addExecution(r.ExecutionID)
		if r.Pin != nil {
			pin := *r.Pin
			e.pin = &pin
		}
		if r.Status != "" {
			e.status, e.output, e.stamped, e.completed = r.Status, r.Output, truth{may: true}, j.at
		}
		event, corrupt := engine.Event{EventID: r.EventID}, true
		if r.Event != nil {
			event = *r.Event
			_, err := call.EventText(event)
			corrupt = err != nil
		}
		if event.EventID != 0 {
			in.add(r.ExecutionID, event)
			for i := range in.history {
				if h := &in.history[i]; h.execution == r.ExecutionID && h.id == event.EventID {
					h.corrupt = corrupt
				}
			}
		}
	}))
}

// corruptEvent records that a test damaged an event, which can no longer be decoded.
func (s *State) corruptEvent(j *judge, r call.CorruptEvent) {
	j.next = append(j.next, s.with(func(n *State) {
		in := n.edit(r.Instance)
		for i := range in.history {
			if h := &in.history[i]; h.execution == r.ExecutionID && h.id == r.EventID {
				h.corrupt = true
			}
		}
	}))
}

// corruptMessage records that a test damaged the newest row that holds the item.
func (s *State) corruptMessage(j *judge, r call.CorruptMessage) {
	j.next = append(j.next, s.with(func(n *State) {
		for i := len(n.queue) - 1; i >= 0; i-- {
			if m := &n.queue[i]; !m.corrupt && sameItem(m.item, r.Item) {
				m.corrupt = true
				return
			}
		}
		for i := len(n.work) - 1; i >= 0; i-- {
			if w := &n.work[i]; !w.corrupt && sameItem(w.item, r.Item) {
				w.corrupt = true
				return
			}
		}
	}))
}

// with returns a copy of the state with a change applied.
func (s *State) with(change func(n *State)) *State {
	n := s.clone()
	change(n)
	return n
}
