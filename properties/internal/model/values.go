package model

import (
	"cmp"
	"slices"

	"github.com/durosim/durosim/engine/observe"
)

// Values holds an instance's state apart from its executions and queues: the custom status, which is part of the
// instance's row, and the two tables of the key-value store, sorted by key.
type Values struct {
	CustomStatus  *string
	CustomVersion uint64
	Store, Delta  []KeyValue
	// Had reports whether there ever was a key.
	Had bool
}

// KeyValue is a row of a key-value table. In the delta, a row without a value is a tombstone.
type KeyValue struct {
	Key       string
	Value     *string
	UpdatedMs uint64
}

// Session is a row of the sessions table. It exists once an owner has claimed the session.
type Session struct {
	ID         string
	Owner      string
	UntilMs    int64
	ActivityMs int64
}

// onKept applies an observation of the key-value store, of a custom status, or of a session.
func (m *Shadow) onKept(o *observe.Observation) {
	m.Current.Undone = m.Current.Undone || o.Undo
	switch o.Kind {
	case observe.CustomStatusSet:
		in := m.touchInstance(o)
		in.Values.CustomStatus, in.Values.CustomVersion = o.Value, o.Version
	case observe.KVSet, observe.KVRemoved:
		in := m.touchInstance(o)
		rows := &in.Values.Delta
		if o.Table == observe.KVStore {
			rows = &in.Values.Store
		}
		i, found := slices.BinarySearchFunc(*rows, o.Name, func(r KeyValue, key string) int { return cmp.Compare(r.Key, key) })
		if found {
			*rows = slices.Delete(*rows, i, i+1)
		}
		if o.Kind == observe.KVSet {
			in.Values.Had = true
			*rows = slices.Insert(*rows, i, KeyValue{Key: o.Name, Value: o.Value, UpdatedMs: uint64(o.UntilMs)})
		}
	case observe.SessionSet, observe.SessionRemoved:
		m.Changes.session()
		if c := m.Call(o.Call); c != nil && !c.TouchedSessions {
			c.Sessions, c.TouchedSessions = append(c.Sessions[:0], m.Sessions...), true
		}
		i, found := slices.BinarySearchFunc(m.Sessions, o.Name, func(s Session, id string) int { return cmp.Compare(s.ID, id) })
		if found {
			m.Sessions = slices.Delete(m.Sessions, i, i+1)
		}
		if o.Kind == observe.SessionSet {
			m.Sessions = slices.Insert(m.Sessions, i, Session{ID: o.Name, Owner: o.Token, UntilMs: o.UntilMs, ActivityMs: o.ActivityMs})
		}
	}
}
