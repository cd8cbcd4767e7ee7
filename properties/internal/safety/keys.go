package safety

import (
	"maps"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// keysAfter returns the key-value state after a history, sorted by key, given the state before it
// (docs/contract/provider.md#p6.9). It shares no code with the replay engine, whose keys it checks.
func keysAfter(before []engine.KVEntry, history []engine.Event) []engine.KVEntry {
	keys := map[string]engine.KVEntry{}
	for _, e := range before {
		keys[e.Key] = e
	}
	for i := range history {
		switch d := history[i].Data.(type) {
		case eventdata.KeyValueSet:
			keys[d.Key] = engine.KVEntry(d)
		case eventdata.KeyValueCleared:
			delete(keys, d.Key)
		case eventdata.KeyValuesCleared:
			clear(keys)
		}
	}
	var out []engine.KVEntry
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		out = append(out, keys[key])
	}
	return out
}
