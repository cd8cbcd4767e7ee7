package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"github.com/durosim/durosim/engine"
)

// list returns a JSON array, because SQLite can take a list as a single argument only in that form.
func list(ids []string) string {
	text, err := json.Marshal(append([]string{}, ids...))
	if err != nil { // cannot happen: texts always have a JSON form
		panic(err)
	}
	return string(text)
}

// remove deletes exactly these instances, along with data stored under ids that have no instance. It adds to r how much
// it removed (F15).
func (t *tx) remove(op string, ids []string, force bool, r *engine.DeleteInstanceResult) error {
	all := list(ids)
	if !force {
		running, err := column[string](t, `SELECT i.instance_id FROM `+current+`
			WHERE e.status = 'Running' AND i.instance_id IN (SELECT value FROM json_each(?))`, all)
		if err != nil {
			return err
		}
		if len(running) > 0 {
			return engine.Permanentf(op, "still running: %s", strings.Join(running, ", "))
		}
	}
	left, err := column[string](t, `SELECT instance_id FROM instances WHERE parent_instance_id IN (SELECT value FROM json_each(?1))
		AND instance_id NOT IN (SELECT value FROM json_each(?1))`, all)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return engine.Permanentf(op, "would leave a child without its parent: %s", strings.Join(left, ", "))
	}
	for _, table := range []struct {
		name    string
		removed *uint64
	}{
		{"history", &r.EventsDeleted}, {"executions", &r.ExecutionsDeleted}, {"orchestrator_queue", &r.QueueMessagesDeleted},
		{"worker_queue", &r.QueueMessagesDeleted}, {"instance_locks", nil}, {"kv_store", nil}, {"kv_delta", nil}, {"instances", &r.InstancesDeleted}, // sessions stay
	} {
		n, err := t.exec(`DELETE FROM `+table.name+` WHERE instance_id IN (SELECT value FROM json_each(?))`, all)
		if err != nil {
			return err
		}
		if table.removed != nil {
			*table.removed += uint64(n)
		}
	}
	return nil
}

// DeleteInstance implements engine.ProviderAdmin.
func (p *Provider) DeleteInstance(ctx context.Context, instance string, force bool) (*engine.DeleteInstanceResult, error) {
	const op = "delete_instance"
	return result(ctx, p, op, func(t *tx) (*engine.DeleteInstanceResult, error) {
		var parent sql.NullString
		found, err := t.one(`SELECT parent_instance_id FROM instances WHERE instance_id = ?`, []any{instance}, &parent)
		switch {
		case err != nil:
			return nil, err
		case !found:
			return nil, engine.Permanentf(op, "instance %q not found", instance)
		case parent.Valid:
			return nil, engine.Permanentf(op, "%q is a sub-orchestration of %q; delete its root", instance, parent.String)
		}
		tree, err := t.tree(instance)
		if err != nil {
			return nil, err
		}
		var r engine.DeleteInstanceResult
		return &r, t.remove(op, tree, force, &r)
	})
}

// DeleteInstancesAtomic implements engine.ProviderAdmin.
func (p *Provider) DeleteInstancesAtomic(ctx context.Context, instances []string, force bool) (*engine.DeleteInstanceResult, error) {
	const op = "delete_instances_atomic"
	return result(ctx, p, op, func(t *tx) (*engine.DeleteInstanceResult, error) {
		var r engine.DeleteInstanceResult
		return &r, t.remove(op, instances, force, &r)
	})
}

// filterWhere returns a bulk call's conditions on instances i and their current executions e.
func filterWhere(f engine.InstanceFilter) (string, []any) {
	where, args := "TRUE", []any(nil)
	if f.InstanceIDs != nil {
		where += " AND i.instance_id IN (SELECT value FROM json_each(?))"
		args = append(args, list(f.InstanceIDs))
	}
	if f.CompletedBefore != nil {
		where += " AND e.completed_at < ?"
		args = append(args, *f.CompletedBefore)
	}
	limit := uint64(engine.DefaultBulkLimit)
	if f.Limit != nil {
		limit = *f.Limit
	}
	return where + " LIMIT ?", append(args, limit)
}

// DeleteInstanceBulk implements engine.ProviderAdmin. The whole call is one transaction (F22).
func (p *Provider) DeleteInstanceBulk(ctx context.Context, filter engine.InstanceFilter) (*engine.DeleteInstanceResult, error) {
	const op = "delete_instance_bulk"
	return result(ctx, p, op, func(t *tx) (*engine.DeleteInstanceResult, error) {
		where, args := filterWhere(filter)
		roots, err := column[string](t, `SELECT i.instance_id FROM `+current+`
			WHERE i.parent_instance_id IS NULL AND e.status IN ('Completed', 'Failed', 'ContinuedAsNew') AND `+where, args...)
		if err != nil {
			return nil, err
		}
		var total engine.DeleteInstanceResult
		for _, root := range roots {
			tree, err := t.tree(root)
			if err != nil {
				return nil, err
			}
			if err := t.remove(op, tree, true, &total); err != nil {
				return nil, err
			}
		}
		return &total, nil
	})
}

// prune removes an instance's old executions, but never the current execution or a running one. It adds to r how much
// it removed.
func (t *tx) prune(instance string, o engine.PruneOptions, r *engine.PruneResult) error {
	keep := uint64(0)
	if o.KeepLast != nil {
		keep = *o.KeepLast
	}
	old, err := column[uint64](t, `SELECT e.execution_id FROM executions e JOIN instances i ON i.instance_id = e.instance_id
		WHERE e.instance_id = ?1 AND e.execution_id <> i.current_execution_id AND e.status <> 'Running'
			AND (?2 IS NULL OR e.completed_at < ?2)
			AND e.execution_id NOT IN (SELECT execution_id FROM executions WHERE instance_id = ?1 ORDER BY execution_id DESC LIMIT ?3)`,
		instance, o.CompletedBefore, min(keep, 1<<62))
	if err != nil {
		return err
	}
	for _, id := range old {
		events, err := t.exec(`DELETE FROM history WHERE instance_id = ? AND execution_id = ?`, instance, id)
		if err != nil {
			return err
		}
		if err := t.change(`DELETE FROM executions WHERE instance_id = ? AND execution_id = ?`, instance, id); err != nil {
			return err
		}
		r.EventsDeleted += uint64(events)
		r.ExecutionsDeleted++
	}
	r.InstancesProcessed++
	return nil
}

// PruneExecutions implements engine.ProviderAdmin.
func (p *Provider) PruneExecutions(ctx context.Context, instance string, options engine.PruneOptions) (*engine.PruneResult, error) {
	const op = "prune_executions"
	return result(ctx, p, op, func(t *tx) (*engine.PruneResult, error) {
		var n int
		found, err := t.one(`SELECT 1 FROM instances WHERE instance_id = ?`, []any{instance}, &n)
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, engine.Permanentf(op, "instance %q not found", instance)
		}
		var r engine.PruneResult
		return &r, t.prune(instance, options, &r)
	})
}

// PruneExecutionsBulk implements engine.ProviderAdmin. The whole call is one transaction (F22).
func (p *Provider) PruneExecutionsBulk(ctx context.Context, filter engine.InstanceFilter, options engine.PruneOptions) (*engine.PruneResult, error) {
	return result(ctx, p, "prune_executions_bulk", func(t *tx) (*engine.PruneResult, error) {
		where, args := filterWhere(filter)
		instances, err := column[string](t, `SELECT i.instance_id FROM instances i
			LEFT JOIN executions e ON e.instance_id = i.instance_id AND e.execution_id = i.current_execution_id WHERE `+where, args...)
		if err != nil {
			return nil, err
		}
		var total engine.PruneResult
		for _, instance := range instances {
			if err := t.prune(instance, options, &total); err != nil {
				return nil, err
			}
		}
		return &total, nil
	})
}
