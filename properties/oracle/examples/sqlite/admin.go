package sqlite

import (
	"context"
	"database/sql"

	"github.com/durosim/durosim/engine"
)

// query runs a call whose result is a single column of many rows.
func query[T any](ctx context.Context, p *Provider, op, text string, args ...any) ([]T, error) {
	var all []T
	err := p.transact(ctx, op, func(t *tx) (err error) {
		all, err = many(t, text, args, scanOne[T])
		return err
	})
	return all, err
}

// ListInstances implements engine.ProviderAdmin. It returns the newest instance first.
func (p *Provider) ListInstances(ctx context.Context) ([]string, error) {
	return query[string](ctx, p, "list_instances", `SELECT instance_id FROM instances ORDER BY rowid DESC`)
}

// ListInstancesByStatus implements engine.ProviderAdmin.
func (p *Provider) ListInstancesByStatus(ctx context.Context, status engine.Status) ([]string, error) {
	return query[string](ctx, p, "list_instances_by_status", `SELECT i.instance_id FROM instances i
		JOIN executions e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
		WHERE e.status = ? ORDER BY i.rowid DESC`, string(status))
}

// ListExecutions implements engine.ProviderAdmin.
func (p *Provider) ListExecutions(ctx context.Context, instance string) ([]uint64, error) {
	return query[uint64](ctx, p, "list_executions", `SELECT execution_id FROM executions WHERE instance_id = ? ORDER BY execution_id`, instance)
}

// ReadHistoryWithExecutionID implements engine.ProviderAdmin.
func (p *Provider) ReadHistoryWithExecutionID(ctx context.Context, instance string, executionID uint64) ([]engine.Event, error) {
	return p.ReadWithExecution(ctx, instance, executionID)
}

// ReadHistory implements engine.ProviderAdmin.
func (p *Provider) ReadHistory(ctx context.Context, instance string) ([]engine.Event, error) {
	return p.Read(ctx, instance)
}

// LatestExecutionID implements engine.ProviderAdmin.
func (p *Provider) LatestExecutionID(ctx context.Context, instance string) (uint64, error) {
	var id uint64
	err := p.transact(ctx, "latest_execution_id", func(t *tx) (err error) {
		id, err = t.latest(instance)
		return err
	})
	return id, err
}

// GetInstanceInfo implements engine.ProviderAdmin.
func (p *Provider) GetInstanceInfo(ctx context.Context, instance string) (*engine.InstanceInfo, error) {
	const op = "get_instance_info"
	info := &engine.InstanceInfo{InstanceID: instance}
	err := p.transact(ctx, op, func(t *tx) error {
		found, err := t.one(`SELECT i.orchestration_name, COALESCE(i.orchestration_version, 'unknown'), i.current_execution_id,
				COALESCE(e.status, 'Unknown'), e.output, i.created_at, i.updated_at, COALESCE(i.parent_instance_id, '')
			FROM instances i LEFT JOIN executions e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
			WHERE i.instance_id = ?`, []any{instance},
			&info.OrchestrationName, &info.OrchestrationVersion, &info.CurrentExecutionID, &info.Status, &info.Output,
			&info.CreatedAt, &info.UpdatedAt, &info.ParentInstanceID)
		if err == nil && !found {
			err = engine.Permanentf(op, "instance %q not found", instance)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return info, nil
}

// GetExecutionInfo implements engine.ProviderAdmin.
func (p *Provider) GetExecutionInfo(ctx context.Context, instance string, executionID uint64) (*engine.ExecutionInfo, error) {
	const op = "get_execution_info"
	info := &engine.ExecutionInfo{ExecutionID: executionID}
	err := p.transact(ctx, op, func(t *tx) error {
		var completed sql.Null[uint64]
		found, err := t.one(`SELECT status, output, started_at, completed_at,
				(SELECT COUNT(*) FROM history h WHERE h.instance_id = e.instance_id AND h.execution_id = e.execution_id)
			FROM executions e WHERE instance_id = ? AND execution_id = ?`, []any{instance, executionID},
			&info.Status, &info.Output, &info.StartedAt, &completed, &info.EventCount)
		if err != nil {
			return err
		}
		if !found {
			return engine.Permanentf(op, "execution %d of %q not found", executionID, instance)
		}
		if completed.Valid {
			info.CompletedAt = &completed.V
		}
		_, info.PinnedVersion, err = t.execution(instance, executionID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return info, nil
}

// GetSystemMetrics implements engine.ProviderAdmin.
func (p *Provider) GetSystemMetrics(ctx context.Context) (*engine.SystemMetrics, error) {
	var m engine.SystemMetrics
	err := p.transact(ctx, "get_system_metrics", func(t *tx) error {
		_, err := t.one(`SELECT (SELECT COUNT(*) FROM instances), (SELECT COUNT(*) FROM executions), (SELECT COUNT(*) FROM history),
				COUNT(*) FILTER (WHERE e.status = 'Running'), COUNT(*) FILTER (WHERE e.status = 'Completed'), COUNT(*) FILTER (WHERE e.status = 'Failed')
			FROM instances i JOIN executions e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id`, nil,
			&m.TotalInstances, &m.TotalExecutions, &m.TotalEvents, &m.RunningInstances, &m.CompletedInstances, &m.FailedInstances)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &m, nil
}

// GetQueueDepths implements engine.ProviderAdmin. A message counts as locked while its lock is live (F6).
func (p *Provider) GetQueueDepths(ctx context.Context) (*engine.QueueDepths, error) {
	var d engine.QueueDepths
	err := p.transact(ctx, "get_queue_depths", func(t *tx) error {
		_, err := t.one(`SELECT
				(SELECT COUNT(*) FROM orchestrator_queue q LEFT JOIN instance_locks l ON l.lock_token = q.lock_token AND l.locked_until > ?1
					WHERE l.instance_id IS NULL),
				(SELECT COUNT(*) FROM worker_queue WHERE lock_token IS NULL OR locked_until <= ?1)`, []any{t.now},
			&d.OrchestratorQueue, &d.WorkerQueue)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &d, nil
}

// ListChildren implements engine.ProviderAdmin.
func (p *Provider) ListChildren(ctx context.Context, instance string) ([]string, error) {
	return query[string](ctx, p, "list_children", `SELECT instance_id FROM instances WHERE parent_instance_id = ? ORDER BY instance_id`, instance)
}

// GetParentID implements engine.ProviderAdmin.
func (p *Provider) GetParentID(ctx context.Context, instance string) (string, error) {
	info, err := p.GetInstanceInfo(ctx, instance)
	if err != nil {
		return "", err
	}
	return info.ParentInstanceID, nil
}

// tree returns an instance and all its descendants, starting with the root.
func (t *tx) tree(root string) ([]string, error) {
	return many(t, `WITH RECURSIVE tree (id) AS (
			VALUES (?) UNION SELECT i.instance_id FROM instances i JOIN tree ON i.parent_instance_id = tree.id)
		SELECT id FROM tree`, []any{root}, scanOne[string])
}

// GetInstanceTree implements engine.ProviderAdmin.
func (p *Provider) GetInstanceTree(ctx context.Context, root string) (*engine.InstanceTree, error) {
	tree := &engine.InstanceTree{RootID: root}
	err := p.transact(ctx, "get_instance_tree", func(t *tx) (err error) {
		tree.AllIDs, err = t.tree(root)
		return err
	})
	if err != nil {
		return nil, err
	}
	return tree, nil
}
