package model

import (
	"bytes"
	"fmt"

	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
)

// Difference compares a store with the model that its observations make: what checkers judge is what the store has. It
// describes the first difference, and returns the instance concerned. The text is empty if there is no difference.
func (m *Shadow) Difference(shot *memprovider.Snapshot) (observe.InstanceNo, string) {
	next := 0
	for _, in := range m.Instances[1:] {
		if next < len(shot.Instances) && shot.Instances[next].Number < in.No {
			break // reported below
		}
		if next == len(shot.Instances) || shot.Instances[next].Number > in.No {
			if !in.empty() {
				return in.No, "the store does not have the instance"
			}
			continue
		}
		if seen := in.difference(&shot.Instances[next]); seen != "" {
			return in.No, seen
		}
		next++
	}
	if next < len(shot.Instances) {
		return shot.Instances[next].Number, "the store has an instance that was never observed"
	}
	if seen := m.sessionDifference(shot.Sessions); seen != "" {
		return 0, seen
	}
	return m.queueDifference(shot)
}

// empty reports whether nothing but the instance's name is known.
func (in *Instance) empty() bool {
	for _, ex := range in.Executions {
		if !ex.empty() {
			return false
		}
	}
	return !in.Created && len(in.Queue) == 0 && len(in.Work) == 0 && in.Lock.Token == "" && len(in.Values.Store) == 0 && len(in.Values.Delta) == 0
}

func (ex *Execution) empty() bool { return !ex.Created && ex.Pin == nil && len(ex.Events) == 0 }

func (in *Instance) difference(shot *memprovider.SnapshotInstance) string {
	switch {
	case shot.Name != in.Name:
		return differs("name", shot.Name, in.Name)
	case shot.Created != in.Created:
		return differs("instances row", shot.Created, in.Created)
	case shot.Orchestration != in.Orchestration:
		return differs("orchestration", shot.Orchestration, in.Orchestration)
	case shot.Version != in.Version:
		return differs("orchestration version", shot.Version, in.Version)
	case shot.Current != in.CurrentID:
		return differs("current execution", shot.Current, in.CurrentID)
	case shot.Parent != in.Parent:
		return differs("parent", shot.Parent, in.Parent)
	case shot.LockToken != in.Lock.Token:
		return differs("lock token", shot.LockToken, in.Lock.Token)
	case shot.LockUntilMs != in.Lock.UntilMs:
		return differs("end of the lock", shot.LockUntilMs, in.Lock.UntilMs)
	}
	if seen := in.Values.difference(shot); seen != "" {
		return seen
	}
	next := 0
	for _, ex := range in.Executions {
		if ex.empty() {
			continue
		}
		if next == len(shot.Executions) || shot.Executions[next].ID != ex.ID {
			return fmt.Sprintf("execution %d was observed, but the store does not have it", ex.ID)
		}
		if seen := ex.difference(&shot.Executions[next]); seen != "" {
			return fmt.Sprintf("execution %d: %s", ex.ID, seen)
		}
		next++
	}
	if next < len(shot.Executions) {
		return fmt.Sprintf("the store has execution %d, which was never observed", shot.Executions[next].ID)
	}
	return ""
}

func (ex *Execution) difference(shot *memprovider.SnapshotExecution) string {
	switch {
	case shot.Created != ex.Created:
		return differs("executions row", shot.Created, ex.Created)
	case shot.Status != ex.Status:
		return differs("status", shot.Status, ex.Status)
	case shot.Output != ex.Output:
		return differs("output", shot.Output, ex.Output)
	case !SamePin(shot.Pin, ex.Pin):
		return differs("pin", PinText(shot.Pin), PinText(ex.Pin))
	}
	for i := range ex.Events {
		e := &ex.Events[i]
		if i == len(shot.Events) || shot.Events[i].ID != e.ID {
			return fmt.Sprintf("event %d was observed, but the store does not have it", e.ID)
		}
		if seen := differentBytes(shot.Events[i].Data, e.Bytes); seen != "" {
			return fmt.Sprintf("event %d: %s", e.ID, seen)
		}
	}
	if n := len(ex.Events); n < len(shot.Events) {
		return fmt.Sprintf("the store has event %d, which was never observed", shot.Events[n].ID)
	}
	return ""
}

// queueDifference compares the two queues row by row, in the order of the row numbers.
func (m *Shadow) queueDifference(shot *memprovider.Snapshot) (observe.InstanceNo, string) {
	messages, work := shot.Messages, shot.Work
	for no := observe.MessageNo(1); int(no) <= m.rowCount; no++ {
		r := m.Row(no)
		if !r.Present {
			continue // the row's page may have been released
		}
		seen := ""
		if r.Queue == observe.QueueWorker {
			if len(work) == 0 || work[0].Number != no {
				return r.Instance.No, ItemText(r) + " is not in the worker queue"
			}
			seen, work = r.workDifference(&work[0]), work[1:]
		} else {
			if len(messages) == 0 || messages[0].Number != no {
				return r.Instance.No, ItemText(r) + " is not in the orchestrator queue"
			}
			seen, messages = r.messageDifference(&messages[0]), messages[1:]
		}
		if seen != "" {
			return r.Instance.No, ItemText(r) + ": " + seen
		}
	}
	switch {
	case len(messages) > 0:
		return messages[0].Instance, fmt.Sprintf("the store has message %d, which was removed or never inserted according to the observations", messages[0].Number)
	case len(work) > 0:
		return work[0].Instance, fmt.Sprintf("the store has activity row %d, which was removed or never inserted according to the observations", work[0].Number)
	}
	return 0, ""
}

func (r *Row) messageDifference(shot *memprovider.SnapshotMessage) string {
	switch {
	case shot.Instance != r.Instance.No:
		return differs("instance", shot.Instance, r.Instance.No)
	case shot.VisibleMs != r.VisibleMs:
		return differs("time of visibility", shot.VisibleMs, r.VisibleMs)
	case shot.Count != r.Count:
		return differs("attempt count", shot.Count, r.Count)
	case shot.Mark != r.Lock.Token:
		return differs("mark", shot.Mark, r.Lock.Token)
	}
	return differentBytes(shot.Data, r.Bytes)
}

func (r *Row) workDifference(shot *memprovider.SnapshotWork) string {
	switch {
	case shot.Instance != r.Instance.No:
		return differs("instance", shot.Instance, r.Instance.No)
	case shot.Execution != r.Execution || shot.Activity != r.ID:
		return differs("activity", [2]uint64{shot.Execution, shot.Activity}, [2]uint64{r.Execution, r.ID})
	case shot.VisibleMs != r.VisibleMs:
		return differs("time of visibility", shot.VisibleMs, r.VisibleMs)
	case shot.Count != r.Count:
		return differs("attempt count", shot.Count, r.Count)
	case shot.LockToken != r.Lock.Token:
		return differs("lock token", shot.LockToken, r.Lock.Token)
	case shot.LockUntilMs != r.Lock.UntilMs:
		return differs("end of the lock", shot.LockUntilMs, r.Lock.UntilMs)
	}
	return differentBytes(shot.Data, r.Bytes)
}

func differs(what string, store, shadow any) string {
	return fmt.Sprintf("%s: the store has %v, its calls left %v", what, store, shadow)
}

func differentBytes(store, observed []byte) string {
	if bytes.Equal(store, observed) {
		return ""
	}
	return fmt.Sprintf("bytes: the store has %q, its calls left %q", store, observed)
}

func (k *Values) difference(shot *memprovider.SnapshotInstance) string {
	switch {
	case !sameText(shot.CustomStatus, k.CustomStatus):
		return differs("custom status", textOf(shot.CustomStatus), textOf(k.CustomStatus))
	case shot.CustomVersion != k.CustomVersion:
		return differs("version of the custom status", shot.CustomVersion, k.CustomVersion)
	}
	if seen := kvDifference(shot.KVStore, k.Store); seen != "" {
		return "key-value store, " + seen
	}
	if seen := kvDifference(shot.KVDelta, k.Delta); seen != "" {
		return "key-value delta, " + seen
	}
	return ""
}

func kvDifference(store []memprovider.SnapshotKV, shadow []KeyValue) string {
	for i, r := range shadow {
		if i == len(store) || store[i].Key != r.Key {
			return fmt.Sprintf("key %q was observed, but the store does not have it", r.Key)
		}
		if !sameText(store[i].Value, r.Value) {
			return differs(fmt.Sprintf("key %q", r.Key), textOf(store[i].Value), textOf(r.Value))
		}
		if store[i].UpdatedMs != r.UpdatedMs {
			return differs(fmt.Sprintf("key %q, time of its change", r.Key), store[i].UpdatedMs, r.UpdatedMs)
		}
	}
	if n := len(shadow); n < len(store) {
		return fmt.Sprintf("the store has key %q, which was never observed", store[n].Key)
	}
	return ""
}

// sessionDifference compares the sessions, which do not belong to instances.
func (m *Shadow) sessionDifference(shot []memprovider.SnapshotSession) string {
	for i, x := range m.Sessions {
		if i == len(shot) || shot[i].ID != x.ID {
			return fmt.Sprintf("session %q was observed, but the store does not have it", x.ID)
		}
		if have := (Session{shot[i].ID, shot[i].Owner, shot[i].UntilMs, shot[i].ActivityMs}); have != x {
			return differs(fmt.Sprintf("session %q", x.ID), have, x)
		}
	}
	if n := len(m.Sessions); n < len(shot) {
		return fmt.Sprintf("the store has session %q, which was never observed", shot[n].ID)
	}
	return ""
}

func sameText(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

func textOf(s *string) string {
	if s == nil {
		return "none"
	}
	return fmt.Sprintf("%q", *s)
}
