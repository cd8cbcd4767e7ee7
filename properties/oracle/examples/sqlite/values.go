package sqlite

import (
	"context"
	"database/sql"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// saveKV writes an ack's key-value events to the delta, and merges the delta into the stored keys at the end of an
// execution.
func (t *tx) saveKV(instance string, events []engine.Event, status engine.Status) error {
	const upsert = `INSERT INTO kv_delta (instance_id, key, value, last_updated_at_ms) VALUES (?, ?, ?, ?)
		ON CONFLICT (instance_id, key) DO UPDATE SET value = excluded.value, last_updated_at_ms = excluded.last_updated_at_ms`
	for _, e := range events {
		var err error
		switch d := e.Data.(type) {
		case eventdata.KeyValueSet:
			err = t.change(upsert, instance, d.Key, d.Value, d.LastUpdatedAtMs)
		case eventdata.KeyValueCleared:
			err = t.change(upsert, instance, d.Key, nil, t.now)
		case eventdata.KeyValuesCleared:
			err = t.change(`INSERT INTO kv_delta (instance_id, key, value, last_updated_at_ms)
				SELECT instance_id, key, NULL, ?1 FROM (SELECT instance_id, key FROM kv_store WHERE instance_id = ?2
					UNION SELECT instance_id, key FROM kv_delta WHERE instance_id = ?2) WHERE TRUE
				ON CONFLICT (instance_id, key) DO UPDATE SET value = NULL, last_updated_at_ms = excluded.last_updated_at_ms`, t.now, instance)
		}
		if err != nil {
			return err
		}
	}
	if !status.Terminal() {
		return nil
	}
	for _, merge := range []string{
		`INSERT INTO kv_store (instance_id, key, value, last_updated_at_ms)
			SELECT instance_id, key, value, last_updated_at_ms FROM kv_delta WHERE instance_id = ? AND value IS NOT NULL
			ON CONFLICT (instance_id, key) DO UPDATE SET value = excluded.value, last_updated_at_ms = excluded.last_updated_at_ms`,
		`DELETE FROM kv_store WHERE instance_id = ? AND EXISTS (SELECT 1 FROM kv_delta d
			WHERE d.instance_id = kv_store.instance_id AND d.key = kv_store.key AND d.value IS NULL)`,
		`DELETE FROM kv_delta WHERE instance_id = ?`,
	} {
		if err := t.change(merge, instance); err != nil {
			return err
		}
	}
	return nil
}

// kvSnapshot returns the state from the start of the execution, sorted by key.
func (t *tx) kvSnapshot(instance string) ([]engine.KVEntry, error) {
	return many(t, `SELECT key, value, last_updated_at_ms FROM kv_store WHERE instance_id = ? ORDER BY key`, []any{instance},
		func(rows *sql.Rows, e *engine.KVEntry) error { return rows.Scan(&e.Key, &e.Value, &e.LastUpdatedAtMs) })
}

// kv returns the merged view that clients read, sorted by key.
func (t *tx) kv(instance string) ([]engine.KVPair, error) {
	return many(t, `SELECT key, value FROM kv_delta WHERE instance_id = ?1 AND value IS NOT NULL
		UNION ALL SELECT key, value FROM kv_store s WHERE instance_id = ?1
			AND NOT EXISTS (SELECT 1 FROM kv_delta d WHERE d.instance_id = ?1 AND d.key = s.key)
		ORDER BY key`, []any{instance},
		func(rows *sql.Rows, e *engine.KVPair) error { return rows.Scan(&e.Key, &e.Value) })
}

// GetKVAllValues implements engine.Provider.
func (p *Provider) GetKVAllValues(ctx context.Context, instance string) ([]engine.KVPair, error) {
	return result(ctx, p, "get_kv_all_values", func(t *tx) ([]engine.KVPair, error) { return t.kv(instance) })
}

// GetKVValue implements engine.Provider.
func (p *Provider) GetKVValue(ctx context.Context, instance, key string) (*string, error) {
	pairs, err := p.GetKVAllValues(ctx, instance)
	for _, pair := range pairs {
		if pair.Key == key {
			return &pair.Value, err
		}
	}
	return nil, err
}

// GetCustomStatus implements engine.Provider.
func (p *Provider) GetCustomStatus(ctx context.Context, instance string, lastSeen uint64) (*engine.CustomStatus, error) {
	return result(ctx, p, "get_custom_status", func(t *tx) (*engine.CustomStatus, error) {
		var s engine.CustomStatus
		found, err := t.one(`SELECT custom_status, custom_status_version FROM instances WHERE instance_id = ? AND custom_status_version > ?`,
			[]any{instance, lastSeen}, &s.Status, &s.Version)
		if !found {
			return nil, err
		}
		return &s, err
	})
}

// GetInstanceStats implements engine.Provider. Sizes are in bytes.
func (p *Provider) GetInstanceStats(ctx context.Context, instance string) (*engine.SystemStats, error) {
	const op = "get_instance_stats"
	return result(ctx, p, op, func(t *tx) (*engine.SystemStats, error) {
		var execution uint64
		found, err := t.one(`SELECT current_execution_id FROM instances WHERE instance_id = ?`, []any{instance}, &execution)
		if err != nil || !found {
			return nil, err
		}
		var s engine.SystemStats
		if _, err := t.one(`SELECT COUNT(*), COALESCE(SUM(LENGTH(event_data)), 0) FROM history WHERE instance_id = ? AND execution_id = ?`,
			[]any{instance, execution}, &s.HistoryEventCount, &s.HistorySizeBytes); err != nil {
			return nil, err
		}
		var first []byte
		found, err = t.one(`SELECT event_data FROM history WHERE instance_id = ? AND execution_id = ? AND event_id = 1`, []any{instance, execution}, &first)
		if err != nil {
			return nil, err
		}
		if found {
			e, err := t.codec.DecodeEvent(first)
			if err != nil {
				return nil, engine.Permanentf(op, "%w", err)
			}
			if started, ok := e.Data.(eventdata.OrchestrationStarted); ok {
				s.QueuePendingCount = uint64(len(started.CarryForwardEvents))
			}
		}
		pairs, err := t.kv(instance)
		for _, pair := range pairs {
			s.KVUserKeyCount++
			s.KVTotalValueBytes += uint64(len(pair.Value))
		}
		return &s, err
	})
}
