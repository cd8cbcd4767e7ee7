package wire

import (
	"context"

	"github.com/durosim/durosim/engine"
)

// ListInstances asks.
func (c *Client) ListInstances(ctx context.Context) ([]string, error) {
	return ask[[]string](ctx, c, "list_instances", none{})
}

// ListInstancesByStatus asks.
func (c *Client) ListInstancesByStatus(ctx context.Context, status engine.Status) ([]string, error) {
	return ask[[]string](ctx, c, "list_instances_by_status", byStatus{status})
}

// ListExecutions asks.
func (c *Client) ListExecutions(ctx context.Context, instance string) ([]uint64, error) {
	return ask[[]uint64](ctx, c, "list_executions", instanceRef{instance})
}

// ReadHistoryWithExecutionID asks.
func (c *Client) ReadHistoryWithExecutionID(ctx context.Context, instance string, executionID uint64) ([]engine.Event, error) {
	return c.events(ctx, "read_history_with_execution_id", executionRef{instance, executionID})
}

// ReadHistory asks.
func (c *Client) ReadHistory(ctx context.Context, instance string) ([]engine.Event, error) {
	return c.events(ctx, "read_history", instanceRef{instance})
}

// LatestExecutionID asks.
func (c *Client) LatestExecutionID(ctx context.Context, instance string) (uint64, error) {
	return ask[uint64](ctx, c, "latest_execution_id", instanceRef{instance})
}

// needed asks for an object; null is no answer.
func needed[R any](ctx context.Context, c *Client, method string, params any) (*R, error) {
	result, err := ask[*R](ctx, c, method, params)
	if err == nil && result == nil {
		return nil, c.fail(method, "result: want an object, got null", false)
	}
	return result, err
}

// GetInstanceInfo asks.
func (c *Client) GetInstanceInfo(ctx context.Context, instance string) (*engine.InstanceInfo, error) {
	return needed[engine.InstanceInfo](ctx, c, "get_instance_info", instanceRef{instance})
}

// GetExecutionInfo asks.
func (c *Client) GetExecutionInfo(ctx context.Context, instance string, executionID uint64) (*engine.ExecutionInfo, error) {
	return needed[engine.ExecutionInfo](ctx, c, "get_execution_info", executionRef{instance, executionID})
}

// GetSystemMetrics asks.
func (c *Client) GetSystemMetrics(ctx context.Context) (*engine.SystemMetrics, error) {
	return needed[engine.SystemMetrics](ctx, c, "get_system_metrics", none{})
}

// GetQueueDepths asks.
func (c *Client) GetQueueDepths(ctx context.Context) (*engine.QueueDepths, error) {
	return needed[engine.QueueDepths](ctx, c, "get_queue_depths", none{})
}

// ListChildren asks.
func (c *Client) ListChildren(ctx context.Context, instance string) ([]string, error) {
	return ask[[]string](ctx, c, "list_children", instanceRef{instance})
}

// GetParentID asks.
func (c *Client) GetParentID(ctx context.Context, instance string) (string, error) {
	parent, err := ask[*string](ctx, c, "get_parent_id", instanceRef{instance})
	if parent == nil {
		return "", err
	}
	return *parent, err
}

// GetInstanceTree asks.
func (c *Client) GetInstanceTree(ctx context.Context, root string) (*engine.InstanceTree, error) {
	return needed[engine.InstanceTree](ctx, c, "get_instance_tree", instanceRef{root})
}

// DeleteInstance asks.
func (c *Client) DeleteInstance(ctx context.Context, instance string, force bool) (*engine.DeleteInstanceResult, error) {
	return needed[engine.DeleteInstanceResult](ctx, c, "delete_instance", deleteOne{instance, force})
}

// DeleteInstancesAtomic asks.
func (c *Client) DeleteInstancesAtomic(ctx context.Context, instances []string, force bool) (*engine.DeleteInstanceResult, error) {
	return needed[engine.DeleteInstanceResult](ctx, c, "delete_instances_atomic", deleteMany{append([]string{}, instances...), force})
}

// DeleteInstanceBulk asks.
func (c *Client) DeleteInstanceBulk(ctx context.Context, f engine.InstanceFilter) (*engine.DeleteInstanceResult, error) {
	return needed[engine.DeleteInstanceResult](ctx, c, "delete_instance_bulk", byFilter{instanceFilter(f)})
}

// PruneExecutions asks.
func (c *Client) PruneExecutions(ctx context.Context, instance string, options engine.PruneOptions) (*engine.PruneResult, error) {
	return needed[engine.PruneResult](ctx, c, "prune_executions", pruneOne{instance, pruneOptions(options)})
}

// PruneExecutionsBulk asks.
func (c *Client) PruneExecutionsBulk(ctx context.Context, f engine.InstanceFilter, options engine.PruneOptions) (*engine.PruneResult, error) {
	return needed[engine.PruneResult](ctx, c, "prune_executions_bulk", pruneMany{instanceFilter(f), pruneOptions(options)})
}
