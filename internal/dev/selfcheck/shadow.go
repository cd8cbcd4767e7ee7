package selfcheck

import (
	"cmp"
	"maps"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
)

// Shadow builds a store's Snapshot from observations alone.
type Shadow struct {
	instances []*memprovider.SnapshotInstance // by number - 1
	messages  []*memprovider.SnapshotMessage  // by number - 1, nil for work
	work      []*memprovider.SnapshotWork     // by number - 1, nil for messages
	gone      []bool                          // by number - 1
	items     []engine.WorkItem               // by number - 1, nil for what was stored only as bytes
	sessions  map[string]memprovider.SnapshotSession
}

// Observe implements observe.Sink.
func (s *Shadow) Observe(o *observe.Observation) {
	var in *memprovider.SnapshotInstance
	if o.Instance != 0 && o.Kind != observe.InstanceNamed {
		in = s.instances[o.Instance-1]
	}
	switch o.Kind {
	case observe.InstanceNamed:
		s.instances = append(s.instances, &memprovider.SnapshotInstance{Number: o.Instance, Name: o.Name})
	case observe.LockTaken, observe.LockExtended:
		if o.Queue == observe.QueueWorker {
			s.work[o.Message-1].LockToken, s.work[o.Message-1].LockUntilMs = o.Token, o.UntilMs
		} else {
			in.LockToken, in.LockUntilMs = o.Token, o.UntilMs
		}
	case observe.LockReleased:
		if o.Queue == observe.QueueWorker {
			s.work[o.Message-1].LockToken, s.work[o.Message-1].LockUntilMs = "", 0
		} else {
			in.LockToken, in.LockUntilMs = "", 0
		}
	case observe.MessageMarked:
		s.messages[o.Message-1].Mark = o.Token
	case observe.InstanceCreated:
		in.Created, in.Orchestration, in.Version, in.Current = true, o.Name, o.Token, o.Execution
	case observe.InstanceRemoved:
		in.Created, in.Orchestration, in.Version, in.Current, in.Parent = false, "", "", 0, engine.ParentLink{}
		in.CustomStatus, in.CustomVersion = nil, 0
	case observe.CustomStatusSet:
		in.CustomStatus, in.CustomVersion = o.Value, o.Version
	case observe.KVSet, observe.KVRemoved:
		if o.Table == observe.KVStore {
			in.KVStore = setKV(in.KVStore, o)
		} else {
			in.KVDelta = setKV(in.KVDelta, o)
		}
	case observe.SessionSet:
		if s.sessions == nil {
			s.sessions = map[string]memprovider.SnapshotSession{}
		}
		s.sessions[o.Name] = memprovider.SnapshotSession{ID: o.Name, Owner: o.Token, UntilMs: o.UntilMs, ActivityMs: o.ActivityMs}
	case observe.SessionRemoved:
		delete(s.sessions, o.Name)
	case observe.ParentSet:
		in.Parent = engine.ParentLink{Instance: o.Name, ExecutionID: o.Execution, EventID: o.EventID}
	case observe.PointerSet:
		in.Current = o.Execution
	default:
		s.observeRow(o)
		if o.Execution != 0 && o.Queue == observe.QueueNone {
			s.observeExecution(in, o)
		}
	}
}

// setKV applies an observation to a key-value table.
func setKV(rows []memprovider.SnapshotKV, o *observe.Observation) []memprovider.SnapshotKV {
	i, found := slices.BinarySearchFunc(rows, o.Name, func(r memprovider.SnapshotKV, key string) int { return cmp.Compare(r.Key, key) })
	rows = slices.Clone(rows)
	if found {
		rows = slices.Delete(rows, i, i+1)
	}
	if o.Kind == observe.KVSet {
		return slices.Insert(rows, i, memprovider.SnapshotKV{Key: o.Name, Value: o.Value, UpdatedMs: uint64(o.UntilMs)})
	}
	if len(rows) == 0 {
		return nil
	}
	return rows
}

func (s *Shadow) observeRow(o *observe.Observation) {
	switch o.Kind {
	case observe.RowInserted:
		m, w := &memprovider.SnapshotMessage{Number: o.Message, Instance: o.Instance, Data: o.Bytes, VisibleMs: o.UntilMs}, (*memprovider.SnapshotWork)(nil)
		if o.Queue == observe.QueueWorker {
			m, w = nil, &memprovider.SnapshotWork{Number: o.Message, Instance: o.Instance, Execution: o.Execution, Activity: o.EventID,
				Data: o.Bytes, VisibleMs: o.UntilMs}
		}
		s.messages, s.work = append(s.messages, m), append(s.work, w)
		s.gone, s.items = append(s.gone, false), append(s.items, o.Item)
	case observe.RowRemoved:
		s.gone[o.Message-1] = true
	case observe.RowRestored:
		s.gone[o.Message-1] = false
	case observe.RowDelayed:
		if w := s.work[o.Message-1]; w != nil {
			w.VisibleMs = o.UntilMs
		} else {
			s.messages[o.Message-1].VisibleMs = o.UntilMs
		}
	case observe.CountChanged:
		if w := s.work[o.Message-1]; w != nil {
			w.Count = o.NewCount
		} else {
			s.messages[o.Message-1].Count = o.NewCount
		}
	case observe.Damaged:
		if o.Message == 0 {
			return
		}
		if w := s.work[o.Message-1]; w != nil {
			w.Data = o.Bytes
		} else {
			s.messages[o.Message-1].Data = o.Bytes
		}
	}
}

func (s *Shadow) observeExecution(in *memprovider.SnapshotInstance, o *observe.Observation) {
	i, found := slices.BinarySearchFunc(in.Executions, o.Execution, func(x memprovider.SnapshotExecution, id uint64) int { return cmp.Compare(x.ID, id) })
	if !found {
		in.Executions = slices.Insert(in.Executions, i, memprovider.SnapshotExecution{ID: o.Execution})
	}
	x := &in.Executions[i]
	j, _ := slices.BinarySearchFunc(x.Events, o.EventID, func(e memprovider.SnapshotEvent, id uint64) int { return cmp.Compare(e.ID, id) })
	switch o.Kind {
	case observe.ExecutionCreated:
		x.Created, x.Status = true, o.Status
	case observe.ExecutionRemoved:
		x.Created, x.Status, x.Output = false, "", ""
		if !o.Undo {
			x.Pin = nil
		}
	case observe.PinSet:
		x.Pin = o.Pin
	case observe.StatusSet:
		x.Status, x.Output = o.Status, o.Name
	case observe.EventAppended:
		x.Events = slices.Insert(x.Events, j, memprovider.SnapshotEvent{ID: o.EventID, Data: o.Bytes})
	case observe.EventRemoved:
		x.Events = slices.Delete(x.Events, j, j+1)
		if len(x.Events) == 0 {
			x.Events = nil
		}
	case observe.Damaged:
		x.Events[j].Data = o.Bytes
	}
}

// Snapshot returns what the store must have. It shares what the store has stored.
func (s *Shadow) Snapshot() *memprovider.Snapshot {
	out := &memprovider.Snapshot{}
	busy := make([]bool, len(s.instances))
	for i, m := range s.messages {
		switch w := s.work[i]; {
		case s.gone[i]:
		case w != nil:
			out.Work, busy[w.Instance-1] = append(out.Work, *w), true
		default:
			out.Messages, busy[m.Instance-1] = append(out.Messages, *m), true
		}
	}
	for i, in := range s.instances {
		shot := *in
		shot.Executions = slices.DeleteFunc(slices.Clone(in.Executions), func(x memprovider.SnapshotExecution) bool {
			return !x.Created && x.Pin == nil && x.Events == nil
		})
		if len(shot.Executions) == 0 {
			shot.Executions = nil
		}
		if busy[i] || shot.Created || shot.LockToken != "" || shot.Executions != nil || shot.KVStore != nil || shot.KVDelta != nil {
			out.Instances = append(out.Instances, shot)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.sessions)) {
		out.Sessions = append(out.Sessions, s.sessions[id])
	}
	return out
}

// Item returns a message as it was stored, or nil if it was stored only as bytes.
func (s *Shadow) Item(no memprovider.MessageNo) engine.WorkItem { return s.items[no-1] }

// Stands reports whether the store still has a message.
func (s *Shadow) Stands(no memprovider.MessageNo) bool {
	return no != 0 && uint64(no) <= uint64(len(s.gone)) && !s.gone[no-1]
}

// Last returns the number of the newest message.
func (s *Shadow) Last() memprovider.MessageNo { return memprovider.MessageNo(len(s.items)) }
