package wire

import (
	"context"
	"maps"
	"slices"

	"github.com/durosim/durosim/engine"
)

// Parameters of the calls, in the order of engine.Provider. Every field that is not marked omitempty is needed.
type (
	none        struct{}
	enqueueOrch struct {
		Item    item   `json:"item"`
		DelayMs millis `json:"delay_ms,omitempty"`
	}
	fetchOrch struct {
		LockTimeoutMs millis  `json:"lock_timeout_ms"`
		PollTimeoutMs millis  `json:"poll_timeout_ms,omitempty"`
		Filter        *filter `json:"filter,omitempty"`
	}
	ackOrch struct {
		LockToken           string        `json:"lock_token"`
		ExecutionID         uint64        `json:"execution_id"`
		HistoryDelta        []event       `json:"history_delta"`
		WorkerItems         []item        `json:"worker_items"`
		OrchestratorItems   []item        `json:"orchestrator_items"`
		Metadata            metadata      `json:"metadata"`
		CancelledActivities []activityRef `json:"cancelled_activities"`
	}
	metadata struct {
		Status               engine.Status   `json:"status,omitempty"`
		Output               *string         `json:"output,omitempty"`
		OrchestrationName    string          `json:"orchestration_name,omitempty"`
		OrchestrationVersion string          `json:"orchestration_version,omitempty"`
		ParentInstanceID     string          `json:"parent_instance_id,omitempty"`
		ParentExecutionID    uint64          `json:"parent_execution_id,omitempty"`
		ParentEventID        uint64          `json:"parent_event_id,omitempty"`
		PinnedVersion        *engine.Version `json:"pinned_duroxide_version,omitempty"`
	}
	activityRef struct {
		Instance    string `json:"instance"`
		ExecutionID uint64 `json:"execution_id"`
		ActivityID  uint64 `json:"activity_id"`
	}
	abandon struct {
		LockToken     string `json:"lock_token"`
		DelayMs       millis `json:"delay_ms,omitempty"`
		IgnoreAttempt bool   `json:"ignore_attempt,omitempty"`
	}
	renew struct {
		LockToken   string `json:"lock_token"`
		ExtendForMs millis `json:"extend_for_ms"`
	}
	instanceRef struct {
		Instance string `json:"instance"`
	}
	executionRef struct {
		Instance    string `json:"instance"`
		ExecutionID uint64 `json:"execution_id"`
	}
	appendEvents struct {
		Instance    string  `json:"instance"`
		ExecutionID uint64  `json:"execution_id"`
		Events      []event `json:"events"`
	}
	enqueueWork struct {
		Item item `json:"item"`
	}
	fetchWork struct {
		LockTimeoutMs millis    `json:"lock_timeout_ms"`
		PollTimeoutMs millis    `json:"poll_timeout_ms,omitempty"`
		Session       *session  `json:"session,omitempty"`
		TagFilter     tagFilter `json:"tag_filter"`
	}
	session struct {
		OwnerID       string `json:"owner_id"`
		LockTimeoutMs millis `json:"lock_timeout_ms"`
	}
	ackWork struct {
		LockToken  string `json:"lock_token"`
		Completion *item  `json:"completion,omitempty"`
	}
	renewSession struct {
		OwnerIDs      []string `json:"owner_ids"`
		ExtendForMs   millis   `json:"extend_for_ms"`
		IdleTimeoutMs millis   `json:"idle_timeout_ms"`
	}
	cleanupSessions struct {
		IdleTimeoutMs millis `json:"idle_timeout_ms"`
	}
	customStatusRef struct {
		Instance string `json:"instance"`
		LastSeen uint64 `json:"last_seen_version"`
	}
	kvRef struct {
		Instance string `json:"instance"`
		Key      string `json:"key"`
	}
	byStatus struct {
		Status engine.Status `json:"status"`
	}
	deleteOne struct {
		Instance string `json:"instance"`
		Force    bool   `json:"force"`
	}
	deleteMany struct {
		Instances []string `json:"instances"`
		Force     bool     `json:"force"`
	}
	byFilter struct {
		Filter instanceFilter `json:"filter"`
	}
	pruneOne struct {
		Instance string       `json:"instance"`
		Options  pruneOptions `json:"options"`
	}
	pruneMany struct {
		Filter  instanceFilter `json:"filter"`
		Options pruneOptions   `json:"options"`
	}
	instanceFilter struct {
		InstanceIDs     []string `json:"instance_ids"` // null is any, empty is none
		CompletedBefore *uint64  `json:"completed_before,omitempty"`
		Limit           *uint64  `json:"limit,omitempty"`
	}
	pruneOptions struct {
		KeepLast        *uint64 `json:"keep_last,omitempty"`
		CompletedBefore *uint64 `json:"completed_before,omitempty"`
	}
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func (a ackOrch) plain() engine.OrchestrationAck {
	out := engine.OrchestrationAck{
		LockToken: a.LockToken, ExecutionID: a.ExecutionID, HistoryDelta: plainEvents(a.HistoryDelta),
		WorkerItems: plainItems(a.WorkerItems), OrchestratorItems: plainItems(a.OrchestratorItems),
		Metadata: engine.ExecutionMetadata(a.Metadata),
	}
	for _, c := range a.CancelledActivities {
		out.CancelledActivities = append(out.CancelledActivities, engine.ScheduledActivityIdentifier(c))
	}
	return out
}

func wrapAck(a engine.OrchestrationAck) ackOrch {
	out := ackOrch{
		LockToken: a.LockToken, ExecutionID: a.ExecutionID, HistoryDelta: wrapEvents(a.HistoryDelta),
		WorkerItems: wrapItems(a.WorkerItems), OrchestratorItems: wrapItems(a.OrchestratorItems),
		Metadata: metadata(a.Metadata), CancelledActivities: []activityRef{},
	}
	for _, c := range a.CancelledActivities {
		out.CancelledActivities = append(out.CancelledActivities, activityRef(c))
	}
	return out
}

// method is one call of the protocol, as a server executes it.
type method struct {
	name  string
	serve func(ctx context.Context, p engine.Provider, params []byte) (any, error)
}

// define makes a method of a function over decoded parameters.
func define[P, R any](name string, call func(ctx context.Context, p engine.Provider, in P) (R, error)) method {
	return method{name, func(ctx context.Context, p engine.Provider, params []byte) (any, error) {
		var in P
		if err := decodeParams(params, &in); err != nil {
			return nil, err
		}
		return call(ctx, p, in)
	}}
}

// act makes a method that has no result, which is null on the wire.
func act[P any](name string, call func(ctx context.Context, p engine.Provider, in P) error) method {
	return define(name, func(ctx context.Context, p engine.Provider, in P) (any, error) { return nil, call(ctx, p, in) })
}

// methods are the calls of engine.Provider, in its order; those of engine.ProviderAdmin are in adminMethods.
var methods = []method{
	act("enqueue_for_orchestrator", func(ctx context.Context, p engine.Provider, in enqueueOrch) error {
		return p.EnqueueForOrchestrator(ctx, in.Item.WorkItem, in.DelayMs.plain())
	}),
	define("fetch_orchestration_item", func(ctx context.Context, p engine.Provider, in fetchOrch) (*fetchedOrchestration, error) {
		f, err := p.FetchOrchestrationItem(ctx, in.LockTimeoutMs.plain(), in.PollTimeoutMs.plain(), in.Filter.plain())
		return wrapFetched(f), err
	}),
	act("ack_orchestration_item", func(ctx context.Context, p engine.Provider, in ackOrch) error {
		return p.AckOrchestrationItem(ctx, in.plain())
	}),
	act("abandon_orchestration_item", func(ctx context.Context, p engine.Provider, in abandon) error {
		return p.AbandonOrchestrationItem(ctx, in.LockToken, in.DelayMs.plain(), in.IgnoreAttempt)
	}),
	act("renew_orchestration_item_lock", func(ctx context.Context, p engine.Provider, in renew) error {
		return p.RenewOrchestrationItemLock(ctx, in.LockToken, in.ExtendForMs.plain())
	}),
	define("read", func(ctx context.Context, p engine.Provider, in instanceRef) ([]event, error) {
		events, err := p.Read(ctx, in.Instance)
		return wrapEvents(events), err
	}),
	define("read_with_execution", func(ctx context.Context, p engine.Provider, in executionRef) ([]event, error) {
		events, err := p.ReadWithExecution(ctx, in.Instance, in.ExecutionID)
		return wrapEvents(events), err
	}),
	act("append_with_execution", func(ctx context.Context, p engine.Provider, in appendEvents) error {
		return p.AppendWithExecution(ctx, in.Instance, in.ExecutionID, plainEvents(in.Events))
	}),
	act("enqueue_for_worker", func(ctx context.Context, p engine.Provider, in enqueueWork) error {
		return p.EnqueueForWorker(ctx, in.Item.WorkItem)
	}),
	define("fetch_work_item", func(ctx context.Context, p engine.Provider, in fetchWork) (*fetchedWork, error) {
		var session *engine.SessionFetchConfig
		if in.Session != nil {
			session = &engine.SessionFetchConfig{OwnerID: in.Session.OwnerID, LockTimeout: in.Session.LockTimeoutMs.plain()}
		}
		f, err := p.FetchWorkItem(ctx, in.LockTimeoutMs.plain(), in.PollTimeoutMs.plain(), session, in.TagFilter.TagFilter)
		if f == nil || err != nil {
			return nil, err
		}
		return &fetchedWork{item{f.Item}, f.LockToken, f.AttemptCount}, nil
	}),
	act("ack_work_item", func(ctx context.Context, p engine.Provider, in ackWork) error {
		var completion engine.WorkItem
		if in.Completion != nil {
			completion = in.Completion.WorkItem
		}
		return p.AckWorkItem(ctx, in.LockToken, completion)
	}),
	act("renew_work_item_lock", func(ctx context.Context, p engine.Provider, in renew) error {
		return p.RenewWorkItemLock(ctx, in.LockToken, in.ExtendForMs.plain())
	}),
	act("abandon_work_item", func(ctx context.Context, p engine.Provider, in abandon) error {
		return p.AbandonWorkItem(ctx, in.LockToken, in.DelayMs.plain(), in.IgnoreAttempt)
	}),
	define("renew_session_lock", func(ctx context.Context, p engine.Provider, in renewSession) (int, error) {
		return p.RenewSessionLock(ctx, in.OwnerIDs, in.ExtendForMs.plain(), in.IdleTimeoutMs.plain())
	}),
	define("cleanup_orphaned_sessions", func(ctx context.Context, p engine.Provider, in cleanupSessions) (int, error) {
		return p.CleanupOrphanedSessions(ctx, in.IdleTimeoutMs.plain())
	}),
	define("get_custom_status", func(ctx context.Context, p engine.Provider, in customStatusRef) (*customStatus, error) {
		s, err := p.GetCustomStatus(ctx, in.Instance, in.LastSeen)
		return (*customStatus)(s), err
	}),
	define("get_kv_value", func(ctx context.Context, p engine.Provider, in kvRef) (*string, error) {
		return p.GetKVValue(ctx, in.Instance, in.Key)
	}),
	define("get_kv_all_values", func(ctx context.Context, p engine.Provider, in instanceRef) (map[string]string, error) {
		pairs, err := p.GetKVAllValues(ctx, in.Instance)
		return wrapPairs(pairs), err
	}),
	define("get_instance_stats", func(ctx context.Context, p engine.Provider, in instanceRef) (*engine.SystemStats, error) {
		return p.GetInstanceStats(ctx, in.Instance)
	}),
}

// manage makes a method of the management surface.
func manage[P, R any](name string, call func(ctx context.Context, a engine.ProviderAdmin, in P) (R, error)) method {
	return define(name, func(ctx context.Context, p engine.Provider, in P) (any, error) {
		a := p.Admin()
		if a == nil {
			return nil, errNotOffered(name, "the provider has no management surface")
		}
		return call(ctx, a, in)
	})
}

// list is a slice that is never null on the wire.
func list[T any](s []T, err error) ([]T, error) {
	if s == nil {
		s = []T{}
	}
	return s, err
}

var adminMethods = []method{
	manage("list_instances", func(ctx context.Context, a engine.ProviderAdmin, _ none) ([]string, error) {
		return list(a.ListInstances(ctx))
	}),
	manage("list_instances_by_status", func(ctx context.Context, a engine.ProviderAdmin, in byStatus) ([]string, error) {
		return list(a.ListInstancesByStatus(ctx, in.Status))
	}),
	manage("list_executions", func(ctx context.Context, a engine.ProviderAdmin, in instanceRef) ([]uint64, error) {
		return list(a.ListExecutions(ctx, in.Instance))
	}),
	manage("read_history_with_execution_id", func(ctx context.Context, a engine.ProviderAdmin, in executionRef) ([]event, error) {
		events, err := a.ReadHistoryWithExecutionID(ctx, in.Instance, in.ExecutionID)
		return wrapEvents(events), err
	}),
	manage("read_history", func(ctx context.Context, a engine.ProviderAdmin, in instanceRef) ([]event, error) {
		events, err := a.ReadHistory(ctx, in.Instance)
		return wrapEvents(events), err
	}),
	manage("latest_execution_id", func(ctx context.Context, a engine.ProviderAdmin, in instanceRef) (uint64, error) {
		return a.LatestExecutionID(ctx, in.Instance)
	}),
	manage("get_instance_info", func(ctx context.Context, a engine.ProviderAdmin, in instanceRef) (*engine.InstanceInfo, error) {
		return a.GetInstanceInfo(ctx, in.Instance)
	}),
	manage("get_execution_info", func(ctx context.Context, a engine.ProviderAdmin, in executionRef) (*engine.ExecutionInfo, error) {
		return a.GetExecutionInfo(ctx, in.Instance, in.ExecutionID)
	}),
	manage("get_system_metrics", func(ctx context.Context, a engine.ProviderAdmin, _ none) (*engine.SystemMetrics, error) {
		return a.GetSystemMetrics(ctx)
	}),
	manage("get_queue_depths", func(ctx context.Context, a engine.ProviderAdmin, _ none) (*engine.QueueDepths, error) {
		return a.GetQueueDepths(ctx)
	}),
	manage("list_children", func(ctx context.Context, a engine.ProviderAdmin, in instanceRef) ([]string, error) {
		return list(a.ListChildren(ctx, in.Instance))
	}),
	manage("get_parent_id", func(ctx context.Context, a engine.ProviderAdmin, in instanceRef) (*string, error) {
		parent, err := a.GetParentID(ctx, in.Instance)
		if parent == "" {
			return nil, err
		}
		return &parent, err
	}),
	manage("get_instance_tree", func(ctx context.Context, a engine.ProviderAdmin, in instanceRef) (*engine.InstanceTree, error) {
		return a.GetInstanceTree(ctx, in.Instance)
	}),
	manage("delete_instance", func(ctx context.Context, a engine.ProviderAdmin, in deleteOne) (*engine.DeleteInstanceResult, error) {
		return a.DeleteInstance(ctx, in.Instance, in.Force)
	}),
	manage("delete_instances_atomic", func(ctx context.Context, a engine.ProviderAdmin, in deleteMany) (*engine.DeleteInstanceResult, error) {
		return a.DeleteInstancesAtomic(ctx, in.Instances, in.Force)
	}),
	manage("delete_instance_bulk", func(ctx context.Context, a engine.ProviderAdmin, in byFilter) (*engine.DeleteInstanceResult, error) {
		return a.DeleteInstanceBulk(ctx, engine.InstanceFilter(in.Filter))
	}),
	manage("prune_executions", func(ctx context.Context, a engine.ProviderAdmin, in pruneOne) (*engine.PruneResult, error) {
		return a.PruneExecutions(ctx, in.Instance, engine.PruneOptions(in.Options))
	}),
	manage("prune_executions_bulk", func(ctx context.Context, a engine.ProviderAdmin, in pruneMany) (*engine.PruneResult, error) {
		return a.PruneExecutionsBulk(ctx, engine.InstanceFilter(in.Filter), engine.PruneOptions(in.Options))
	}),
}
