package replay

import (
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// overLimit returns the message for the first limit that this turn's events exceed, in the order of
// docs/contract/runtime.md#r4.1. It returns "" if they exceed none.
func (t *turn) overLimit() string {
	if !t.asked {
		return ""
	}
	return t.limitBrokenBy(t.delta)
}

// limitBrokenBy returns the message for the first limit that events exceed. events must be the last events of the
// execution.
func (t *turn) limitBrokenBy(events []engine.Event) string {
	most := t.in.Build.Bounds()
	for _, e := range slices.Backward(events) {
		if d, ok := e.Data.(eventdata.CustomStatusUpdated); ok && d.Status != nil {
			if n := len(*d.Status); n > engine.MaxCustomStatusBytes {
				return fmt.Sprintf("Custom status size (%d bytes) exceeds limit (%d bytes)", n, engine.MaxCustomStatusBytes)
			}
			break
		}
	}
	for i := range events {
		if d, ok := events[i].Data.(eventdata.ActivityScheduled); ok && len(d.Tag) > engine.MaxTagNameBytes {
			return fmt.Sprintf("Activity '%s' tag size (%d bytes) exceeds limit (%d bytes)", d.Name, len(d.Tag), engine.MaxTagNameBytes)
		}
	}
	for i := range events {
		if d, ok := events[i].Data.(eventdata.KeyValueSet); ok && len(d.Value) > most.ValueBytes {
			return fmt.Sprintf("KV value for key '%s' (%d bytes) exceeds limit (%d bytes)", d.Key, len(d.Value), most.ValueBytes)
		}
	}
	if n := t.rules.KVKeyCount(func() int { return len(t.kv) }, t.keysOfTurn); n > most.Keys {
		return fmt.Sprintf("KV key count (%d) exceeds limit (%d)", n, most.Keys)
	}
	return ""
}

// keysOfTurn returns the number of keys that exist after this turn, ignoring all changes by the execution's earlier
// turns.
func (t *turn) keysOfTurn() int {
	keys := make(map[string]bool)
	for _, e := range t.in.KVSnapshot {
		keys[e.Key] = true
	}
	for i := range t.delta {
		switch d := t.delta[i].Data.(type) {
		case eventdata.KeyValueSet:
			keys[d.Key] = true
		case eventdata.KeyValueCleared:
			delete(keys, d.Key)
		case eventdata.KeyValuesCleared:
			clear(keys)
		}
	}
	return len(keys)
}

// orchestrationFailed returns the error of an execution that fails with that text.
func orchestrationFailed(text string) engine.ErrorDetails {
	return engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppOrchestrationFailed, Message: text}}
}

// appendLimitFailure fails the execution as 0.1.26 does: it appends the failure after all of the turn's events, even
// after a terminal event, and does not notify the parent.
func (t *turn) appendLimitFailure(text string) {
	t.out.Details = orchestrationFailed(text)
	t.add(0, eventdata.OrchestrationFailed{Details: t.out.Details})
	if t.out.Result == ResultContinue {
		t.endActivities(ResultFailed)
	}
	t.out.Result = ResultFailed
	t.out.WorkerItems, t.out.OrchestratorItems, t.cancels = nil, nil, nil
	t.out.Metadata.Status, t.out.Metadata.Output = engine.StatusFailed, &text
}
