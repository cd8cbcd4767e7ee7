package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
)

// EnqueueForOrchestrator implements engine.Provider.
func (p *Provider) EnqueueForOrchestrator(ctx context.Context, item engine.WorkItem, delay time.Duration) error {
	const op = "enqueue_for_orchestrator"
	return p.transact(ctx, op, func(t *tx) error { return t.enqueue(op, item, t.after(delay)) })
}

// enqueue appends one message.
func (t *tx) enqueue(op string, item engine.WorkItem, visibleAt int64) error {
	if item.Kind() == engine.ItemActivityExecute {
		return engine.Permanentf(op, "an ActivityExecute belongs into the worker queue")
	}
	data, err := t.codec.AppendWorkItem(nil, item)
	if err != nil {
		return engine.Permanentf(op, "%w", err)
	}
	return t.change(`INSERT INTO orchestrator_queue (instance_id, kind, work_item, visible_at) VALUES (?, ?, ?, ?)`,
		item.Target(), string(item.Kind()), data, visibleAt)
}

// filterSQL returns the filter as an SQL condition on the pin of the current execution e.
func filterSQL(f *engine.CapabilityFilter) (string, []any) {
	switch {
	case f == nil:
		return "TRUE", nil
	case len(f.SupportedVersions) == 0:
		return "FALSE", nil
	}
	r := f.SupportedVersions[0] // only the first range matters
	return `(e.pin_major IS NULL OR (e.pin_major, e.pin_minor, e.pin_patch) BETWEEN (?, ?, ?) AND (?, ?, ?))`,
		[]any{r.Min.Major, r.Min.Minor, r.Min.Patch, r.Max.Major, r.Max.Minor, r.Max.Patch}
}

// candidates returns the instances that have visible messages, no live lock, and a pin that the filter admits, ordered
// by their oldest messages. The filter applies before anything is locked, counted or decoded.
func (t *tx) candidates(filter *engine.CapabilityFilter) ([]string, error) {
	condition, args := filterSQL(filter)
	return column[string](t, `
		SELECT q.instance_id FROM orchestrator_queue q
		LEFT JOIN instance_locks l ON l.instance_id = q.instance_id AND l.locked_until > ?
		LEFT JOIN instances i ON i.instance_id = q.instance_id
		LEFT JOIN executions e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
		WHERE q.visible_at <= ? AND l.instance_id IS NULL AND `+condition+`
		GROUP BY q.instance_id ORDER BY MIN(q.id)`, append([]any{t.now, t.now}, args...)...)
}

// FetchOrchestrationItem implements engine.Provider. It never waits.
func (p *Provider) FetchOrchestrationItem(ctx context.Context, lockTimeout, _ time.Duration, filter *engine.CapabilityFilter) (*engine.FetchedOrchestration, error) {
	return result(ctx, p, "fetch_orchestration_item", func(t *tx) (*engine.FetchedOrchestration, error) {
		candidates, err := t.candidates(filter)
		if err != nil {
			return nil, err
		}
		for _, instance := range candidates {
			if fetched, err := t.deliver(instance, lockTimeout); fetched != nil || err != nil {
				return fetched, err
			}
		}
		return nil, nil
	})
}

// message is a row of the orchestrator queue.
type message struct {
	id    int64
	kind  engine.WorkItemKind
	data  []byte
	count uint32
}

func scanMessage(rows *sql.Rows, m *message) error {
	return rows.Scan(&m.id, &m.kind, &m.data, &m.count)
}

// deliver locks an instance and returns its batch. If the instance has no context, deliver drops its orphans and
// returns nil.
func (t *tx) deliver(instance string, lockTimeout time.Duration) (*engine.FetchedOrchestration, error) {
	batch, err := many(t, `SELECT id, kind, work_item, attempt_count FROM orchestrator_queue
		WHERE instance_id = ? AND visible_at <= ? ORDER BY id`, []any{instance, t.now}, scanMessage)
	if err != nil {
		return nil, err
	}
	item := engine.OrchestrationItem{Instance: instance}
	var broken []string
	for _, m := range batch {
		w, err := t.codec.DecodeWorkItem(m.data)
		if err != nil {
			broken = append(broken, fmt.Sprintf("message %d: %v", m.id, err))
			continue
		}
		item.Messages = append(item.Messages, w)
	}
	history, found, err := t.context(&item, len(broken) > 0)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, t.dropOrphans(instance, batch)
	}
	if item.History, err = decodeEvents(t.codec, history); err != nil {
		broken = append(broken, err.Error())
	}
	if len(broken) > 0 {
		item.HistoryError, item.History = strings.Join(broken, "; "), nil
	}
	if item.KVSnapshot, err = t.kvSnapshot(instance); err != nil {
		return nil, err
	}
	token := newToken()
	if err := t.change(`INSERT INTO instance_locks (instance_id, lock_token, locked_until, locked_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (instance_id) DO UPDATE SET lock_token = excluded.lock_token, locked_until = excluded.locked_until, locked_at = excluded.locked_at`,
		instance, token, t.after(lockTimeout), t.now); err != nil {
		return nil, err
	}
	if err := t.change(`UPDATE orchestrator_queue SET lock_token = ?, attempt_count = attempt_count + 1
		WHERE instance_id = ? AND visible_at <= ?`, token, instance, t.now); err != nil {
		return nil, err
	}
	var count uint32
	for _, m := range batch {
		count = max(count, m.count+1)
	}
	return &engine.FetchedOrchestration{Item: item, LockToken: token, AttemptCount: count}, nil
}

// context fills in name, version, execution, status, parent and pin. They come from the instance's row, or else from
// its history, or else from the first start message in the batch. context also returns the corresponding history,
// undecoded, which is empty if the values come from a start message. found is false if there is no such source, in
// which case there is nothing to run.
func (t *tx) context(item *engine.OrchestrationItem, broken bool) (history [][]byte, found bool, err error) {
	var version, parent sql.NullString
	var link engine.ParentLink
	found, err = t.one(`SELECT orchestration_name, orchestration_version, current_execution_id, parent_instance_id, parent_execution_id, parent_event_id
		FROM instances WHERE instance_id = ?`, []any{item.Instance},
		&item.OrchestrationName, &version, &item.ExecutionID, &parent, &link.ExecutionID, &link.EventID)
	if err != nil {
		return nil, false, err
	}
	if found {
		item.Version = orUnknown(version.String)
		if link.Instance = parent.String; parent.Valid && link.EventID > 0 {
			item.Parent = &link
		}
		if item.CurrentStatus, item.Pin, err = t.execution(item.Instance, item.ExecutionID); err != nil {
			return nil, false, err
		}
		history, err = t.rawHistory(item.Instance, item.ExecutionID)
		return history, true, err
	}
	if item.ExecutionID, err = t.latest(item.Instance); err != nil {
		return nil, false, err
	}
	if history, err = t.rawHistory(item.Instance, item.ExecutionID); err != nil {
		return nil, false, err
	}
	for _, data := range history {
		e, err := t.codec.DecodeEvent(data)
		if err != nil { // the undecodable event may be the start
			item.OrchestrationName, item.Version = unknown, unknown
			return history, true, nil
		}
		if started, ok := e.Data.(eventdata.OrchestrationStarted); ok {
			item.OrchestrationName, item.Version = started.Name, orUnknown(started.Version)
			return history, true, nil
		}
	}
	item.ExecutionID = engine.InitialExecutionID
	for _, w := range item.Messages {
		switch start := w.(type) {
		case engine.StartItem:
			item.OrchestrationName, item.Version = start.Orchestration, orUnknown(start.Version)
			return nil, true, nil
		case engine.ContinueAsNewItem:
			item.OrchestrationName, item.Version = start.Orchestration, orUnknown(start.Version)
			return nil, true, nil
		}
	}
	if broken { // the undecodable message may be the start
		item.OrchestrationName, item.Version = unknown, unknown
	}
	return nil, broken, nil
}

// unknown stands in for a missing version.
const unknown = "unknown"

func orUnknown(version string) string { return cmp.Or(version, unknown) }

// execution returns an execution's status and pin, which are zero if it has no row.
func (t *tx) execution(instance string, id uint64) (status engine.Status, pin *engine.Version, err error) {
	var major, minor, patch sql.NullInt64
	_, err = t.one(`SELECT status, pin_major, pin_minor, pin_patch FROM executions WHERE instance_id = ? AND execution_id = ?`,
		[]any{instance, id}, &status, &major, &minor, &patch)
	if major.Valid {
		v := engine.V(uint32(major.Int64), uint32(minor.Int64), uint32(patch.Int64))
		pin = &v
	}
	return status, pin, err
}

// dropOrphans removes a batch of queue messages for an instance that nothing will ever start. While a delayed start is
// queued, the messages are not orphans.
func (t *tx) dropOrphans(instance string, batch []message) error {
	for _, m := range batch {
		if m.kind != engine.ItemQueueMessage {
			return nil
		}
	}
	return t.change(`DELETE FROM orchestrator_queue WHERE instance_id = ?1 AND visible_at <= ?2
		AND NOT EXISTS (SELECT 1 FROM orchestrator_queue s WHERE s.instance_id = ?1 AND s.kind IN (?3, ?4))`,
		instance, t.now, string(engine.ItemStartOrchestration), string(engine.ItemContinueAsNew))
}

// holder returns the instance whose live lock has the token.
func (t *tx) holder(op, token string) (string, error) {
	var instance string
	found, err := t.one(`SELECT instance_id FROM instance_locks WHERE lock_token = ? AND locked_until > ?`, []any{token, t.now}, &instance)
	if err == nil && !found {
		err = invalidToken(op, token)
	}
	return instance, err
}

// AbandonOrchestrationItem implements engine.Provider. It changes only the messages in the batch (F9), and refuses an
// expired token (F8).
func (p *Provider) AbandonOrchestrationItem(ctx context.Context, token string, delay time.Duration, ignoreAttempt bool) error {
	const op = "abandon_orchestration_item"
	return p.transact(ctx, op, func(t *tx) error {
		instance, err := t.holder(op, token)
		if err != nil {
			return err
		}
		if delay > 0 {
			if err := t.change(`UPDATE orchestrator_queue SET visible_at = ? WHERE lock_token = ?`, t.after(delay), token); err != nil {
				return err
			}
		}
		if err := t.change(`UPDATE orchestrator_queue SET lock_token = NULL, attempt_count = MAX(0, attempt_count - ?) WHERE lock_token = ?`, ignoreAttempt, token); err != nil {
			return err
		}
		return t.change(`DELETE FROM instance_locks WHERE instance_id = ?`, instance)
	})
}

// RenewOrchestrationItemLock implements engine.Provider.
func (p *Provider) RenewOrchestrationItemLock(ctx context.Context, token string, extendFor time.Duration) error {
	const op = "renew_orchestration_item_lock"
	return p.transact(ctx, op, func(t *tx) error {
		instance, err := t.holder(op, token)
		if err != nil {
			return err
		}
		return t.change(`UPDATE instance_locks SET locked_until = ? WHERE instance_id = ?`, t.after(extendFor), instance)
	})
}
