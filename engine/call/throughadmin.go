package call

import (
	"context"

	"github.com/durosim/durosim/engine"
)

// throughAdmin implements the management methods of a provider created by Through.
type throughAdmin struct{ w *through }

func (p throughAdmin) ListInstances(ctx context.Context) ([]string, error) {
	a := p.w.do(ctx, ListInstances{})
	return a.IDs, a.Err
}

func (p throughAdmin) ListInstancesByStatus(ctx context.Context, status engine.Status) ([]string, error) {
	a := p.w.do(ctx, ListInstancesByStatus{status})
	return a.IDs, a.Err
}

func (p throughAdmin) ListExecutions(ctx context.Context, instance string) ([]uint64, error) {
	a := p.w.do(ctx, ListExecutions{instance})
	return a.Executions, a.Err
}

func (p throughAdmin) ReadHistoryWithExecutionID(ctx context.Context, instance string, executionID uint64) ([]engine.Event, error) {
	a := p.w.do(ctx, ReadHistoryWithExecutionID{instance, executionID})
	return a.Events, a.Err
}

func (p throughAdmin) ReadHistory(ctx context.Context, instance string) ([]engine.Event, error) {
	a := p.w.do(ctx, ReadHistory{instance})
	return a.Events, a.Err
}

func (p throughAdmin) LatestExecutionID(ctx context.Context, instance string) (uint64, error) {
	a := p.w.do(ctx, LatestExecutionID{instance})
	return a.Latest, a.Err
}

func (p throughAdmin) GetInstanceInfo(ctx context.Context, instance string) (*engine.InstanceInfo, error) {
	a := p.w.do(ctx, GetInstanceInfo{instance})
	return a.Info, a.Err
}

func (p throughAdmin) GetExecutionInfo(ctx context.Context, instance string, executionID uint64) (*engine.ExecutionInfo, error) {
	a := p.w.do(ctx, GetExecutionInfo{instance, executionID})
	return a.Execution, a.Err
}

func (p throughAdmin) GetSystemMetrics(ctx context.Context) (*engine.SystemMetrics, error) {
	a := p.w.do(ctx, GetSystemMetrics{})
	return a.Metrics, a.Err
}

func (p throughAdmin) GetQueueDepths(ctx context.Context) (*engine.QueueDepths, error) {
	a := p.w.do(ctx, GetQueueDepths{})
	return a.Depths, a.Err
}

func (p throughAdmin) ListChildren(ctx context.Context, instance string) ([]string, error) {
	a := p.w.do(ctx, ListChildren{instance})
	return a.IDs, a.Err
}

func (p throughAdmin) GetParentID(ctx context.Context, instance string) (string, error) {
	a := p.w.do(ctx, GetParentID{instance})
	return a.Parent, a.Err
}

func (p throughAdmin) GetInstanceTree(ctx context.Context, root string) (*engine.InstanceTree, error) {
	a := p.w.do(ctx, GetInstanceTree{root})
	return a.Tree, a.Err
}

func (p throughAdmin) DeleteInstance(ctx context.Context, instance string, force bool) (*engine.DeleteInstanceResult, error) {
	a := p.w.do(ctx, DeleteInstance{instance, force})
	return a.Deleted, a.Err
}

func (p throughAdmin) DeleteInstancesAtomic(ctx context.Context, instances []string, force bool) (*engine.DeleteInstanceResult, error) {
	a := p.w.do(ctx, DeleteInstancesAtomic{instances, force})
	return a.Deleted, a.Err
}

func (p throughAdmin) DeleteInstanceBulk(ctx context.Context, filter engine.InstanceFilter) (*engine.DeleteInstanceResult, error) {
	a := p.w.do(ctx, DeleteInstanceBulk{filter})
	return a.Deleted, a.Err
}

func (p throughAdmin) PruneExecutions(ctx context.Context, instance string, options engine.PruneOptions) (*engine.PruneResult, error) {
	a := p.w.do(ctx, PruneExecutions{instance, options})
	return a.Pruned, a.Err
}

func (p throughAdmin) PruneExecutionsBulk(ctx context.Context, filter engine.InstanceFilter, options engine.PruneOptions) (*engine.PruneResult, error) {
	a := p.w.do(ctx, PruneExecutionsBulk{filter, options})
	return a.Pruned, a.Err
}
