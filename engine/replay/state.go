package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orchhost"
)

// state is the part of the instance's state that the code can change: its custom status and key-value state. A replay
// rebuilds it, beginning with the state at the start of the execution.
type state struct {
	status *string
	kv     []engine.KVEntry // sorted by key; the provider owns it until kvOwn is set
	kvOwn  bool
	sets   int      // number of keys set by the code so far in this run
	stamps []uint64 // the times at which the baseline set keys
	asked  bool     // this turn adds something that a limit applies to
}

// Update implements orch.Host, as do all exported methods of turn.
func (t *turn) Update(a orchhost.Action) {
	t.enter()
	makeStorable(&a)
	t.emit(&a, 0)
	switch a.Kind {
	case orchhost.ActionSetCustomStatus:
		t.status = &a.Input
	case orchhost.ActionResetCustomStatus:
		t.status = nil
	case orchhost.ActionSetKV:
		recorded := uint64(0)
		known := t.sets < len(t.stamps)
		if known {
			recorded = t.stamps[t.sets]
		}
		t.sets++
		t.setKV(engine.KVEntry{Key: a.Name, Value: a.Input, LastUpdatedAtMs: t.rules.KVStamp(recorded, known, t.in.NowMs)})
	case orchhost.ActionClearKV:
		t.clearKV(a.Name)
	case orchhost.ActionClearAllKV:
		t.kv, t.kvOwn = nil, true
	}
}

func (t *turn) CustomStatus() *string {
	t.enter()
	return t.status
}

func (t *turn) KV() []engine.KVEntry {
	t.enter()
	return t.kv
}

func (t *turn) PruneKV(beforeMs uint64) int {
	t.enter()
	var old []string
	for _, e := range t.kv {
		if e.LastUpdatedAtMs < beforeMs {
			old = append(old, e.Key)
		}
	}
	for _, key := range t.rules.PruneOrder(t.replaying, old) {
		t.Update(orchhost.Action{Kind: orchhost.ActionClearKV, Name: key})
	}
	return len(old)
}

func (s *state) findKV(key string) (int, bool) {
	return slices.BinarySearchFunc(s.kv, key, func(e engine.KVEntry, key string) int { return strings.Compare(e.Key, key) })
}

func (s *state) setKV(e engine.KVEntry) {
	s.ownKV()
	if i, found := s.findKV(e.Key); found {
		s.kv[i] = e
	} else {
		s.kv = slices.Insert(s.kv, i, e)
	}
}

func (s *state) clearKV(key string) {
	if i, found := s.findKV(key); found {
		s.ownKV()
		s.kv = slices.Delete(s.kv, i, i+1)
	}
}

func (s *state) ownKV() {
	if !s.kvOwn {
		s.kv, s.kvOwn = slices.Clone(s.kv), true
	}
}

// changesState reports whether an event records a change of the state.
func changesState(data engine.EventData) bool {
	switch data.(type) {
	case eventdata.CustomStatusUpdated, eventdata.KeyValueSet, eventdata.KeyValueCleared, eventdata.KeyValuesCleared:
		return true
	}
	return false
}

// describeChange describes an action that changes the state for a mismatch message, and describeChanged the event.
func describeChange(a *orchhost.Action) string {
	switch a.Kind {
	case orchhost.ActionSetCustomStatus:
		return fmt.Sprintf("SetCustomStatus(%q)", a.Input)
	case orchhost.ActionResetCustomStatus:
		return "ResetCustomStatus"
	case orchhost.ActionSetKV:
		return fmt.Sprintf("SetKV(key=%q, value=%q)", a.Name, a.Input)
	case orchhost.ActionClearKV:
		return fmt.Sprintf("ClearKV(key=%q)", a.Name)
	case orchhost.ActionClearAllKV:
		return "ClearAllKV"
	}
	return fmt.Sprintf("Action(%d)", a.Kind)
}

func describeChanged(data engine.EventData) string {
	switch d := data.(type) {
	case eventdata.CustomStatusUpdated:
		if d.Status != nil {
			return fmt.Sprintf("CustomStatusUpdated(%q)", *d.Status)
		}
		return "CustomStatusUpdated(reset)"
	case eventdata.KeyValueSet:
		return fmt.Sprintf("KeyValueSet(key=%q, value=%q)", d.Key, d.Value)
	case eventdata.KeyValueCleared:
		return fmt.Sprintf("KeyValueCleared(key=%q)", d.Key)
	}
	return string(eventdata.KindOf(data))
}

// stateEvent returns the event for an action that changes the state, or nil for other actions.
func (t *turn) stateEvent(a *action) engine.EventData {
	switch a.Kind {
	case orchhost.ActionSetCustomStatus:
		status := a.Input
		return eventdata.CustomStatusUpdated{Status: &status}
	case orchhost.ActionResetCustomStatus:
		return eventdata.CustomStatusUpdated{}
	case orchhost.ActionSetKV:
		return eventdata.KeyValueSet{Key: a.Name, Value: a.Input, LastUpdatedAtMs: t.in.NowMs}
	case orchhost.ActionClearKV:
		return eventdata.KeyValueCleared{Key: a.Name}
	case orchhost.ActionClearAllKV:
		return eventdata.KeyValuesCleared{}
	}
	return nil
}

// claimState matches a state event against the oldest action. It tolerates an event that the code no longer reaches
// (docs/contract/runtime.md#r7.3), except under Verify.
func (t *turn) claimState(e *engine.Event) *Nondeterminism {
	if !t.emitted() {
		if t.verifying {
			return mismatch(noEmittedAction, e.EventID, "history "+describeEvent(e.Data)+" but no emitted action")
		}
		return nil
	}
	a := t.oldestAction()
	kind, what := kvMismatch, ""
	ok := false
	switch d := e.Data.(type) {
	case eventdata.CustomStatusUpdated:
		kind, what = customStatusMismatch, "custom status"
		ok = a.Kind == orchhost.ActionSetCustomStatus || a.Kind == orchhost.ActionResetCustomStatus
	case eventdata.KeyValueSet:
		what = "kv set"
		ok = a.Kind == orchhost.ActionSetKV && a.Name == d.Key && a.Input == d.Value
	case eventdata.KeyValueCleared:
		what = "kv clear"
		ok = a.Kind == orchhost.ActionClearKV && a.Name == d.Key
	case eventdata.KeyValuesCleared:
		what = "kv clear_all"
		ok = a.Kind == orchhost.ActionClearAllKV
	}
	if ok {
		return nil
	}
	makeStorable(&a.Action)
	return mismatch(kind, e.EventID, what+" mismatch: action="+describeAction(&a.Action)+" vs event="+describeEvent(e.Data))
}

// handedOn returns the initial custom status of the next execution, which is the last one recorded.
func (t *turn) handedOn() *string {
	for pos := len(t.sched) - 1; pos >= 0; pos-- {
		switch d := t.at(pos).Data.(type) {
		case eventdata.CustomStatusUpdated:
			return d.Status
		case eventdata.OrchestrationStarted:
			return d.InitialCustomStatus
		}
	}
	return nil
}
