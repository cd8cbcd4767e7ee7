package model

import (
	"bytes"
	"fmt"

	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/memprovider"
)

// Difference describes the first difference between a snapshot of the store and the model, and returns the instance
// concerned. The text is empty if there is no difference.
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
	return !in.Created && len(in.Queue) == 0 && len(in.Work) == 0 && in.Lock.Token == "" && in.Values.Empty()
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
		if seen := differentBytes(shot.Events[i].Data, e.Bytes, e.Sum); seen != "" {
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
	return differentBytes(shot.Data, r.Bytes, r.sum)
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
	return differentBytes(shot.Data, r.Bytes, r.sum)
}

func differs(what string, store, shadow any) string {
	return fmt.Sprintf("%s: the store has %v, its calls left %v", what, store, shadow)
}

// differentBytes compares stored bytes with the observed ones. It also checks them against the hash taken when they
// were observed, because the two slices may share memory.
func differentBytes(store, observed []byte, sum uint64) string {
	if !bytes.Equal(store, observed) {
		i := 0
		for i < len(store) && i < len(observed) && store[i] == observed[i] {
			i++
		}
		return fmt.Sprintf("bytes: from offset %d the store has %q, its calls left %q", i, excerpt(store, i), excerpt(observed, i))
	}
	if sumOf(store) != sum {
		return fmt.Sprintf("bytes: the store wrote over %d stored bytes: %q", len(store), excerpt(store, 0))
	}
	return ""
}

func excerpt(data []byte, from int) []byte { return data[from:min(len(data), from+40)] }
