package memprovider

import (
	"errors"
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
)

// PreloadedInstance is an instance with an existing history, such as one left behind by builds that no longer run.
type PreloadedInstance struct {
	Instance string
	// Orchestration and Version are stored in the instances row. If Orchestration is empty, there is no row.
	Orchestration string
	Version       string
	Parent        *engine.ParentLink
	// CustomStatus, if not nil, is stored as version 1; it requires an instances row. KV is the merged key-value state.
	CustomStatus *string
	KV           []engine.KVEntry
	// Current is the current execution; 0 means the last one listed.
	Current uint64
	// Executions has at least one execution and is sorted by id.
	Executions []PreloadedExecution
}

// PreloadedExecution is one execution: an optional pin, a status (empty means Running), and encoded events.
type PreloadedExecution struct {
	ID     uint64
	Pin    *engine.Version
	Status engine.Status
	Output *string
	Events []PreloadedEvent
}

// PreloadedEvent is one stored event: bytes that a codec may or may not be able to decode. Kind is the value of the
// history table's kind column. It matters only for an instance without a row, which has a context if one of its events
// is an OrchestrationStarted. Damaged says that Data are no event of a kind that they name: Preload then emits
// observe.Damaged, too, as for a fault, so that nobody takes the failure to decode them for a mistake.
type PreloadedEvent struct {
	ID      uint64
	Kind    engine.EventKind
	Data    []byte
	Damaged bool
}

// Preload stores a complete instance outside any call and emits the observations of ordinary inserts. It fails if the
// store already holds anything for the instance. The store takes ownership of the bytes; the caller must not change
// them.
func (s *Store) Preload(given PreloadedInstance) error {
	if err := s.checkPreloaded(&given); err != nil {
		return fmt.Errorf("preloaded %q: %w", given.Instance, err)
	}
	in := s.named(given.Instance)
	if given.Orchestration != "" {
		current := given.Current
		if current == 0 {
			current = given.Executions[len(given.Executions)-1].ID
		}
		s.setRow(in, given.Orchestration, given.Version, current)
		if given.Parent != nil {
			s.setParent(in, *given.Parent)
		}
		if given.CustomStatus != nil && s.rules.RestoresStatus {
			s.setCustomStatus(in, given.CustomStatus, 1)
		}
	}
	for _, e := range given.KV {
		s.setKV(in, observe.KVStore, kvRow{e.Key, &e.Value, e.LastUpdatedAtMs}, true)
	}
	for _, x := range given.Executions {
		ex := s.create(in, x.ID)
		s.setPin(in, ex, s.intern(x.Pin))
		for _, e := range x.Events {
			s.appendEvent(in, ex, e.ID, e.Kind, e.Data)
			if e.Damaged {
				s.damage(in, ex, len(ex.events)-1, nil, e.Data)
			}
		}
		if x.Status != "" && x.Status != engine.StatusRunning {
			s.setStatus(in, ex, x.Status, x.Output)
		}
	}
	s.settle()
	return nil
}

func (s *Store) checkPreloaded(given *PreloadedInstance) error {
	if in := s.known(given.Instance); in != nil && !in.empty() {
		return errors.New("the store already has this instance")
	}
	if len(given.Executions) == 0 {
		return errors.New("no executions")
	}
	if given.CustomStatus != nil && given.Orchestration == "" {
		return errors.New("a custom status needs an orchestration: it is part of the instances row")
	}
	last := uint64(0)
	for _, x := range given.Executions {
		if x.ID <= last {
			return fmt.Errorf("execution %d after %d: ids ascend from 1", x.ID, last)
		}
		last = x.ID
		lastEvent := uint64(0)
		for _, e := range x.Events {
			if e.ID <= lastEvent {
				return fmt.Errorf("event %d after %d of execution %d: ids ascend from 1", e.ID, lastEvent, x.ID)
			}
			lastEvent = e.ID
		}
	}
	if given.Current != 0 && !slices.ContainsFunc(given.Executions, func(x PreloadedExecution) bool { return x.ID == given.Current }) {
		return fmt.Errorf("current execution %d is not listed", given.Current)
	}
	return nil
}

// Damage simulates a fault: it replaces an event's stored bytes. It emits observe.Damaged.
func (s *Store) Damage(instance string, execution, eventID uint64, data []byte) error {
	if ex := s.executionOf(instance, execution); ex != nil {
		if i, ok := ex.find(eventID); ok {
			s.damage(s.known(instance), ex, i, nil, slices.Clone(data))
			return nil
		}
	}
	return fmt.Errorf("damage: no event %d of %q, execution %d", eventID, instance, execution)
}

// DamageMessage simulates a fault: it replaces a queued message's stored bytes. It emits observe.Damaged. The message
// keeps its destination and the kind by which it is routed.
func (s *Store) DamageMessage(no MessageNo, data []byte) error {
	if no == 0 || uint64(no) > uint64(len(s.rows)) || s.rows[no-1] == nil {
		return fmt.Errorf("damage: no message %d", no)
	}
	r := s.rows[no-1]
	s.damage(r.in, nil, 0, r, slices.Clone(data))
	return nil
}
