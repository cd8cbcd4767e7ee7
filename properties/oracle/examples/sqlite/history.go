package sqlite

import (
	"context"
	"fmt"

	"github.com/durosim/durosim/engine"
)

// latest returns the largest execution that has a row, or 1 if there is none.
func (t *tx) latest(instance string) (uint64, error) {
	var id uint64
	_, err := t.one(`SELECT COALESCE(MAX(execution_id), 1) FROM executions WHERE instance_id = ?`, []any{instance}, &id)
	return id, err
}

// rawHistory returns an execution's stored events in order.
func (t *tx) rawHistory(instance string, execution uint64) ([][]byte, error) {
	return column[[]byte](t, `SELECT event_data FROM history WHERE instance_id = ? AND execution_id = ? ORDER BY event_id`, instance, execution)
}

// decodeEvents decodes what rawHistory returned.
func decodeEvents(codec engine.Codec, history [][]byte) ([]engine.Event, error) {
	var events []engine.Event
	for i, data := range history {
		e, err := codec.DecodeEvent(data)
		if err != nil {
			return nil, fmt.Errorf("event %d of %d: %w", i+1, len(history), err)
		}
		events = append(events, e)
	}
	return events, nil
}

// history returns an execution's decoded events. If this node cannot decode the data, that is a permanent error.
func (t *tx) history(op, instance string, execution uint64) ([]engine.Event, error) {
	raw, err := t.rawHistory(instance, execution)
	if err != nil {
		return nil, err
	}
	events, err := decodeEvents(t.codec, raw)
	if err != nil {
		return nil, engine.Permanentf(op, "history of %q, execution %d: %w", instance, execution, err)
	}
	return events, nil
}

// appendEvents appends events under the ids that they have.
func (t *tx) appendEvents(op, instance string, execution uint64, events []engine.Event) error {
	for _, e := range events {
		data, err := t.codec.AppendEvent(nil, e)
		if err != nil {
			return engine.Permanentf(op, "%w", err)
		}
		added, err := t.exec(`INSERT INTO history (instance_id, execution_id, event_id, event_type, event_data, created_at)
			VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, instance, execution, e.EventID, string(e.Kind()), data, t.now)
		if err != nil {
			return err
		}
		if added == 0 {
			return engine.Permanentf(op, "event %d of %q, execution %d, is there already", e.EventID, instance, execution)
		}
	}
	return nil
}

// Read implements engine.Provider.
func (p *Provider) Read(ctx context.Context, instance string) ([]engine.Event, error) {
	const op = "read"
	return result(ctx, p, op, func(t *tx) ([]engine.Event, error) {
		execution, err := t.latest(instance)
		if err != nil {
			return nil, err
		}
		return t.history(op, instance, execution)
	})
}

// ReadWithExecution implements engine.Provider.
func (p *Provider) ReadWithExecution(ctx context.Context, instance string, executionID uint64) ([]engine.Event, error) {
	const op = "read_with_execution"
	return result(ctx, p, op, func(t *tx) ([]engine.Event, error) { return t.history(op, instance, executionID) })
}

// AppendWithExecution implements engine.Provider. It refuses duplicates (F7).
func (p *Provider) AppendWithExecution(ctx context.Context, instance string, executionID uint64, events []engine.Event) error {
	const op = "append_with_execution"
	return p.transact(ctx, op, func(t *tx) error { return t.appendEvents(op, instance, executionID, events) })
}
