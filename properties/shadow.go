package properties

import (
	"bytes"
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/cluster"
)

// shadowID is the id under which a difference between the store and its shadow is reported. It is no property of a
// provider but a check of ours: the observations must tell the whole truth, or no checker is worth anything.
const shadowID = "shadow"

// shadowChecker compares, at the end of a run, the store with what the model made of its observations.
type shadowChecker struct{ base }

func newShadowChecker(m *run) checker { return &shadowChecker{base{m}} }

func (*shadowChecker) observes() []engine.ObservationKind { return nil }
func (*shadowChecker) records() []cluster.RecordKind      { return nil }

func (s *shadowChecker) finish() {
	store := s.m.w.Store()
	if store == nil {
		return
	}
	if instance, seen := s.m.store.difference(store.Snapshot()); seen != "" {
		s.m.violate(finding{
			property: shadowID, class: cluster.ClassInternal, instance: instance,
			message: "the store differs from what its observations say: " + seen,
		})
	}
}

// difference is the first difference between a snapshot of the store and the model, with the instance that it is in;
// empty if there is none.
func (m *model) difference(shot *memprovider.Snapshot) (engine.InstanceNo, string) {
	next := 0
	for _, in := range m.instances[1:] {
		if next < len(shot.Instances) && shot.Instances[next].Number < in.no {
			break // reported below
		}
		if next == len(shot.Instances) || shot.Instances[next].Number > in.no {
			if !in.empty() {
				return in.no, "the store has nothing of the instance"
			}
			continue
		}
		if seen := in.difference(&shot.Instances[next]); seen != "" {
			return in.no, seen
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

// empty says that the instance has a name and nothing else.
func (in *instanceState) empty() bool {
	for _, ex := range in.executions {
		if !ex.empty() {
			return false
		}
	}
	return !in.created && len(in.queue) == 0 && len(in.work) == 0 && in.lock.token == "" && in.kept.empty()
}

func (ex *executionState) empty() bool { return !ex.created && ex.pin == nil && len(ex.events) == 0 }

func (in *instanceState) difference(shot *memprovider.SnapshotInstance) string {
	switch {
	case shot.Name != in.name:
		return differs("name", shot.Name, in.name)
	case shot.Created != in.created:
		return differs("instances row", shot.Created, in.created)
	case shot.Orchestration != in.orchestration:
		return differs("orchestration", shot.Orchestration, in.orchestration)
	case shot.Version != in.version:
		return differs("orchestration version", shot.Version, in.version)
	case shot.Current != in.currentID:
		return differs("current execution", shot.Current, in.currentID)
	case shot.Parent != in.parent:
		return differs("parent", shot.Parent, in.parent)
	case shot.LockToken != in.lock.token:
		return differs("lock token", shot.LockToken, in.lock.token)
	case shot.LockUntilMs != in.lock.untilMs:
		return differs("end of the lock", shot.LockUntilMs, in.lock.untilMs)
	}
	if seen := in.kept.difference(shot); seen != "" {
		return seen
	}
	next := 0
	for _, ex := range in.executions {
		if ex.empty() {
			continue
		}
		if next == len(shot.Executions) || shot.Executions[next].ID != ex.id {
			return fmt.Sprintf("execution %d was observed, and the store does not have it", ex.id)
		}
		if seen := ex.difference(&shot.Executions[next]); seen != "" {
			return fmt.Sprintf("execution %d: %s", ex.id, seen)
		}
		next++
	}
	if next < len(shot.Executions) {
		return fmt.Sprintf("the store has execution %d, which was never observed", shot.Executions[next].ID)
	}
	return ""
}

func (ex *executionState) difference(shot *memprovider.SnapshotExecution) string {
	switch {
	case shot.Created != ex.created:
		return differs("executions row", shot.Created, ex.created)
	case shot.Status != ex.status:
		return differs("status", shot.Status, ex.status)
	case shot.Output != ex.output:
		return differs("output", shot.Output, ex.output)
	case !samePin(shot.Pin, ex.pin):
		return differs("pin", pinText(shot.Pin), pinText(ex.pin))
	}
	for i := range ex.events {
		e := &ex.events[i]
		if i == len(shot.Events) || shot.Events[i].ID != e.id {
			return fmt.Sprintf("event %d was observed, and the store does not have it", e.id)
		}
		if seen := differentBytes(shot.Events[i].Data, e.bytes, e.sum); seen != "" {
			return fmt.Sprintf("event %d: %s", e.id, seen)
		}
	}
	if n := len(ex.events); n < len(shot.Events) {
		return fmt.Sprintf("the store has event %d, which was never observed", shot.Events[n].ID)
	}
	return ""
}

// queueDifference compares the two queues, row by row in order of number.
func (m *model) queueDifference(shot *memprovider.Snapshot) (engine.InstanceNo, string) {
	messages, work := shot.Messages, shot.Work
	for no := engine.MessageNo(1); int(no) <= m.rowCount; no++ {
		r := m.row(no)
		if !r.present {
			continue
		}
		seen := ""
		if r.queue == engine.QueueWorker {
			if len(work) == 0 || work[0].Number != no {
				return r.instance.no, itemText(r) + " is not in the worker queue"
			}
			seen, work = r.workDifference(&work[0]), work[1:]
		} else {
			if len(messages) == 0 || messages[0].Number != no {
				return r.instance.no, itemText(r) + " is not in the orchestrator queue"
			}
			seen, messages = r.messageDifference(&messages[0]), messages[1:]
		}
		if seen != "" {
			return r.instance.no, itemText(r) + ": " + seen
		}
	}
	switch {
	case len(messages) > 0:
		return messages[0].Instance, fmt.Sprintf("the store has message %d, which should have left or never came", messages[0].Number)
	case len(work) > 0:
		return work[0].Instance, fmt.Sprintf("the store has activity row %d, which should have left or never came", work[0].Number)
	}
	return 0, ""
}

func (r *rowState) messageDifference(shot *memprovider.SnapshotMessage) string {
	switch {
	case shot.Instance != r.instance.no:
		return differs("instance", shot.Instance, r.instance.no)
	case shot.VisibleMs != r.visibleMs:
		return differs("time of visibility", shot.VisibleMs, r.visibleMs)
	case shot.Count != r.count:
		return differs("attempt count", shot.Count, r.count)
	case shot.Mark != r.lock.token:
		return differs("mark", shot.Mark, r.lock.token)
	}
	return differentBytes(shot.Data, r.bytes, r.sum)
}

func (r *rowState) workDifference(shot *memprovider.SnapshotWork) string {
	switch {
	case shot.Instance != r.instance.no:
		return differs("instance", shot.Instance, r.instance.no)
	case shot.Execution != r.execution || shot.Activity != r.id:
		return differs("activity", [2]uint64{shot.Execution, shot.Activity}, [2]uint64{r.execution, r.id})
	case shot.VisibleMs != r.visibleMs:
		return differs("time of visibility", shot.VisibleMs, r.visibleMs)
	case shot.Count != r.count:
		return differs("attempt count", shot.Count, r.count)
	case shot.LockToken != r.lock.token:
		return differs("lock token", shot.LockToken, r.lock.token)
	case shot.LockUntilMs != r.lock.untilMs:
		return differs("end of the lock", shot.LockUntilMs, r.lock.untilMs)
	}
	return differentBytes(shot.Data, r.bytes, r.sum)
}

func differs(what string, store, shadow any) string {
	return fmt.Sprintf("%s: the store has %v, the shadow %v", what, store, shadow)
}

// differentBytes compares stored bytes with the observed ones, and with their hash at the time: the slices may be one.
func differentBytes(store, observed []byte, sum uint64) string {
	if !bytes.Equal(store, observed) {
		i := 0
		for i < len(store) && i < len(observed) && store[i] == observed[i] {
			i++
		}
		return fmt.Sprintf("bytes: from offset %d the store has %q, the shadow %q", i, excerpt(store, i), excerpt(observed, i))
	}
	if sumOf(store) != sum {
		return fmt.Sprintf("bytes: the store wrote over %d stored bytes: %q", len(store), excerpt(store, 0))
	}
	return ""
}

func excerpt(data []byte, from int) []byte { return data[from:min(len(data), from+40)] }
