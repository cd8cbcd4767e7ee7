package model

import (
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
)

// Snapshot returns the model in the form in which a store shows its state. What checkers judge is what the store has, so
// the two must be equal.
func (m *Shadow) Snapshot() *memprovider.Snapshot {
	shot := &memprovider.Snapshot{}
	for _, in := range m.Instances[1:] {
		x := memprovider.SnapshotInstance{
			Number: in.No, Name: in.Name, Created: in.Created, Orchestration: in.Orchestration, Version: in.Version, Current: in.CurrentID,
			Parent: in.Parent, LockToken: in.Lock.Token, LockUntilMs: in.Lock.UntilMs, CustomStatus: in.Values.CustomStatus,
			CustomVersion: in.Values.CustomVersion, KVStore: keyValues(in.Values.Store), KVDelta: keyValues(in.Values.Delta),
		}
		for _, ex := range in.Executions {
			if !ex.Created && ex.Pin == nil && len(ex.Events) == 0 {
				continue
			}
			y := memprovider.SnapshotExecution{ID: ex.ID, Created: ex.Created, Status: ex.Status, Output: ex.Output, Pin: ex.Pin}
			for _, e := range ex.Events {
				y.Events = append(y.Events, memprovider.SnapshotEvent{ID: e.ID, Data: e.Bytes})
			}
			x.Executions = append(x.Executions, y)
		}
		onlyMentioned := !in.Created && len(in.Queue)+len(in.Work)+len(x.KVStore)+len(x.KVDelta)+len(x.Executions) == 0 && in.Lock.Token == ""
		if !onlyMentioned {
			shot.Instances = append(shot.Instances, x)
		}
	}
	for no := observe.MessageNo(1); int(no) <= m.rowCount; no++ {
		r := m.Row(no)
		switch {
		case !r.Present: // the row's page may have been released
		case r.Queue == observe.QueueWorker:
			shot.Work = append(shot.Work, memprovider.SnapshotWork{
				Number: no, Instance: r.Instance.No, Execution: r.Execution, Activity: r.ID, Data: r.Bytes, VisibleMs: r.VisibleMs,
				Count: r.Count, LockToken: r.Lock.Token, LockUntilMs: r.Lock.UntilMs,
			})
		default:
			shot.Messages = append(shot.Messages, memprovider.SnapshotMessage{
				Number: no, Instance: r.Instance.No, Data: r.Bytes, VisibleMs: r.VisibleMs, Count: r.Count, Mark: r.Lock.Token,
			})
		}
	}
	for _, s := range m.Sessions {
		shot.Sessions = append(shot.Sessions, memprovider.SnapshotSession(s))
	}
	return shot
}

func keyValues(rows []KeyValue) (shot []memprovider.SnapshotKV) {
	for _, r := range rows {
		shot = append(shot, memprovider.SnapshotKV(r))
	}
	return shot
}
