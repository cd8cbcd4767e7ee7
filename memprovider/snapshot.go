package memprovider

import (
	"cmp"
	"slices"

	"github.com/durosim/durosim/engine"
)

// Snapshot is a store's complete state as data. It is compared with the state before a call, or with a shadow store
// built from observations, so it contains exactly what observations report: there are no creation or completion times,
// and an absent output is empty. It shares bytes and pins with the store, which never modifies them.
type Snapshot struct {
	// Instances is sorted by instance number and omits instances that have only been mentioned.
	Instances []SnapshotInstance
	// Messages and Work are the queues, sorted by row number.
	Messages []SnapshotMessage
	Work     []SnapshotWork
	// Sessions holds the sessions rows, including expired ones, sorted by id.
	Sessions []SnapshotSession
}

// SnapshotInstance is one instance. The fields from Created to Parent are its instances row. An expired lock is kept
// until it is released or replaced. LockToken is empty if there is no lock.
type SnapshotInstance struct {
	Number        InstanceNo
	Name          string
	Created       bool
	Orchestration string
	Version       string
	Current       uint64
	Parent        engine.ParentLink
	LockToken     string
	LockUntilMs   int64
	// CustomStatus is part of the instances row. A reset makes it nil but keeps its version.
	CustomStatus  *string
	CustomVersion uint64
	// KVStore and KVDelta are the key-value tables, sorted by key.
	KVStore, KVDelta []SnapshotKV
	// Executions is sorted by id.
	Executions []SnapshotExecution
}

// SnapshotExecution is one execution. Created reports whether it has an executions row.
type SnapshotExecution struct {
	ID      uint64
	Created bool
	Status  engine.Status
	Output  string
	Pin     *engine.Version
	// Events is sorted by id.
	Events []SnapshotEvent
}

// SnapshotEvent is one stored event.
type SnapshotEvent struct {
	ID   uint64
	Data []byte
}

// SnapshotMessage is a row in the orchestrator queue. Mark is the token of the fetch that last took the message; it is
// kept after that fetch's lock ends.
type SnapshotMessage struct {
	Number    MessageNo
	Instance  InstanceNo
	Data      []byte
	VisibleMs int64
	Count     uint32
	Mark      string
}

// SnapshotWork is a row in the worker queue.
type SnapshotWork struct {
	Number      MessageNo
	Instance    InstanceNo
	Execution   uint64
	Activity    uint64
	Data        []byte
	VisibleMs   int64
	Count       uint32
	LockToken   string
	LockUntilMs int64
}

// SnapshotKV is a row in one of the key-value tables. In the delta table, a row without a value is a tombstone.
type SnapshotKV struct {
	Key       string
	Value     *string
	UpdatedMs uint64
}

// SnapshotSession is a sessions row.
type SnapshotSession struct {
	ID         string
	Owner      string
	UntilMs    int64
	ActivityMs int64
}

// Snapshot returns the store's state. It is not a provider call.
func (s *Store) Snapshot() *Snapshot {
	out := &Snapshot{}
	for _, in := range s.instances {
		if in.empty() {
			continue
		}
		m := &in.meta
		shot := SnapshotInstance{
			Number: in.no, Name: in.name, Created: m.created, Orchestration: m.orchestration, Version: m.version,
			Current: m.current, Parent: m.parent, LockToken: in.lock.token, LockUntilMs: in.lock.untilMs,
			CustomStatus: m.customStatus, CustomVersion: m.customVersion,
		}
		if in.kv != nil {
			shot.KVStore, shot.KVDelta = snapshotKV(in.kv.store), snapshotKV(in.kv.delta)
		}
		for _, ex := range in.executions {
			if x, ok := ex.snapshot(); ok {
				shot.Executions = append(shot.Executions, x)
			}
		}
		out.Instances = append(out.Instances, shot)
		for _, r := range slices.Concat(in.visible, in.delayed) {
			out.Messages = append(out.Messages, SnapshotMessage{
				Number: r.no, Instance: in.no, Data: r.data, VisibleMs: r.visibleMs, Count: r.count, Mark: r.lock.token,
			})
		}
		for _, r := range in.work {
			out.Work = append(out.Work, SnapshotWork{
				Number: r.no, Instance: in.no, Execution: r.execution, Activity: r.activity, Data: r.data,
				VisibleMs: r.visibleMs, Count: r.count, LockToken: r.lock.token, LockUntilMs: r.lock.untilMs,
			})
		}
	}
	for _, x := range s.sessions {
		if x.exists {
			out.Sessions = append(out.Sessions, SnapshotSession{x.id, x.owner.name, x.untilMs, x.activityMs})
		}
	}
	slices.SortFunc(out.Sessions, func(a, b SnapshotSession) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(out.Messages, func(a, b SnapshotMessage) int { return cmp.Compare(a.Number, b.Number) })
	slices.SortFunc(out.Work, func(a, b SnapshotWork) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

// snapshot returns the execution as data. ok is false if it has no row, pin or history.
func (ex *execution) snapshot() (x SnapshotExecution, ok bool) {
	x = SnapshotExecution{ID: ex.id, Created: ex.state.created, Status: ex.state.status, Pin: ex.pin}
	if ex.state.output != nil {
		x.Output = *ex.state.output
	}
	for _, e := range ex.events {
		x.Events = append(x.Events, SnapshotEvent{ID: e.id, Data: e.data})
	}
	return x, x.Created || x.Pin != nil || x.Events != nil
}

func snapshotKV(rows []kvRow) []SnapshotKV {
	var out []SnapshotKV
	for _, r := range rows {
		out = append(out, SnapshotKV{r.key, r.value, r.updatedMs})
	}
	return out
}
