package call

import (
	"context"

	"github.com/durosim/durosim/engine"
)

// Answer is the result of a call: either an error or the field that the method sets. A zero field is an empty result,
// such as nothing found, no value, or an empty list.
type Answer struct {
	Err error

	Orchestration *engine.FetchedOrchestration
	Work          *engine.FetchedWork
	Events        []engine.Event
	Count         int // number of sessions
	CustomStatus  *engine.CustomStatus
	Value         *string
	Pairs         []engine.KVPair
	Stats         *engine.SystemStats

	IDs        []string
	Executions []uint64
	Latest     uint64
	Parent     string
	Info       *engine.InstanceInfo
	Execution  *engine.ExecutionInfo
	Metrics    *engine.SystemMetrics
	Depths     *engine.QueueDepths
	Tree       *engine.InstanceTree
	Deleted    *engine.DeleteInstanceResult
	Pruned     *engine.PruneResult
}

// Perform makes call c on provider p. A management call fails permanently if p has no management methods. A direct
// change to the store (see Plant) always fails permanently.
func Perform(ctx context.Context, p engine.Provider, c Call) (a Answer) {
	switch r := c.(type) {
	case EnqueueForOrchestrator:
		a.Err = p.EnqueueForOrchestrator(ctx, r.Item, r.Delay)
	case FetchOrchestrationItem:
		a.Orchestration, a.Err = p.FetchOrchestrationItem(ctx, r.LockTimeout, r.PollTimeout, r.Filter)
	case AckOrchestrationItem:
		a.Err = p.AckOrchestrationItem(ctx, engine.OrchestrationAck(r))
	case AbandonOrchestrationItem:
		a.Err = p.AbandonOrchestrationItem(ctx, r.LockToken, r.Delay, r.IgnoreAttempt)
	case RenewOrchestrationItemLock:
		a.Err = p.RenewOrchestrationItemLock(ctx, r.LockToken, r.ExtendFor)
	case Read:
		a.Events, a.Err = p.Read(ctx, r.Instance)
	case ReadWithExecution:
		a.Events, a.Err = p.ReadWithExecution(ctx, r.Instance, r.ExecutionID)
	case AppendWithExecution:
		a.Err = p.AppendWithExecution(ctx, r.Instance, r.ExecutionID, r.Events)
	case EnqueueForWorker:
		a.Err = p.EnqueueForWorker(ctx, r.Item)
	case FetchWorkItem:
		a.Work, a.Err = p.FetchWorkItem(ctx, r.LockTimeout, r.PollTimeout, r.Session, r.Tags)
	case AckWorkItem:
		a.Err = p.AckWorkItem(ctx, r.LockToken, r.Completion)
	case RenewWorkItemLock:
		a.Err = p.RenewWorkItemLock(ctx, r.LockToken, r.ExtendFor)
	case AbandonWorkItem:
		a.Err = p.AbandonWorkItem(ctx, r.LockToken, r.Delay, r.IgnoreAttempt)
	case RenewSessionLock:
		a.Count, a.Err = p.RenewSessionLock(ctx, r.Owners, r.ExtendFor, r.IdleTimeout)
	case CleanupOrphanedSessions:
		a.Count, a.Err = p.CleanupOrphanedSessions(ctx, r.IdleTimeout)
	case GetCustomStatus:
		a.CustomStatus, a.Err = p.GetCustomStatus(ctx, r.Instance, r.LastSeen)
	case GetKVValue:
		a.Value, a.Err = p.GetKVValue(ctx, r.Instance, r.Key)
	case GetKVAllValues:
		a.Pairs, a.Err = p.GetKVAllValues(ctx, r.Instance)
	case GetInstanceStats:
		a.Stats, a.Err = p.GetInstanceStats(ctx, r.Instance)
	default:
		return performAdmin(ctx, p.Admin(), c)
	}
	return a
}

// Pass is Perform, and gives c itself to the function of a provider that Through has made.
func Pass(ctx context.Context, p engine.Provider, c Call) Answer {
	if w, ok := p.(*through); ok {
		return w.do(ctx, c)
	}
	return Perform(ctx, p, c)
}

func performAdmin(ctx context.Context, p engine.ProviderAdmin, c Call) (a Answer) {
	if p == nil {
		return Answer{Err: engine.Permanentf(Method(c), "not a method of this provider")}
	}
	switch r := c.(type) {
	case ListInstances:
		a.IDs, a.Err = p.ListInstances(ctx)
	case ListInstancesByStatus:
		a.IDs, a.Err = p.ListInstancesByStatus(ctx, r.Status)
	case ListExecutions:
		a.Executions, a.Err = p.ListExecutions(ctx, r.Instance)
	case ReadHistoryWithExecutionID:
		a.Events, a.Err = p.ReadHistoryWithExecutionID(ctx, r.Instance, r.ExecutionID)
	case ReadHistory:
		a.Events, a.Err = p.ReadHistory(ctx, r.Instance)
	case LatestExecutionID:
		a.Latest, a.Err = p.LatestExecutionID(ctx, r.Instance)
	case GetInstanceInfo:
		a.Info, a.Err = p.GetInstanceInfo(ctx, r.Instance)
	case GetExecutionInfo:
		a.Execution, a.Err = p.GetExecutionInfo(ctx, r.Instance, r.ExecutionID)
	case GetSystemMetrics:
		a.Metrics, a.Err = p.GetSystemMetrics(ctx)
	case GetQueueDepths:
		a.Depths, a.Err = p.GetQueueDepths(ctx)
	case ListChildren:
		a.IDs, a.Err = p.ListChildren(ctx, r.Instance)
	case GetParentID:
		a.Parent, a.Err = p.GetParentID(ctx, r.Instance)
	case GetInstanceTree:
		a.Tree, a.Err = p.GetInstanceTree(ctx, r.Instance)
	case DeleteInstance:
		a.Deleted, a.Err = p.DeleteInstance(ctx, r.Instance, r.Force)
	case DeleteInstancesAtomic:
		a.Deleted, a.Err = p.DeleteInstancesAtomic(ctx, r.Instances, r.Force)
	case DeleteInstanceBulk:
		a.Deleted, a.Err = p.DeleteInstanceBulk(ctx, r.Filter)
	case PruneExecutions:
		a.Pruned, a.Err = p.PruneExecutions(ctx, r.Instance, r.Options)
	case PruneExecutionsBulk:
		a.Pruned, a.Err = p.PruneExecutionsBulk(ctx, r.Filter, r.Options)
	default:
		a.Err = engine.Permanentf(Method(c), "not a method of a provider")
	}
	return a
}
