package properties

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
)

// keptState is what is known of an instance beside its executions and queues: the custom status, which is part of the
// instances row, and the two tables of the key-value store, in order of key.
type keptState struct {
	customStatus  *string
	customVersion uint64
	store, delta  []kvState
}

// kvState is a row of a key-value table; a row of the delta without a value is a tombstone.
type kvState struct {
	key       string
	value     *string
	updatedMs uint64
}

// sessionState is a sessions row. Without an owner's claim there is none.
type sessionState struct {
	id         string
	owner      string
	untilMs    int64
	activityMs int64
}

// onKept takes in an observation of the key-value store, a custom status or a session.
func (m *model) onKept(o *engine.Observation) {
	m.current.undone = m.current.undone || o.Undo
	switch o.Kind {
	case engine.ObsCustomStatusSet:
		in := m.touchInstance(o)
		in.kept.customStatus, in.kept.customVersion = o.Value, o.Version
	case engine.ObsKVSet, engine.ObsKVRemoved:
		in := m.touchInstance(o)
		rows := &in.kept.delta
		if o.Table == engine.KVStore {
			rows = &in.kept.store
		}
		i, found := slices.BinarySearchFunc(*rows, o.Name, func(r kvState, key string) int { return cmp.Compare(r.key, key) })
		if found {
			*rows = slices.Delete(*rows, i, i+1)
		}
		if o.Kind == engine.ObsKVSet {
			*rows = slices.Insert(*rows, i, kvState{key: o.Name, value: o.Value, updatedMs: uint64(o.UntilMs)})
		}
	case engine.ObsSessionSet, engine.ObsSessionRemoved:
		i, found := slices.BinarySearchFunc(m.sessions, o.Name, func(s sessionState, id string) int { return cmp.Compare(s.id, id) })
		if found {
			m.sessions = slices.Delete(m.sessions, i, i+1)
		}
		if o.Kind == engine.ObsSessionSet {
			m.sessions = slices.Insert(m.sessions, i, sessionState{id: o.Name, owner: o.Token, untilMs: o.UntilMs, activityMs: o.ActivityMs})
		}
	}
}

func (k *keptState) empty() bool { return len(k.store) == 0 && len(k.delta) == 0 }

func (k *keptState) difference(shot *memprovider.SnapshotInstance) string {
	switch {
	case !sameText(shot.CustomStatus, k.customStatus):
		return differs("custom status", textOf(shot.CustomStatus), textOf(k.customStatus))
	case shot.CustomVersion != k.customVersion:
		return differs("version of the custom status", shot.CustomVersion, k.customVersion)
	}
	if seen := kvDifference(shot.KVStore, k.store); seen != "" {
		return "key-value store, " + seen
	}
	if seen := kvDifference(shot.KVDelta, k.delta); seen != "" {
		return "key-value delta, " + seen
	}
	return ""
}

func kvDifference(store []memprovider.SnapshotKV, shadow []kvState) string {
	for i, r := range shadow {
		if i == len(store) || store[i].Key != r.key {
			return fmt.Sprintf("key %q was observed, and the store does not have it", r.key)
		}
		if !sameText(store[i].Value, r.value) || store[i].UpdatedMs != r.updatedMs {
			return differs(fmt.Sprintf("key %q", r.key), textOf(store[i].Value), textOf(r.value))
		}
	}
	if n := len(shadow); n < len(store) {
		return fmt.Sprintf("the store has key %q, which was never observed", store[n].Key)
	}
	return ""
}

// sessionDifference compares the sessions, which belong to no instance.
func (m *model) sessionDifference(shot []memprovider.SnapshotSession) string {
	for i, x := range m.sessions {
		if i == len(shot) || shot[i].ID != x.id {
			return fmt.Sprintf("session %q was observed, and the store does not have it", x.id)
		}
		if have := (sessionState{shot[i].ID, shot[i].Owner, shot[i].UntilMs, shot[i].ActivityMs}); have != x {
			return differs(fmt.Sprintf("session %q", x.id), have, x)
		}
	}
	if n := len(m.sessions); n < len(shot) {
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
