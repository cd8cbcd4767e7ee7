package turn

import (
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orchhost"
)

// This file has all that is said of the events that change the state of an instance.

// mismatchOf returns the start of the text for a mismatch with an event.
func mismatchOf(d engine.EventData) string {
	switch d.(type) {
	case eventdata.CustomStatusUpdated:
		return "custom status"
	case eventdata.KeyValueSet:
		return "kv set"
	case eventdata.KeyValueCleared:
		return "kv clear"
	case eventdata.KeyValuesCleared:
		return "kv clear_all"
	}
	return "schedule"
}

func changesState(d engine.EventData) bool { return mismatchOf(d) != "schedule" }

// checkChange checks what an event records of its own turn.
func (c *ackCheck) checkChange(e *engine.Event) {
	if d, is := e.Data.(eventdata.KeyValueSet); is && d.LastUpdatedAtMs != e.TimestampMs {
		c.say("%s is stamped %d: expected the turn's time, %d", event(e), d.LastUpdatedAtMs, e.TimestampMs)
	}
}

// recordsChange is the part of records for changes of the state.
func (c *codeCheck) recordsChange(a *orchhost.Action, data engine.EventData, fresh bool, is func(got, asked string) bool) bool {
	switch d := data.(type) {
	case eventdata.CustomStatusUpdated:
		if !fresh { // replaying an old event compares no more than this
			return a.Kind == orchhost.ActionSetCustomStatus || a.Kind == orchhost.ActionResetCustomStatus
		}
		return d.Status == nil && a.Kind == orchhost.ActionResetCustomStatus || d.Status != nil && a.Kind == orchhost.ActionSetCustomStatus && is(*d.Status, a.Input)
	case eventdata.KeyValueSet:
		return a.Kind == orchhost.ActionSetKV && is(d.Key, a.Name) && is(d.Value, a.Input)
	case eventdata.KeyValueCleared:
		return a.Kind == orchhost.ActionClearKV && is(d.Key, a.Name)
	case eventdata.KeyValuesCleared:
		return a.Kind == orchhost.ActionClearAllKV
	}
	return false
}

// namesOfChange is the part of namesIn for changes of the state.
func namesOfChange(data engine.EventData) []string {
	switch d := data.(type) {
	case eventdata.CustomStatusUpdated:
		if d.Status != nil {
			return quoted(*d.Status)
		}
	case eventdata.KeyValueSet:
		return quoted(d.Key, d.Value)
	case eventdata.KeyValueCleared:
		return quoted(d.Key)
	}
	return nil
}

// apply updates the state as the code sees it after an event.
func (c *codeCheck) apply(e *engine.Event) {
	byKey := func(k engine.KVEntry, key string) int { return strings.Compare(k.Key, key) }
	switch d := e.Data.(type) {
	case eventdata.CustomStatusUpdated:
		c.status = d.Status
	case eventdata.KeyValueSet:
		if i, ok := slices.BinarySearchFunc(c.keys, d.Key, byKey); ok {
			c.keys[i] = engine.KVEntry(d)
		} else {
			c.keys = slices.Insert(c.keys, i, engine.KVEntry(d))
		}
	case eventdata.KeyValueCleared:
		if i, ok := slices.BinarySearchFunc(c.keys, d.Key, byKey); ok {
			c.keys = slices.Delete(c.keys, i, i+1)
		}
	case eventdata.KeyValuesCleared:
		c.keys = c.keys[:0]
	}
}
