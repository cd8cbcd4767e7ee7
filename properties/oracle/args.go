package oracle

import "github.com/durosim/durosim/engine"

// Method names a call, as the contract spells it.
type Method string

// Args are the arguments of a call: one struct for each method of engine.Provider and engine.ProviderAdmin, and for each
// kind of damage that a test does to a store. Times are milliseconds.
type Args interface {
	Method() Method
}

// The calls of engine.Provider.
type (
	// EnqueueForOrchestrator appends one message.
	EnqueueForOrchestrator struct {
		Item    Item  `json:"item"`
		DelayMs int64 `json:"delay_ms,omitempty"`
	}
	// FetchOrchestrationItem asks for an instance with work. Filter nil is no filter.
	FetchOrchestrationItem struct {
		LockTimeoutMs int64   `json:"lock_timeout_ms"`
		PollTimeoutMs int64   `json:"poll_timeout_ms,omitempty"`
		Filter        *Filter `json:"filter,omitempty"`
	}
	// AckOrchestrationItem commits a turn.
	AckOrchestrationItem struct {
		Token               string         `json:"lock_token"`
		ExecutionID         uint64         `json:"execution_id"`
		HistoryDelta        Events         `json:"history_delta"`
		WorkerItems         Items          `json:"worker_items"`
		OrchestratorItems   Items          `json:"orchestrator_items"`
		Metadata            Metadata       `json:"metadata"`
		CancelledActivities List[Activity] `json:"cancelled_activities"`
	}
	// AbandonOrchestrationItem releases an instance.
	AbandonOrchestrationItem struct {
		Token         string `json:"lock_token"`
		DelayMs       int64  `json:"delay_ms,omitempty"`
		IgnoreAttempt bool   `json:"ignore_attempt,omitempty"`
	}
	// RenewOrchestrationItemLock extends an instance lock.
	RenewOrchestrationItemLock struct {
		Token    string `json:"lock_token"`
		ExtendMs int64  `json:"extend_for_ms"`
	}
	// Read reads the latest execution's history.
	Read struct {
		Instance string `json:"instance"`
	}
	// ReadWithExecution reads one execution's history.
	ReadWithExecution struct {
		Instance    string `json:"instance"`
		ExecutionID uint64 `json:"execution_id"`
	}
	// AppendWithExecution adds events.
	AppendWithExecution struct {
		Instance    string `json:"instance"`
		ExecutionID uint64 `json:"execution_id"`
		Events      Events `json:"events"`
	}
	// EnqueueForWorker appends one activity.
	EnqueueForWorker struct {
		Item Item `json:"item"`
	}
	// FetchWorkItem asks for an activity. Session nil asks for activities without a session.
	FetchWorkItem struct {
		LockTimeoutMs int64    `json:"lock_timeout_ms"`
		PollTimeoutMs int64    `json:"poll_timeout_ms,omitempty"`
		Session       *Session `json:"session,omitempty"`
		Tags          Tags     `json:"tag_filter"`
	}
	// AckWorkItem completes an activity. Completion without item enqueues nothing.
	AckWorkItem struct {
		Token      string `json:"lock_token"`
		Completion Item   `json:"completion,omitzero"`
	}
	// RenewWorkItemLock extends an activity's lock.
	RenewWorkItemLock struct {
		Token    string `json:"lock_token"`
		ExtendMs int64  `json:"extend_for_ms"`
	}
	// AbandonWorkItem releases an activity.
	AbandonWorkItem struct {
		Token         string `json:"lock_token"`
		DelayMs       int64  `json:"delay_ms,omitempty"`
		IgnoreAttempt bool   `json:"ignore_attempt,omitempty"`
	}
	// RenewSessionLock extends the sessions of some owners.
	RenewSessionLock struct {
		Owners   List[string] `json:"owner_ids"`
		ExtendMs int64        `json:"extend_for_ms"`
		IdleMs   int64        `json:"idle_timeout_ms"`
	}
	// CleanupOrphanedSessions deletes expired sessions without work.
	CleanupOrphanedSessions struct {
		IdleMs int64 `json:"idle_timeout_ms"`
	}
	// GetCustomStatus asks for a newer custom status.
	GetCustomStatus struct {
		Instance string `json:"instance"`
		LastSeen uint64 `json:"last_seen_version"`
	}
	// GetKVValue reads one key.
	GetKVValue struct {
		Instance string `json:"instance"`
		Key      string `json:"key"`
	}
	// GetKVAllValues reads all keys.
	GetKVAllValues struct {
		Instance string `json:"instance"`
	}
	// GetInstanceStats asks for sizes.
	GetInstanceStats struct {
		Instance string `json:"instance"`
	}
)

// The calls of engine.ProviderAdmin.
type (
	// ListInstances lists all instances.
	ListInstances struct{}
	// ListInstancesByStatus lists those of one status.
	ListInstancesByStatus struct {
		Status engine.Status `json:"status"`
	}
	// ListExecutions lists an instance's executions.
	ListExecutions struct {
		Instance string `json:"instance"`
	}
	// ReadHistoryWithExecutionID reads one execution's history.
	ReadHistoryWithExecutionID struct {
		Instance    string `json:"instance"`
		ExecutionID uint64 `json:"execution_id"`
	}
	// ReadHistory reads the latest execution's history.
	ReadHistory struct {
		Instance string `json:"instance"`
	}
	// LatestExecutionID asks for the largest execution id.
	LatestExecutionID struct {
		Instance string `json:"instance"`
	}
	// GetInstanceInfo describes an instance.
	GetInstanceInfo struct {
		Instance string `json:"instance"`
	}
	// GetExecutionInfo describes an execution.
	GetExecutionInfo struct {
		Instance    string `json:"instance"`
		ExecutionID uint64 `json:"execution_id"`
	}
	// GetSystemMetrics asks for totals.
	GetSystemMetrics struct{}
	// GetQueueDepths asks for the lengths of the queues.
	GetQueueDepths struct{}
	// ListChildren lists an instance's children.
	ListChildren struct {
		Instance string `json:"instance"`
	}
	// GetParentID asks for an instance's parent.
	GetParentID struct {
		Instance string `json:"instance"`
	}
	// GetInstanceTree lists an instance and its descendants.
	GetInstanceTree struct {
		Instance string `json:"instance"`
	}
	// DeleteInstance deletes a tree.
	DeleteInstance struct {
		Instance string `json:"instance"`
		Force    bool   `json:"force"`
	}
	// DeleteInstancesAtomic deletes what is listed.
	DeleteInstancesAtomic struct {
		Instances List[string] `json:"instances"`
		Force     bool         `json:"force"`
	}
	// DeleteInstanceBulk deletes the trees of ended roots.
	DeleteInstanceBulk struct {
		Filter engine.InstanceFilter `json:"filter"`
	}
	// PruneExecutions removes an instance's old executions.
	PruneExecutions struct {
		Instance string              `json:"instance"`
		Options  engine.PruneOptions `json:"options"`
	}
	// PruneExecutionsBulk prunes many instances.
	PruneExecutionsBulk struct {
		Filter  engine.InstanceFilter `json:"filter"`
		Options engine.PruneOptions   `json:"options"`
	}
)

// What a test does to a store behind the provider's back. They are no calls, but the specification must be told.
type (
	// Plant is one thing that was put into the store: an instances row, if an orchestration is named, whose current
	// execution is ExecutionID; or a part of a row: its parent, its custom status, which becomes version 1; or a key of the
	// store; or else an execution, its pin, its status, or an event. An EventID without Event is an event that nobody
	// decodes.
	Plant struct {
		Instance      string             `json:"instance"`
		Orchestration string             `json:"orchestration,omitempty"`
		Version       string             `json:"version,omitempty"`
		Parent        *engine.ParentLink `json:"parent,omitempty"`
		CustomStatus  *string            `json:"custom_status,omitempty"`
		Key           *engine.KVEntry    `json:"key,omitempty"`
		ExecutionID   uint64             `json:"execution_id,omitempty"`
		Pin           *engine.Version    `json:"pin,omitempty"`
		Status        engine.Status      `json:"status,omitempty"`
		Output        *string            `json:"output,omitempty"`
		EventID       uint64             `json:"event_id,omitempty"`
		Event         Events             `json:"event,omitempty"`
	}
	// CorruptEvent makes a stored event undecodable.
	CorruptEvent struct {
		Instance    string `json:"instance"`
		ExecutionID uint64 `json:"execution_id"`
		EventID     uint64 `json:"event_id"`
	}
	// CorruptMessage makes the newest queue row that holds this item undecodable.
	CorruptMessage struct {
		Item Item `json:"item"`
	}
)

// Method is the contract's name of the call.
func (EnqueueForOrchestrator) Method() Method     { return "enqueue_for_orchestrator" }
func (FetchOrchestrationItem) Method() Method     { return "fetch_orchestration_item" }
func (AckOrchestrationItem) Method() Method       { return "ack_orchestration_item" }
func (AbandonOrchestrationItem) Method() Method   { return "abandon_orchestration_item" }
func (RenewOrchestrationItemLock) Method() Method { return "renew_orchestration_item_lock" }
func (Read) Method() Method                       { return "read" }
func (ReadWithExecution) Method() Method          { return "read_with_execution" }
func (AppendWithExecution) Method() Method        { return "append_with_execution" }
func (EnqueueForWorker) Method() Method           { return "enqueue_for_worker" }
func (FetchWorkItem) Method() Method              { return "fetch_work_item" }
func (AckWorkItem) Method() Method                { return "ack_work_item" }
func (RenewWorkItemLock) Method() Method          { return "renew_work_item_lock" }
func (AbandonWorkItem) Method() Method            { return "abandon_work_item" }
func (RenewSessionLock) Method() Method           { return "renew_session_lock" }
func (CleanupOrphanedSessions) Method() Method    { return "cleanup_orphaned_sessions" }
func (GetCustomStatus) Method() Method            { return "get_custom_status" }
func (GetKVValue) Method() Method                 { return "get_kv_value" }
func (GetKVAllValues) Method() Method             { return "get_kv_all_values" }
func (GetInstanceStats) Method() Method           { return "get_instance_stats" }
func (ListInstances) Method() Method              { return "list_instances" }
func (ListInstancesByStatus) Method() Method      { return "list_instances_by_status" }
func (ListExecutions) Method() Method             { return "list_executions" }
func (ReadHistoryWithExecutionID) Method() Method { return "read_history_with_execution_id" }
func (ReadHistory) Method() Method                { return "read_history" }
func (LatestExecutionID) Method() Method          { return "latest_execution_id" }
func (GetInstanceInfo) Method() Method            { return "get_instance_info" }
func (GetExecutionInfo) Method() Method           { return "get_execution_info" }
func (GetSystemMetrics) Method() Method           { return "get_system_metrics" }
func (GetQueueDepths) Method() Method             { return "get_queue_depths" }
func (ListChildren) Method() Method               { return "list_children" }
func (GetParentID) Method() Method                { return "get_parent_id" }
func (GetInstanceTree) Method() Method            { return "get_instance_tree" }
func (DeleteInstance) Method() Method             { return "delete_instance" }
func (DeleteInstancesAtomic) Method() Method      { return "delete_instances_atomic" }
func (DeleteInstanceBulk) Method() Method         { return "delete_instance_bulk" }
func (PruneExecutions) Method() Method            { return "prune_executions" }
func (PruneExecutionsBulk) Method() Method        { return "prune_executions_bulk" }
func (Plant) Method() Method                      { return "plant" }
func (CorruptEvent) Method() Method               { return "corrupt_event" }
func (CorruptMessage) Method() Method             { return "corrupt_message" }
