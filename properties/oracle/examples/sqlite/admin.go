package sqlite

import (
	"context"

	"github.com/durosim/durosim/engine"
)

// ListInstances implements engine.ProviderAdmin. It returns the newest instance first.
func (p *Provider) ListInstances(ctx context.Context) ([]string, error) {
	return result(ctx, p, "list_instances", func(t *tx) ([]string, error) {
		return column[string](t, `SELECT instance_id FROM instances ORDER BY rowid DESC`)
	})
}

// ListInstancesByStatus implements engine.ProviderAdmin.
func (p *Provider) ListInstancesByStatus(ctx context.Context, status engine.Status) ([]string, error) {
	return result(ctx, p, "list_instances_by_status", func(t *tx) ([]string, error) {
		return column[string](t, `SELECT i.instance_id FROM `+current+` WHERE e.status = ? ORDER BY i.rowid DESC`, string(status))
	})
}

// current joins each instance i with its current execution e.
const current = `instances i JOIN executions e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id`

// ListExecutions implements engine.ProviderAdmin.
func (p *Provider) ListExecutions(ctx context.Context, instance string) ([]uint64, error) {
	return result(ctx, p, "list_executions", func(t *tx) ([]uint64, error) {
		return column[uint64](t, `SELECT execution_id FROM executions WHERE instance_id = ? ORDER BY execution_id`, instance)
	})
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
	return result(ctx, p, "latest_execution_id", func(t *tx) (uint64, error) { return t.latest(instance) })
}

// GetInstanceInfo implements engine.ProviderAdmin.
func (p *Provider) GetInstanceInfo(ctx context.Context, instance string) (*engine.InstanceInfo, error) {
	const op = "get_instance_info"
	return result(ctx, p, op, func(t *tx) (*engine.InstanceInfo, error) {
		info := &engine.InstanceInfo{InstanceID: instance}
		found, err := t.one(`SELECT i.orchestration_name, COALESCE(i.orchestration_version, 'unknown'), i.current_execution_id,
				COALESCE(e.status, 'Unknown'), e.output, i.created_at, i.updated_at, COALESCE(i.parent_instance_id, '')
			FROM instances i LEFT JOIN executions e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id
			WHERE i.instance_id = ?`, []any{instance},
			&info.OrchestrationName, &info.OrchestrationVersion, &info.CurrentExecutionID, &info.Status, &info.Output,
			&info.CreatedAt, &info.UpdatedAt, &info.ParentInstanceID)
		if err == nil && !found {
			err = engine.Permanentf(op, "instance %q not found", instance)
		}
		return info, err
	})
}

// GetExecutionInfo implements engine.ProviderAdmin.
func (p *Provider) GetExecutionInfo(ctx context.Context, instance string, executionID uint64) (*engine.ExecutionInfo, error) {
	const op = "get_execution_info"
	return result(ctx, p, op, func(t *tx) (*engine.ExecutionInfo, error) {
		info := &engine.ExecutionInfo{ExecutionID: executionID}
		found, err := t.one(`SELECT status, output, started_at, completed_at,
				(SELECT COUNT(*) FROM history h WHERE h.instance_id = e.instance_id AND h.execution_id = e.execution_id)
			FROM executions e WHERE instance_id = ? AND execution_id = ?`, []any{instance, executionID},
			&info.Status, &info.Output, &info.StartedAt, &info.CompletedAt, &info.EventCount)
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, engine.Permanentf(op, "execution %d of %q not found", executionID, instance)
		}
		_, info.PinnedVersion, err = t.execution(instance, executionID)
		return info, err
	})
}

// GetSystemMetrics implements engine.ProviderAdmin.
func (p *Provider) GetSystemMetrics(ctx context.Context) (*engine.SystemMetrics, error) {
	return result(ctx, p, "get_system_metrics", func(t *tx) (*engine.SystemMetrics, error) {
		var m engine.SystemMetrics
		_, err := t.one(`SELECT (SELECT COUNT(*) FROM instances), (SELECT COUNT(*) FROM executions), (SELECT COUNT(*) FROM history),
				COUNT(*) FILTER (WHERE e.status = 'Running'), COUNT(*) FILTER (WHERE e.status = 'Completed'), COUNT(*) FILTER (WHERE e.status = 'Failed')
			FROM `+current, nil,
			&m.TotalInstances, &m.TotalExecutions, &m.TotalEvents, &m.RunningInstances, &m.CompletedInstances, &m.FailedInstances)
		return &m, err
	})
}

// GetQueueDepths implements engine.ProviderAdmin. A message counts as locked while its lock is live (F6).
func (p *Provider) GetQueueDepths(ctx context.Context) (*engine.QueueDepths, error) {
	return result(ctx, p, "get_queue_depths", func(t *tx) (*engine.QueueDepths, error) {
		var d engine.QueueDepths
		_, err := t.one(`SELECT
				(SELECT COUNT(*) FROM orchestrator_queue q LEFT JOIN instance_locks l ON l.lock_token = q.lock_token AND l.locked_until > ?1
					WHERE l.instance_id IS NULL),
				(SELECT COUNT(*) FROM worker_queue WHERE lock_token IS NULL OR locked_until <= ?1)`, []any{t.now},
			&d.OrchestratorQueue, &d.WorkerQueue)
		return &d, err
	})
}

// ListChildren implements engine.ProviderAdmin.
func (p *Provider) ListChildren(ctx context.Context, instance string) ([]string, error) {
	return result(ctx, p, "list_children", func(t *tx) ([]string, error) {
		return column[string](t, `SELECT instance_id FROM instances WHERE parent_instance_id = ? ORDER BY instance_id`, instance)
	})
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
	return column[string](t, `WITH RECURSIVE tree (id) AS (
			VALUES (?) UNION SELECT i.instance_id FROM instances i JOIN tree ON i.parent_instance_id = tree.id)
		SELECT id FROM tree`, root)
}

// GetInstanceTree implements engine.ProviderAdmin.
func (p *Provider) GetInstanceTree(ctx context.Context, root string) (*engine.InstanceTree, error) {
	return result(ctx, p, "get_instance_tree", func(t *tx) (*engine.InstanceTree, error) {
		ids, err := t.tree(root)
		return &engine.InstanceTree{RootID: root, AllIDs: ids}, err
	})
}
