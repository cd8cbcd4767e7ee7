package safety

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// TestKeysAfter applies the events of a history to keys that were there before.
func TestKeysAfter(t *testing.T) {
	before := []engine.KVEntry{{Key: "b", Value: "1", LastUpdatedAtMs: 7}, {Key: "c", Value: "2"}}
	set := func(key, value string) engine.Event {
		return engine.Event{Data: eventdata.KeyValueSet{Key: key, Value: value, LastUpdatedAtMs: 9}}
	}
	cleared := engine.Event{Data: eventdata.KeyValueCleared{Key: "c"}}
	for _, row := range []struct {
		name    string
		history []engine.Event
		want    []engine.KVEntry
	}{
		{"nothing", nil, before},
		{"another event", []engine.Event{{Data: eventdata.TimerFired{}}}, before},
		{"a key set and one written over", []engine.Event{set("b", "x"), set("a", "y")}, []engine.KVEntry{{Key: "a", Value: "y", LastUpdatedAtMs: 9}, {Key: "b", Value: "x", LastUpdatedAtMs: 9}, before[1]}},
		{"a key cleared", []engine.Event{cleared}, before[:1]},
		{"a key cleared and set", []engine.Event{cleared, set("c", "z")}, []engine.KVEntry{before[0], {Key: "c", Value: "z", LastUpdatedAtMs: 9}}},
		{"all cleared, and one set", []engine.Event{set("a", "y"), {Data: eventdata.KeyValuesCleared{}}, set("d", "z")}, []engine.KVEntry{{Key: "d", Value: "z", LastUpdatedAtMs: 9}}},
	} {
		if diff := cmp.Diff(row.want, keysAfter(before, row.history)); diff != "" {
			t.Errorf("%s: %s", row.name, diff)
		}
	}
}
