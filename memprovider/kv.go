package memprovider

import (
	"cmp"
	"context"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
)

// kvState is an instance's key-value state (docs/contract/provider.md#p6.9). Both tables are sorted by key. A nil
// kvState is empty.
type kvState struct {
	store []kvRow // values only
	delta []kvRow
	// before is the store table as it was before the merge at mergedMs. It and hasBefore are set only under a rule by
	// which reads see the two tables at different times.
	before    []kvRow
	hasBefore bool
	mergedMs  int64
}

// kvRow is one key's row. In the delta table, a row without a value is a tombstone. Tombstones have time 0 (F19).
type kvRow struct {
	key       string
	value     *string // never modified
	updatedMs uint64
}

// kvChange records a row as it was before a change.
type kvChange struct {
	table observe.KVTable
	row   kvRow
	had   bool
}

// table returns the rows of a table.
func (kv *kvState) table(t observe.KVTable) *[]kvRow {
	if t == observe.KVStore {
		return &kv.store
	}
	return &kv.delta
}

func findKV(rows []kvRow, key string) (int, bool) {
	return slices.BinarySearchFunc(rows, key, func(r kvRow, key string) int { return cmp.Compare(r.key, key) })
}

// merged returns what clients read: the delta table merged over the store table, without tombstones, sorted by key.
func merged(store, delta []kvRow) []kvRow {
	out := make([]kvRow, 0, len(store)+len(delta))
	for len(store) > 0 || len(delta) > 0 {
		var r kvRow
		switch {
		case len(delta) == 0 || len(store) > 0 && store[0].key < delta[0].key:
			r, store = store[0], store[1:]
		case len(store) > 0 && store[0].key == delta[0].key:
			r, store, delta = delta[0], store[1:], delta[1:]
		default:
			r, delta = delta[0], delta[1:]
		}
		if r.value != nil {
			out = append(out, r)
		}
	}
	return out
}

// snapshot returns the entries that a fetch delivers: those of the store table, or of the merged view if live is set.
// The caller owns the slice.
func (kv *kvState) snapshot(live bool) []engine.KVEntry {
	if kv == nil {
		return nil
	}
	rows := kv.store
	if live {
		rows = merged(kv.store, kv.delta)
	}
	var out []engine.KVEntry
	for _, r := range rows {
		out = append(out, engine.KVEntry{Key: r.key, Value: *r.value, LastUpdatedAtMs: r.updatedMs})
	}
	return out
}

// keyValues performs the ack's key-value step: it applies the delta's events in order and then merges.
func (c *commit) keyValues() {
	s := c.p.store
	for i := range c.ack.HistoryDelta {
		switch e := eventdata.Known(c.ack.HistoryDelta[i].Data).(type) {
		case eventdata.KeyValueSet:
			value := asStored(e.Value)
			s.setKV(c.in, observe.KVDelta, kvRow{asStored(e.Key), &value, e.LastUpdatedAtMs}, true)
		case eventdata.KeyValueCleared:
			s.clearKV(c.in, asStored(e.Key))
		case eventdata.KeyValuesCleared:
			if kv := c.in.kv; kv != nil {
				for _, r := range slices.Clone(kv.delta) {
					s.clearKV(c.in, r.key)
				}
				for _, r := range kv.store {
					s.clearKV(c.in, r.key)
				}
			}
		}
	}
	if s.rules.MergesKV(c.ack.Metadata.Status) {
		s.mergeKV(c.in)
	}
}

// clearKV writes a tombstone for the key.
func (s *Store) clearKV(in *instance, key string) {
	s.setKV(in, observe.KVDelta, kvRow{key: key}, s.rules.KeepsTombstone)
}

// mergeKV moves the delta table into the store table.
func (s *Store) mergeKV(in *instance) {
	kv := in.kv
	if kv == nil || len(kv.delta) == 0 {
		return
	}
	if s.rules.KVReadMs >= 0 {
		kv.before, kv.hasBefore, kv.mergedMs = slices.Clone(kv.store), true, s.now
	}
	for _, r := range slices.Clone(kv.delta) {
		s.setKV(in, observe.KVStore, r, r.value != nil)
		s.setKV(in, observe.KVDelta, r, false)
	}
}

// setKV writes a row of a table, or removes the key's row if present is false.
func (s *Store) setKV(in *instance, t observe.KVTable, r kvRow, present bool) {
	if in.kv == nil {
		in.kv = &kvState{}
	}
	rows := in.kv.table(t)
	i, had := findKV(*rows, r.key)
	if !had && !present {
		return
	}
	old := kvRow{key: r.key}
	if had {
		old = (*rows)[i]
	}
	if s.journaling {
		s.note(undo{op: undoKV, in: in, kv: &kvChange{table: t, row: old, had: had}})
	}
	kind := observe.KVSet
	switch {
	case !present:
		kind = observe.KVRemoved
		*rows = slices.Delete(*rows, i, i+1)
	case had:
		(*rows)[i] = r
	default:
		*rows = slices.Insert(*rows, i, r)
	}
	if o := s.observe(kind); o != nil {
		o.Instance, o.Table, o.Name = in.no, t, r.key
		if present {
			o.Value, o.UntilMs = r.value, int64(r.updatedMs)
		}
		s.send()
	}
}

// readKV returns the instance's key-value pairs as clients see them.
func (s *Store) readKV(instance string) []kvRow {
	in := s.known(instance)
	if in == nil || in.kv == nil {
		return nil
	}
	kv := in.kv
	if kv.hasBefore && s.now-kv.mergedMs <= s.rules.KVReadMs {
		return merged(kv.before, kv.delta)
	}
	return merged(kv.store, kv.delta)
}

// GetKVValue implements engine.Provider.
func (p *provider) GetKVValue(_ context.Context, instance, key string) (*string, error) {
	s := p.store
	req := s.begin(observe.CallGetKVValue, p.caller)
	req.Instance, req.Key = instance, key
	s.started()
	var value *string
	rows := s.readKV(instance)
	if i, ok := findKV(rows, key); ok {
		value = rows[i].value
	}
	return value, s.end(result{}, nil)
}

// GetKVAllValues implements engine.Provider.
func (p *provider) GetKVAllValues(_ context.Context, instance string) ([]engine.KVPair, error) {
	s := p.store
	s.begin(observe.CallGetKVAllValues, p.caller).Instance = instance
	s.started()
	return pairsOf(s.readKV(instance)), s.end(result{}, nil)
}

func pairsOf(rows []kvRow) (pairs []engine.KVPair) {
	for _, r := range rows {
		pairs = append(pairs, engine.KVPair{Key: r.key, Value: *r.value})
	}
	return pairs
}
