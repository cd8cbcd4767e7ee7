package memprovider

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
)

// InstanceState is an instance's state as reported by Peek.
type InstanceState struct {
	// Created reports whether the instance has a row. If it has none, Execution is its latest execution.
	Created   bool
	Execution uint64
	// Status is empty if the execution has no row.
	Status engine.Status
	Output *string
	Pin    *engine.Version
	// Parent is the parent's instance, or empty.
	Parent string
	// Starts reports whether a message that starts the instance is in the orchestrator queue.
	Starts bool
	// Messages counts the instance's messages in the orchestrator queue. VisibleMs is the earliest time at which one of
	// them is visible, or Never if there are none. Activities counts the instance's rows in the worker queue.
	Messages   int
	VisibleMs  int64
	Activities int
	// LockedUntilMs is when the instance lock expires, or 0 if no lock is live.
	LockedUntilMs int64
}

// Peek reads an instance without a provider call and without observations. ok is false if the store has nothing for the
// instance.
func (s *Store) Peek(instance string) (state InstanceState, ok bool) {
	in := s.known(instance)
	if in == nil || in.empty() {
		return InstanceState{VisibleMs: Never}, false
	}
	state = InstanceState{
		Created: in.meta.created, Execution: in.latest(), Parent: in.meta.parent.Instance, Messages: len(in.visible) + len(in.delayed), VisibleMs: Never,
		Activities: len(in.work), Starts: in.visibleStarts+in.delayedStarts > 0,
	}
	if in.meta.created {
		state.Execution = in.meta.current
	}
	if ex := in.execution(state.Execution); ex != nil {
		state.Status, state.Output, state.Pin = ex.state.status, ex.state.output, ex.pin
	}
	for _, r := range in.visible {
		state.VisibleMs = min(state.VisibleMs, r.visibleMs)
	}
	if len(in.delayed) > 0 {
		state.VisibleMs = min(state.VisibleMs, in.delayed[0].visibleMs)
	}
	if in.lock.live(s.now) {
		state.LockedUntilMs = in.lock.untilMs
	}
	return state, true
}

// RowState is a row of one of the queues as reported by PeekRows. Activity is the activity's event, for a row of the
// worker queue, Session and Tag are what it is bound to, if anything, and LockedUntilMs is the expiry of its lock, or 0 if
// no lock is live. SessionOwner alone may take it until SessionUntilMs, if the session has an owner.
type RowState struct {
	Number        MessageNo
	Queue         observe.Queue
	Kind          engine.WorkItemKind
	Activity      uint64
	VisibleMs     int64
	Count         uint32
	LockedUntilMs int64
	Session, Tag  string

	SessionOwner   string
	SessionUntilMs int64
}

// PeekRows reads an instance's queue rows, sorted by queue and number, without a provider call and without observations.
func (s *Store) PeekRows(instance string) []RowState {
	var rows []RowState
	if in := s.known(instance); in != nil {
		for _, r := range slices.Concat(in.visible, in.delayed, in.work) {
			row := RowState{Number: r.no, Queue: r.queue, Kind: r.kind, Activity: r.activity, VisibleMs: r.visibleMs, Count: r.count, Session: r.sessionID, Tag: r.tag}
			if r.queue == observe.QueueWorker && r.lock.live(s.now) {
				row.LockedUntilMs = r.lock.untilMs
			}
			if x := s.sessionIDs[r.sessionID]; r.sessionID != "" && x != nil && x.live(s.now) {
				row.SessionOwner, row.SessionUntilMs = x.owner.name, x.untilMs
			}
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b RowState) int { return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Number, b.Number)) })
	return rows
}

// PeekKeys reads an instance's keys and values as clients do, sorted by key, without a provider call and without
// observations.
func (s *Store) PeekKeys(instance string) []engine.KVPair {
	if in := s.known(instance); in != nil && in.kv != nil {
		return pairsOf(merged(in.kv.store, in.kv.delta))
	}
	return nil
}

// PeekHistory decodes a stored history without a provider call, observations or changes to the cache. An unknown
// execution has no events. The caller must not change the slice.
func (s *Store) PeekHistory(instance string, execution uint64, codec engine.Codec) ([]engine.Event, error) {
	ex := s.executionOf(instance, execution)
	if ex == nil {
		return nil, nil
	}
	if events, ok := s.seen(ex, codec); ok {
		return events, nil
	}
	events := make([]engine.Event, 0, len(ex.events))
	for i := range ex.events {
		e, err := s.decodeEvent(ex, i, codec)
		if err != nil {
			return nil, fmt.Errorf("event %d of %s, execution %d: %w", ex.events[i].id, instance, execution, err)
		}
		events = append(events, e)
	}
	return events, nil
}

// seen returns the decoded history if the codec, or an equivalent one, has already decoded all of it.
func (s *Store) seen(ex *execution, codec engine.Codec) ([]engine.Event, bool) {
next:
	for from, d := range ex.decoded {
		if d == nil || len(d.events) != len(ex.events) {
			continue
		}
		for i := range d.events {
			if !rereads(codec, s.codecs[from], d.events[i]) {
				continue next
			}
		}
		return d.events[:len(d.events):len(d.events)], true
	}
	return nil, false
}

// View is a read-only view of a store, for observers.
type View interface {
	InstanceName(no InstanceNo) string
	Peek(instance string) (state InstanceState, ok bool)
	PeekRows(instance string) []RowState
	PeekKeys(instance string) []engine.KVPair
	PeekHistory(instance string, execution uint64, codec engine.Codec) ([]engine.Event, error)
	Snapshot() *Snapshot
	Schema() uint64
}

// view hides the store's other methods.
type view struct{ View }

// View returns a read-only view of the store.
func (s *Store) View() View { return s.view }
