package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/durosim/durosim/engine"
)

// EnqueueForWorker implements engine.Provider.
func (p *Provider) EnqueueForWorker(ctx context.Context, item engine.WorkItem) error {
	const op = "enqueue_for_worker"
	return p.transact(ctx, op, func(t *tx) error { return t.enqueueActivity(op, item) })
}

func (t *tx) enqueueActivity(op string, item engine.WorkItem) error {
	activity, ok := item.(engine.ActivityExecuteItem)
	if !ok {
		return engine.Permanentf(op, "%s does not belong into the worker queue", item.Kind())
	}
	data, err := t.codec.AppendWorkItem(nil, item)
	if err != nil {
		return engine.Permanentf(op, "%w", err)
	}
	return t.change(`INSERT INTO worker_queue (work_item, visible_at, instance_id, execution_id, activity_id, session_id, tag)
		VALUES (?, ?, ?, ?, ?, NULLIF(?, ''), NULLIF(?, ''))`,
		data, t.now, activity.Instance, activity.ExecutionID, activity.ID, activity.SessionID, activity.Tag)
}

// tagSQL returns the tag filter as an SQL condition with its arguments.
func tagSQL(f engine.TagFilter) (string, []any) {
	switch f.Mode {
	case engine.TagDefaultOnly:
		return "w.tag IS NULL", nil
	case engine.TagTags:
		return "w.tag IN (SELECT value FROM json_each(?))", []any{list(f.Tags)}
	case engine.TagDefaultAnd:
		return "(w.tag IS NULL OR w.tag IN (SELECT value FROM json_each(?)))", []any{list(f.Tags)}
	case engine.TagAny:
		return "TRUE", nil
	}
	return "FALSE", nil
}

// FetchWorkItem implements engine.Provider. It never waits.
func (p *Provider) FetchWorkItem(ctx context.Context, lockTimeout, _ time.Duration, session *engine.SessionFetchConfig, tags engine.TagFilter) (*engine.FetchedWork, error) {
	return result(ctx, p, "fetch_work_item", func(t *tx) (*engine.FetchedWork, error) { return t.takeWork(lockTimeout, session, tags) })
}

// takeWork locks and counts the oldest activity that may be delivered. It returns nil if there is none.
func (t *tx) takeWork(lockTimeout time.Duration, session *engine.SessionFetchConfig, tags engine.TagFilter) (*engine.FetchedWork, error) {
	tagged, args := tagSQL(tags)
	owned := "w.session_id IS NULL"
	if session != nil {
		owned = "(w.session_id IS NULL OR s.session_id IS NULL OR s.locked_until <= ? OR s.worker_id = ?)"
		args = append(args, t.now, session.OwnerID)
	}
	row, err := t.firstDecodable(`SELECT w.id, w.work_item, w.attempt_count, w.session_id FROM worker_queue w
		LEFT JOIN sessions s ON s.session_id = w.session_id
		WHERE w.visible_at <= ? AND (w.lock_token IS NULL OR w.locked_until <= ?) AND `+tagged+` AND `+owned+`
			AND w.id > ? ORDER BY w.id LIMIT 1`, append([]any{t.now, t.now}, args...))
	if err != nil || row == nil {
		return nil, err
	}
	token := newToken()
	if err := t.change(`UPDATE worker_queue SET lock_token = ?, locked_until = ?, attempt_count = attempt_count + 1 WHERE id = ?`,
		token, t.after(lockTimeout), row.id); err != nil {
		return nil, err
	}
	if row.session.Valid {
		if err := t.change(`INSERT INTO sessions (session_id, worker_id, locked_until, last_activity_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (session_id) DO UPDATE SET worker_id = excluded.worker_id, locked_until = excluded.locked_until, last_activity_at = excluded.last_activity_at`,
			row.session, session.OwnerID, t.after(session.LockTimeout), t.now); err != nil {
			return nil, err
		}
	}
	return &engine.FetchedWork{Item: row.item, LockToken: token, AttemptCount: row.count + 1}, nil
}

// ready is a worker-queue row that may be delivered.
type ready struct {
	id      int64
	item    engine.WorkItem
	count   uint32
	session sql.NullString
}

// firstDecodable returns the first row in a query's result that this node can decode, or nil if there is none. Rows
// that it cannot decode stay in the queue for other nodes and do not block the queue (X2). The query's last argument is
// the id after which to look.
func (t *tx) firstDecodable(query string, args []any) (*ready, error) {
	for r := (ready{}); ; {
		var data []byte
		found, err := t.one(query, append(args[:len(args):len(args)], r.id), &r.id, &data, &r.count, &r.session)
		if err != nil || !found {
			return nil, err
		}
		if r.item, err = t.codec.DecodeWorkItem(data); err == nil {
			return &r, nil
		}
	}
}

// activity is a worker-queue row whose lock is live.
type activity struct {
	id      int64
	session sql.NullString
}

func (t *tx) activity(op, token string) (a activity, err error) {
	found, err := t.one(`SELECT id, session_id FROM worker_queue WHERE lock_token = ? AND locked_until > ?`, []any{token, t.now}, &a.id, &a.session)
	if err == nil && !found {
		err = invalidToken(op, token)
	}
	return a, err
}

// touch records activity by a session's owner, if the session has one.
func (t *tx) touch(session sql.NullString) error {
	return t.change(`UPDATE sessions SET last_activity_at = ? WHERE session_id = ? AND locked_until > ?`, t.now, session, t.now)
}

// AckWorkItem implements engine.Provider.
func (p *Provider) AckWorkItem(ctx context.Context, token string, completion engine.WorkItem) error {
	const op = "ack_work_item"
	return p.transact(ctx, op, func(t *tx) error {
		a, err := t.activity(op, token)
		if err != nil {
			return err
		}
		if completion != nil {
			if k := completion.Kind(); k != engine.ItemActivityCompleted && k != engine.ItemActivityFailed {
				return engine.Permanentf(op, "%s is no completion of an activity", k)
			}
			if err := t.enqueue(op, completion, t.now); err != nil {
				return err
			}
		}
		if err := t.touch(a.session); err != nil {
			return err
		}
		return t.change(`DELETE FROM worker_queue WHERE id = ?`, a.id)
	})
}

// RenewWorkItemLock implements engine.Provider.
func (p *Provider) RenewWorkItemLock(ctx context.Context, token string, extendFor time.Duration) error {
	const op = "renew_work_item_lock"
	return p.transact(ctx, op, func(t *tx) error {
		a, err := t.activity(op, token)
		if err != nil {
			return err
		}
		if err := t.touch(a.session); err != nil {
			return err
		}
		return t.change(`UPDATE worker_queue SET locked_until = ? WHERE id = ?`, t.after(extendFor), a.id)
	})
}

// AbandonWorkItem implements engine.Provider. It refuses an expired token (F8).
func (p *Provider) AbandonWorkItem(ctx context.Context, token string, delay time.Duration, ignoreAttempt bool) error {
	const op = "abandon_work_item"
	return p.transact(ctx, op, func(t *tx) error {
		a, err := t.activity(op, token)
		if err != nil {
			return err
		}
		return t.change(`UPDATE worker_queue SET lock_token = NULL, locked_until = NULL, visible_at = ?, attempt_count = MAX(0, attempt_count - ?) WHERE id = ?`,
			t.after(delay), ignoreAttempt, a.id)
	})
}

// RenewSessionLock implements engine.Provider.
func (p *Provider) RenewSessionLock(ctx context.Context, owners []string, extendFor, idleTimeout time.Duration) (int, error) {
	changed, err := result(ctx, p, "renew_session_lock", func(t *tx) (int64, error) {
		// A session is idle unless it has been active within the timeout.
		idle := t.now - (t.after(idleTimeout) - t.now)
		return t.exec(`UPDATE sessions SET locked_until = ? WHERE worker_id IN (SELECT value FROM json_each(?))
			AND locked_until > ? AND last_activity_at > ?`, t.after(extendFor), list(owners), t.now, idle)
	})
	return int(changed), err
}

// CleanupOrphanedSessions implements engine.Provider.
func (p *Provider) CleanupOrphanedSessions(ctx context.Context, _ time.Duration) (int, error) {
	gone, err := result(ctx, p, "cleanup_orphaned_sessions", func(t *tx) (int64, error) {
		return t.exec(`DELETE FROM sessions WHERE locked_until < ?
			AND NOT EXISTS (SELECT 1 FROM worker_queue w WHERE w.session_id = sessions.session_id)`, t.now)
	})
	return int(gone), err
}
