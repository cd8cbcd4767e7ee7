package oracle

import (
	"context"
	"errors"
	"time"

	"github.com/durosim/durosim/engine"
)

// Perform makes a call on a provider and returns its answer. A call of the management surface on a provider without one
// fails permanently, and so does damage, which no provider has a method for.
func Perform(ctx context.Context, p engine.Provider, c Call) Answer {
	a, known := performProvider(ctx, p, c.Args)
	if !known {
		a, known = performAdmin(ctx, p, c.Args)
	}
	if !known {
		a.cause = engine.Permanentf(string(c.Args.Method()), "not a method of a provider")
	}
	if a.cause != nil {
		a.Err = &ErrorAnswer{Retryable: engine.IsRetryable(a.cause), Message: a.cause.Error()}
		var pe *engine.ProviderError
		if errors.As(a.cause, &pe) {
			a.Err.Message = pe.Message
		}
	}
	return a
}

func ms(n int64) time.Duration {
	if n > int64(1<<63-1)/int64(time.Millisecond) {
		return 1<<63 - 1
	}
	return time.Duration(n) * time.Millisecond
}

func performProvider(ctx context.Context, p engine.Provider, args Args) (a Answer, known bool) {
	switch r := args.(type) {
	case EnqueueForOrchestrator:
		a.cause = p.EnqueueForOrchestrator(ctx, r.Item.WorkItem, ms(r.DelayMs))
	case FetchOrchestrationItem:
		var f *engine.FetchedOrchestration
		f, a.cause = p.FetchOrchestrationItem(ctx, ms(r.LockTimeoutMs), ms(r.PollTimeoutMs), r.Filter.engine())
		a.Item = fetchedOf(f)
	case AckOrchestrationItem:
		a.cause = p.AckOrchestrationItem(ctx, r.engine())
	case AbandonOrchestrationItem:
		a.cause = p.AbandonOrchestrationItem(ctx, r.Token, ms(r.DelayMs), r.IgnoreAttempt)
	case RenewOrchestrationItemLock:
		a.cause = p.RenewOrchestrationItemLock(ctx, r.Token, ms(r.ExtendMs))
	case Read:
		a.Events, a.cause = p.Read(ctx, r.Instance)
	case ReadWithExecution:
		a.Events, a.cause = p.ReadWithExecution(ctx, r.Instance, r.ExecutionID)
	case AppendWithExecution:
		a.cause = p.AppendWithExecution(ctx, r.Instance, r.ExecutionID, r.Events)
	case EnqueueForWorker:
		a.cause = p.EnqueueForWorker(ctx, r.Item.WorkItem)
	case FetchWorkItem:
		var w *engine.FetchedWork
		w, a.cause = p.FetchWorkItem(ctx, ms(r.LockTimeoutMs), ms(r.PollTimeoutMs), r.Session.engine(), engine.TagFilter{Mode: engine.TagMode(r.Tags.Mode), Tags: r.Tags.Tags})
		a.Work = workOf(w)
	case AckWorkItem:
		a.cause = p.AckWorkItem(ctx, r.Token, r.Completion.WorkItem)
	case RenewWorkItemLock:
		a.cause = p.RenewWorkItemLock(ctx, r.Token, ms(r.ExtendMs))
	case AbandonWorkItem:
		a.cause = p.AbandonWorkItem(ctx, r.Token, ms(r.DelayMs), r.IgnoreAttempt)
	case RenewSessionLock:
		a.Count, a.cause = p.RenewSessionLock(ctx, r.Owners, ms(r.ExtendMs), ms(r.IdleMs))
	case CleanupOrphanedSessions:
		a.Count, a.cause = p.CleanupOrphanedSessions(ctx, ms(r.IdleMs))
	case GetCustomStatus:
		a.CustomStatus, a.cause = p.GetCustomStatus(ctx, r.Instance, r.LastSeen)
	case GetKVValue:
		a.Value, a.cause = p.GetKVValue(ctx, r.Instance, r.Key)
	case GetKVAllValues:
		a.Pairs, a.cause = p.GetKVAllValues(ctx, r.Instance)
	case GetInstanceStats:
		a.Stats, a.cause = p.GetInstanceStats(ctx, r.Instance)
	default:
		return a, false
	}
	return a, true
}

func performAdmin(ctx context.Context, provider engine.Provider, args Args) (a Answer, known bool) {
	p := provider.Admin()
	if p == nil {
		return a, false
	}
	switch r := args.(type) {
	case ListInstances:
		a.IDs, a.cause = p.ListInstances(ctx)
	case ListInstancesByStatus:
		a.IDs, a.cause = p.ListInstancesByStatus(ctx, r.Status)
	case ListExecutions:
		a.Executions, a.cause = p.ListExecutions(ctx, r.Instance)
	case ReadHistoryWithExecutionID:
		a.Events, a.cause = p.ReadHistoryWithExecutionID(ctx, r.Instance, r.ExecutionID)
	case ReadHistory:
		a.Events, a.cause = p.ReadHistory(ctx, r.Instance)
	case LatestExecutionID:
		a.Latest, a.cause = p.LatestExecutionID(ctx, r.Instance)
	case GetInstanceInfo:
		a.Info, a.cause = p.GetInstanceInfo(ctx, r.Instance)
	case GetExecutionInfo:
		a.Execution, a.cause = p.GetExecutionInfo(ctx, r.Instance, r.ExecutionID)
	case GetSystemMetrics:
		a.Metrics, a.cause = p.GetSystemMetrics(ctx)
	case GetQueueDepths:
		a.Depths, a.cause = p.GetQueueDepths(ctx)
	case ListChildren:
		a.IDs, a.cause = p.ListChildren(ctx, r.Instance)
	case GetParentID:
		a.Parent, a.cause = p.GetParentID(ctx, r.Instance)
	case GetInstanceTree:
		a.Tree, a.cause = p.GetInstanceTree(ctx, r.Instance)
	case DeleteInstance:
		a.Deleted, a.cause = p.DeleteInstance(ctx, r.Instance, r.Force)
	case DeleteInstancesAtomic:
		a.Deleted, a.cause = p.DeleteInstancesAtomic(ctx, r.Instances, r.Force)
	case DeleteInstanceBulk:
		a.Deleted, a.cause = p.DeleteInstanceBulk(ctx, r.Filter)
	case PruneExecutions:
		a.Pruned, a.cause = p.PruneExecutions(ctx, r.Instance, r.Options)
	case PruneExecutionsBulk:
		a.Pruned, a.cause = p.PruneExecutionsBulk(ctx, r.Filter, r.Options)
	default:
		return a, false
	}
	return a, true
}

func (f *Filter) engine() *engine.CapabilityFilter {
	if f == nil {
		return nil
	}
	return &engine.CapabilityFilter{SupportedVersions: f.SupportedVersions}
}

func (s *Session) engine() *engine.SessionFetchConfig {
	if s == nil {
		return nil
	}
	return &engine.SessionFetchConfig{OwnerID: s.OwnerID, LockTimeout: ms(s.LockTimeoutMs)}
}

func (a AckOrchestrationItem) engine() engine.OrchestrationAck {
	ack := engine.OrchestrationAck{
		LockToken: a.Token, ExecutionID: a.ExecutionID, HistoryDelta: a.HistoryDelta, WorkerItems: a.WorkerItems,
		OrchestratorItems: a.OrchestratorItems, Metadata: engine.ExecutionMetadata(a.Metadata),
	}
	for _, c := range a.CancelledActivities {
		ack.CancelledActivities = append(ack.CancelledActivities, engine.ScheduledActivityIdentifier(c))
	}
	return ack
}

func ackOf(ack engine.OrchestrationAck) AckOrchestrationItem {
	a := AckOrchestrationItem{
		Token: ack.LockToken, ExecutionID: ack.ExecutionID, HistoryDelta: ack.HistoryDelta, WorkerItems: ack.WorkerItems,
		OrchestratorItems: ack.OrchestratorItems, Metadata: Metadata(ack.Metadata),
	}
	for _, c := range ack.CancelledActivities {
		a.CancelledActivities = append(a.CancelledActivities, Activity(c))
	}
	return a
}

func fetchedOf(f *engine.FetchedOrchestration) *Fetched {
	if f == nil {
		return nil
	}
	i := f.Item
	return &Fetched{
		Instance: i.Instance, OrchestrationName: i.OrchestrationName, ExecutionID: i.ExecutionID, Version: i.Version, History: i.History,
		Messages: i.Messages, HistoryError: i.HistoryError, KVSnapshot: i.KVSnapshot, CurrentStatus: i.CurrentStatus, Parent: i.Parent, Pin: i.Pin,
		Token: f.LockToken, AttemptCount: f.AttemptCount,
	}
}

func (f *Fetched) engine() *engine.FetchedOrchestration {
	if f == nil {
		return nil
	}
	return &engine.FetchedOrchestration{LockToken: f.Token, AttemptCount: f.AttemptCount, Item: engine.OrchestrationItem{
		Instance: f.Instance, OrchestrationName: f.OrchestrationName, ExecutionID: f.ExecutionID, Version: f.Version, History: f.History,
		Messages: f.Messages, HistoryError: f.HistoryError, KVSnapshot: f.KVSnapshot, CurrentStatus: f.CurrentStatus, Parent: f.Parent, Pin: f.Pin,
	}}
}

func workOf(w *engine.FetchedWork) *Work {
	if w == nil {
		return nil
	}
	return &Work{Item: Item{w.Item}, Token: w.LockToken, AttemptCount: w.AttemptCount}
}

func (w *Work) engine() *engine.FetchedWork {
	if w == nil {
		return nil
	}
	return &engine.FetchedWork{Item: w.Item.WorkItem, LockToken: w.Token, AttemptCount: w.AttemptCount}
}
