package live

import (
	"context"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
)

// ListInstances implements engine.ProviderAdmin.
func (p *Provider) ListInstances(ctx context.Context) ([]string, error) {
	return call(p, ctx, "list_instances", func(in *memprovider.Provider) ([]string, error) { return in.ListInstances(ctx) })
}

// ListInstancesByStatus implements engine.ProviderAdmin.
func (p *Provider) ListInstancesByStatus(ctx context.Context, status engine.Status) ([]string, error) {
	return call(p, ctx, "list_instances_by_status", func(in *memprovider.Provider) ([]string, error) { return in.ListInstancesByStatus(ctx, status) })
}

// ListExecutions implements engine.ProviderAdmin.
func (p *Provider) ListExecutions(ctx context.Context, instance string) ([]uint64, error) {
	return call(p, ctx, "list_executions", func(in *memprovider.Provider) ([]uint64, error) { return in.ListExecutions(ctx, instance) })
}

// ReadHistoryWithExecutionID implements engine.ProviderAdmin.
func (p *Provider) ReadHistoryWithExecutionID(ctx context.Context, instance string, executionID uint64) ([]engine.Event, error) {
	return call(p, ctx, "read_history_with_execution_id", func(in *memprovider.Provider) ([]engine.Event, error) {
		return in.ReadHistoryWithExecutionID(ctx, instance, executionID)
	})
}

// ReadHistory implements engine.ProviderAdmin.
func (p *Provider) ReadHistory(ctx context.Context, instance string) ([]engine.Event, error) {
	return call(p, ctx, "read_history", func(in *memprovider.Provider) ([]engine.Event, error) { return in.ReadHistory(ctx, instance) })
}

// LatestExecutionID implements engine.ProviderAdmin.
func (p *Provider) LatestExecutionID(ctx context.Context, instance string) (uint64, error) {
	return call(p, ctx, "latest_execution_id", func(in *memprovider.Provider) (uint64, error) { return in.LatestExecutionID(ctx, instance) })
}

// GetInstanceInfo implements engine.ProviderAdmin.
func (p *Provider) GetInstanceInfo(ctx context.Context, instance string) (*engine.InstanceInfo, error) {
	return call(p, ctx, "get_instance_info", func(in *memprovider.Provider) (*engine.InstanceInfo, error) { return in.GetInstanceInfo(ctx, instance) })
}

// GetExecutionInfo implements engine.ProviderAdmin.
func (p *Provider) GetExecutionInfo(ctx context.Context, instance string, executionID uint64) (*engine.ExecutionInfo, error) {
	return call(p, ctx, "get_execution_info", func(in *memprovider.Provider) (*engine.ExecutionInfo, error) {
		return in.GetExecutionInfo(ctx, instance, executionID)
	})
}

// GetSystemMetrics implements engine.ProviderAdmin.
func (p *Provider) GetSystemMetrics(ctx context.Context) (*engine.SystemMetrics, error) {
	return call(p, ctx, "get_system_metrics", func(in *memprovider.Provider) (*engine.SystemMetrics, error) { return in.GetSystemMetrics(ctx) })
}

// GetQueueDepths implements engine.ProviderAdmin.
func (p *Provider) GetQueueDepths(ctx context.Context) (*engine.QueueDepths, error) {
	return call(p, ctx, "get_queue_depths", func(in *memprovider.Provider) (*engine.QueueDepths, error) { return in.GetQueueDepths(ctx) })
}

// ListChildren implements engine.ProviderAdmin.
func (p *Provider) ListChildren(ctx context.Context, instance string) ([]string, error) {
	return call(p, ctx, "list_children", func(in *memprovider.Provider) ([]string, error) { return in.ListChildren(ctx, instance) })
}

// GetParentID implements engine.ProviderAdmin.
func (p *Provider) GetParentID(ctx context.Context, instance string) (string, error) {
	return call(p, ctx, "get_parent_id", func(in *memprovider.Provider) (string, error) { return in.GetParentID(ctx, instance) })
}

// GetInstanceTree implements engine.ProviderAdmin.
func (p *Provider) GetInstanceTree(ctx context.Context, root string) (*engine.InstanceTree, error) {
	return call(p, ctx, "get_instance_tree", func(in *memprovider.Provider) (*engine.InstanceTree, error) { return in.GetInstanceTree(ctx, root) })
}

// DeleteInstance implements engine.ProviderAdmin.
func (p *Provider) DeleteInstance(ctx context.Context, instance string, force bool) (*engine.DeleteInstanceResult, error) {
	return call(p, ctx, "delete_instance", func(in *memprovider.Provider) (*engine.DeleteInstanceResult, error) {
		return in.DeleteInstance(ctx, instance, force)
	})
}

// DeleteInstancesAtomic implements engine.ProviderAdmin.
func (p *Provider) DeleteInstancesAtomic(ctx context.Context, instances []string, force bool) (*engine.DeleteInstanceResult, error) {
	return call(p, ctx, "delete_instances_atomic", func(in *memprovider.Provider) (*engine.DeleteInstanceResult, error) {
		return in.DeleteInstancesAtomic(ctx, instances, force)
	})
}

// DeleteInstanceBulk implements engine.ProviderAdmin.
func (p *Provider) DeleteInstanceBulk(ctx context.Context, filter engine.InstanceFilter) (*engine.DeleteInstanceResult, error) {
	return call(p, ctx, "delete_instance_bulk", func(in *memprovider.Provider) (*engine.DeleteInstanceResult, error) {
		return in.DeleteInstanceBulk(ctx, filter)
	})
}

// PruneExecutions implements engine.ProviderAdmin.
func (p *Provider) PruneExecutions(ctx context.Context, instance string, options engine.PruneOptions) (*engine.PruneResult, error) {
	return call(p, ctx, "prune_executions", func(in *memprovider.Provider) (*engine.PruneResult, error) {
		return in.PruneExecutions(ctx, instance, options)
	})
}

// PruneExecutionsBulk implements engine.ProviderAdmin.
func (p *Provider) PruneExecutionsBulk(ctx context.Context, filter engine.InstanceFilter, options engine.PruneOptions) (*engine.PruneResult, error) {
	return call(p, ctx, "prune_executions_bulk", func(in *memprovider.Provider) (*engine.PruneResult, error) {
		return in.PruneExecutionsBulk(ctx, filter, options)
	})
}
