package engine

import (
	"context"
	"time"
)

// Provider stores histories and hands out work. It makes no orchestration decisions and creates neither events nor
// execution ids. The rules are in docs/contract/provider.md#p5; this is their form in Go.
//
// Ownership: a provider keeps none of its caller's slices or maps. Callers may keep what a provider returns but must
// not change it, because providers share decoded events. All methods may be called concurrently, and the only errors
// they return are of type *ProviderError. A failed call changes nothing unless its documentation says otherwise. Times
// inside a provider are whole milliseconds. A message is visible when visible_at <= now, and a lock is live while
// locked_until > now.
type Provider interface {
	// Name and Version identify the implementation.
	Name() string
	Version() string
	// Admin returns the management surface, or nil if the provider has none.
	Admin() ProviderAdmin

	// EnqueueForOrchestrator appends one message that becomes visible after delay. It never creates an instance, and it
	// is not idempotent. An ActivityExecuteItem is rejected with a permanent error. The FireAtMs of a TimerFiredItem is
	// ignored.
	EnqueueForOrchestrator(ctx context.Context, item WorkItem, delay time.Duration) error

	// FetchOrchestrationItem locks an instance that the filter admits and that has a visible message and no live lock.
	// It returns all of the instance's visible messages, or nil, nil if there is no such instance. The filter is
	// applied before anything is locked, counted or decoded. Locking, marking and counting are one atomic step, which
	// stands even if the history cannot be decoded; the item's HistoryError then reports the failure. If the call
	// returns an error or nothing, no lock is held. pollTimeout limits how long the call may wait for work; 0 means it
	// does not wait.
	FetchOrchestrationItem(ctx context.Context, lockTimeout, pollTimeout time.Duration, filter *CapabilityFilter) (*FetchedOrchestration, error)

	// AckOrchestrationItem commits a turn: either all effects of the ack, in the order of
	// docs/contract/provider.md#p5.3, or none. It needs a live token; for an unknown or expired one it returns a
	// permanent error that contains "Invalid lock token". It does not read stored events.
	AckOrchestrationItem(ctx context.Context, ack OrchestrationAck) error

	// AbandonOrchestrationItem releases the lock and makes the batch visible again after delay. If ignoreAttempt is
	// set, it also lowers the attempt count of each message in the batch by one, but not below 0. If the token holds no
	// lock, it returns a permanent error.
	AbandonOrchestrationItem(ctx context.Context, token string, delay time.Duration, ignoreAttempt bool) error

	// RenewOrchestrationItemLock makes a live lock expire at now + extendFor. A token without a live lock is a
	// permanent error.
	RenewOrchestrationItemLock(ctx context.Context, token string, extendFor time.Duration) error

	// Read returns the events of the latest execution in ascending order, or none if the instance is unknown. An event
	// that cannot be decoded is a permanent error.
	Read(ctx context.Context, instance string) ([]Event, error)
	// ReadWithExecution returns the events of the given execution, under the same rules as Read.
	ReadWithExecution(ctx context.Context, instance string, executionID uint64) ([]Event, error)
	// AppendWithExecution appends events with the ids they carry, all or none. A duplicate id is an error. It creates
	// no instance or execution row and derives no other state from the events.
	AppendWithExecution(ctx context.Context, instance string, executionID uint64, events []Event) error

	// EnqueueForWorker appends one activity, visible immediately. It is not idempotent.
	EnqueueForWorker(ctx context.Context, item WorkItem) error
	// FetchWorkItem locks the oldest visible activity that the tags and the session allow. It returns nil, nil if there
	// is none. With a nil session, it takes only activities that have no session.
	FetchWorkItem(ctx context.Context, lockTimeout, pollTimeout time.Duration, session *SessionFetchConfig, tags TagFilter) (*FetchedWork, error)
	// AckWorkItem atomically deletes the activity and enqueues the completion, if one is given. It needs a live token;
	// any other is a permanent error. Only activity completions are accepted.
	AckWorkItem(ctx context.Context, token string, completion WorkItem) error
	// RenewWorkItemLock makes a live lock expire at now + extendFor. A permanent error tells the worker that it has
	// lost the activity.
	RenewWorkItemLock(ctx context.Context, token string, extendFor time.Duration) error
	// AbandonWorkItem makes the activity visible again after delay. If ignoreAttempt is set, it also lowers the
	// activity's attempt count by one, but not below 0. An unknown or superseded token is a permanent error.
	AbandonWorkItem(ctx context.Context, token string, delay time.Duration, ignoreAttempt bool) error

	// RenewSessionLock makes every live, non-idle session of the given owners expire at now + extendFor, and returns
	// the number of sessions renewed. A session becomes idle idleTimeout after the last fetch, ack or renewal of one of
	// its activities.
	RenewSessionLock(ctx context.Context, owners []string, extendFor, idleTimeout time.Duration) (int, error)
	// CleanupOrphanedSessions deletes the expired sessions of all owners that no activity belongs to any more, and
	// returns the number deleted. Providers may ignore idleTimeout.
	CleanupOrphanedSessions(ctx context.Context, idleTimeout time.Duration) (int, error)

	// GetCustomStatus returns the status and its version if the version is higher than lastSeen, and nil otherwise.
	GetCustomStatus(ctx context.Context, instance string, lastSeen uint64) (*CustomStatus, error)
	// GetKVValue returns one key's value in the merged view, or nil if there is none.
	GetKVValue(ctx context.Context, instance, key string) (*string, error)
	// GetKVAllValues returns all keys and values in the merged view, sorted by key.
	GetKVAllValues(ctx context.Context, instance string) ([]KVPair, error)
	// GetInstanceStats returns the sizes of the current execution, or nil for an unknown instance.
	GetInstanceStats(ctx context.Context, instance string) (*SystemStats, error)
}

// ProviderAdmin is the management surface (docs/contract/provider.md#p7). "Not found" errors are permanent and contain
// those words.
type ProviderAdmin interface {
	// ListInstances returns the ids of all instances that were created by an ack.
	ListInstances(ctx context.Context) ([]string, error)
	// ListInstancesByStatus returns the ids of the instances whose current execution has exactly the given status.
	ListInstancesByStatus(ctx context.Context, status Status) ([]string, error)
	// ListExecutions returns an instance's execution ids in ascending order, or none if the instance is unknown.
	ListExecutions(ctx context.Context, instance string) ([]uint64, error)
	// ReadHistoryWithExecutionID returns the events of one execution. An event that cannot be decoded is a permanent
	// error.
	ReadHistoryWithExecutionID(ctx context.Context, instance string, executionID uint64) ([]Event, error)
	// ReadHistory returns the events of the latest execution.
	ReadHistory(ctx context.Context, instance string) ([]Event, error)
	// LatestExecutionID returns the highest execution id, or 1 for an unknown instance.
	LatestExecutionID(ctx context.Context, instance string) (uint64, error)
	// GetInstanceInfo describes an instance and its current execution, or returns a "not found" error.
	GetInstanceInfo(ctx context.Context, instance string) (*InstanceInfo, error)
	// GetExecutionInfo describes one execution, or returns a "not found" error.
	GetExecutionInfo(ctx context.Context, instance string, executionID uint64) (*ExecutionInfo, error)
	// GetSystemMetrics returns totals for the whole store.
	GetSystemMetrics(ctx context.Context) (*SystemMetrics, error)
	// GetQueueDepths returns the number of unlocked messages in each queue, including delayed ones.
	GetQueueDepths(ctx context.Context) (*QueueDepths, error)
	// ListChildren returns the ids of an instance's direct children.
	ListChildren(ctx context.Context, instance string) ([]string, error)
	// GetParentID returns the parent's id, or "" for a root. An unknown instance is a "not found" error.
	GetParentID(ctx context.Context, instance string) (string, error)
	// GetInstanceTree returns an instance and all its descendants. It does not check that the instance exists.
	GetInstanceTree(ctx context.Context, root string) (*InstanceTree, error)
	// DeleteInstance deletes a root and its tree, with histories, messages, activities, locks and keys; sessions are
	// kept. A running instance is deleted only if force is set. A child is never deleted on its own.
	DeleteInstance(ctx context.Context, instance string, force bool) (*DeleteInstanceResult, error)
	// DeleteInstancesAtomic deletes exactly the listed instances, or none of them. It refuses to orphan a child.
	DeleteInstancesAtomic(ctx context.Context, instances []string, force bool) (*DeleteInstanceResult, error)
	// DeleteInstanceBulk deletes the trees of all ended roots that match the filter.
	DeleteInstanceBulk(ctx context.Context, filter InstanceFilter) (*DeleteInstanceResult, error)
	// PruneExecutions deletes old executions and their histories, but never the current or a running one.
	PruneExecutions(ctx context.Context, instance string, options PruneOptions) (*PruneResult, error)
	// PruneExecutionsBulk prunes every instance that matches the filter.
	PruneExecutionsBulk(ctx context.Context, filter InstanceFilter, options PruneOptions) (*PruneResult, error)
}

// OrchestrationItem is an instance's work for one turn. Messages has at least one entry, in enqueue order.
//
// HistoryError is set if a stored event or a message of the batch could not be decoded. In that case History is empty
// and Messages holds only the messages that could be decoded, but the lock is held and the attempt counted as usual.
//
// KVSnapshot is the key-value state as of the last merge, at the end of the previous execution. It does not include
// later changes.
type OrchestrationItem struct {
	Instance          string     `json:"instance"`
	OrchestrationName string     `json:"orchestration_name"`
	ExecutionID       uint64     `json:"execution_id"`
	Version           string     `json:"version"`
	History           []Event    `json:"history"`
	Messages          []WorkItem `json:"messages"`
	HistoryError      string     `json:"history_error,omitempty"`
	KVSnapshot        []KVEntry  `json:"kv_snapshot,omitempty"`
	// CurrentStatus and Parent are extensions (docs/contract-decisions.md#row-2). A provider that stores them fills
	// them from its metadata. CurrentStatus is the status of the current execution, or "" if not reported. Parent links
	// to the parent; it is nil for a root or if not reported.
	CurrentStatus Status      `json:"current_status,omitempty"`
	Parent        *ParentLink `json:"parent,omitempty"`
	// Pin is another extension: the current execution's pin as the provider stores it. It is nil if the execution is
	// unpinned or the pin is not reported.
	Pin *Version `json:"pinned_duroxide_version,omitempty"`
}

// ParentLink identifies the schedule in the parent's history that started a child instance.
type ParentLink struct {
	Instance    string `json:"instance"`
	ExecutionID uint64 `json:"execution_id"`
	EventID     uint64 `json:"event_id"`
}

// FetchedOrchestration is a locked item. AttemptCount is the highest count in the batch and includes this delivery.
type FetchedOrchestration struct {
	Item         OrchestrationItem `json:"item"`
	LockToken    string            `json:"lock_token"`
	AttemptCount uint32            `json:"attempt_count"`
}

// FetchedWork is a locked activity. AttemptCount includes this delivery.
type FetchedWork struct {
	Item         WorkItem `json:"item"`
	LockToken    string   `json:"lock_token"`
	AttemptCount uint32   `json:"attempt_count"`
}

// OrchestrationAck holds everything a turn commits.
type OrchestrationAck struct {
	LockToken   string `json:"lock_token"`
	ExecutionID uint64 `json:"execution_id"`
	// HistoryDelta holds the events to append to execution ExecutionID.
	HistoryDelta []Event `json:"history_delta"`
	// WorkerItems and OrchestratorItems are enqueued. Timers become visible at their FireAtMs.
	WorkerItems       []WorkItem        `json:"worker_items"`
	OrchestratorItems []WorkItem        `json:"orchestrator_items"`
	Metadata          ExecutionMetadata `json:"metadata"`
	// CancelledActivities are removed from the worker queue, whether locked or not, after WorkerItems have been
	// inserted.
	CancelledActivities []ScheduledActivityIdentifier `json:"cancelled_activities"`
}

// Status is an execution's status. Providers store it as a free-form string.
type Status string

// The known statuses.
const (
	StatusRunning        Status = "Running"
	StatusCompleted      Status = "Completed"
	StatusFailed         Status = "Failed"
	StatusContinuedAsNew Status = "ContinuedAsNew"
)

// Terminal reports whether an execution with this status has ended.
func (s Status) Terminal() bool {
	return s == StatusCompleted || s == StatusFailed || s == StatusContinuedAsNew
}

// ExecutionMetadata is what a turn tells the provider about its execution, so that the provider need not inspect
// events. A zero field leaves the stored value unchanged. Output is used only if Status is set.
type ExecutionMetadata struct {
	Status               Status  `json:"status,omitempty"`
	Output               *string `json:"output,omitempty"`
	OrchestrationName    string  `json:"orchestration_name,omitempty"`
	OrchestrationVersion string  `json:"orchestration_version,omitempty"`
	ParentInstanceID     string  `json:"parent_instance_id,omitempty"`
	// ParentExecutionID and ParentEventID complete the link to the parent (an extension,
	// docs/contract-decisions.md#row-2).
	ParentExecutionID uint64 `json:"parent_execution_id,omitempty"`
	ParentEventID     uint64 `json:"parent_event_id,omitempty"`
	// PinnedVersion is set by an execution's first turn. A provider that receives one overwrites the stored pin.
	PinnedVersion *Version `json:"pinned_duroxide_version,omitempty"`
}

// ScheduledActivityIdentifier identifies an activity. ActivityID is the event id of its schedule.
type ScheduledActivityIdentifier struct {
	Instance    string `json:"instance"`
	ExecutionID uint64 `json:"execution_id"`
	ActivityID  uint64 `json:"activity_id"`
}

// SessionFetchConfig lets a work fetch take activities with sessions on behalf of an owner.
type SessionFetchConfig struct {
	OwnerID     string        `json:"owner_id"`
	LockTimeout time.Duration `json:"lock_timeout_ms"`
}

// CustomStatus is an instance's custom status. A nil Status means that it was reset.
type CustomStatus struct {
	Status  *string `json:"status"`
	Version uint64  `json:"version"`
}

// KVEntry is a key with its value and last update time in milliseconds. Slices of entries are sorted by key.
type KVEntry struct {
	Key             string `json:"key"`
	Value           string `json:"value"`
	LastUpdatedAtMs uint64 `json:"last_updated_at_ms"`
}

// KVPair is a key with its value.
type KVPair struct {
	Key   string
	Value string
}

// InstanceInfo describes an instance and its current execution. Times are in milliseconds, or 0 if the provider does
// not store them.
type InstanceInfo struct {
	InstanceID           string  `json:"instance_id"`
	OrchestrationName    string  `json:"orchestration_name"`
	OrchestrationVersion string  `json:"orchestration_version"`
	CurrentExecutionID   uint64  `json:"current_execution_id"`
	Status               Status  `json:"status"`
	Output               *string `json:"output"`
	CreatedAt            uint64  `json:"created_at"`
	UpdatedAt            uint64  `json:"updated_at"`
	ParentInstanceID     string  `json:"parent_instance_id,omitempty"`
}

// ExecutionInfo describes one execution. CompletedAt is nil until a status is set.
type ExecutionInfo struct {
	ExecutionID uint64  `json:"execution_id"`
	Status      Status  `json:"status"`
	Output      *string `json:"output"`
	StartedAt   uint64  `json:"started_at"`
	CompletedAt *uint64 `json:"completed_at"`
	EventCount  uint64  `json:"event_count"`
	// PinnedVersion is an extension: the execution's pin, or nil if it is unpinned or not reported.
	PinnedVersion *Version `json:"pinned_version,omitempty"`
}

// SystemMetrics holds totals for a store.
type SystemMetrics struct {
	TotalInstances     uint64 `json:"total_instances"`
	TotalExecutions    uint64 `json:"total_executions"`
	RunningInstances   uint64 `json:"running_instances"`
	CompletedInstances uint64 `json:"completed_instances"`
	FailedInstances    uint64 `json:"failed_instances"`
	TotalEvents        uint64 `json:"total_events"`
}

// QueueDepths holds the number of unlocked messages in each queue. There is no timer queue any more, so its depth is 0.
type QueueDepths struct {
	OrchestratorQueue uint64 `json:"orchestrator_queue"`
	WorkerQueue       uint64 `json:"worker_queue"`
	TimerQueue        uint64 `json:"timer_queue"`
}

// DefaultBulkLimit is how many roots a bulk call processes if its filter sets no limit.
const DefaultBulkLimit = 1000

// InstanceFilter selects instances that meet all of its conditions. A nil InstanceIDs matches any instance, and an
// empty one matches none.
type InstanceFilter struct {
	InstanceIDs     []string `json:"instance_ids" form:"nullable"`
	CompletedBefore *uint64  `json:"completed_before"`
	Limit           *uint64  `json:"limit"`
}

// PruneOptions selects executions that meet all of its conditions.
type PruneOptions struct {
	KeepLast        *uint64 `json:"keep_last"`
	CompletedBefore *uint64 `json:"completed_before"`
}

// DeleteInstanceResult counts what a deletion removed.
type DeleteInstanceResult struct {
	InstancesDeleted     uint64 `json:"instances_deleted"`
	ExecutionsDeleted    uint64 `json:"executions_deleted"`
	EventsDeleted        uint64 `json:"events_deleted"`
	QueueMessagesDeleted uint64 `json:"queue_messages_deleted"`
}

// PruneResult counts what a prune removed.
type PruneResult struct {
	InstancesProcessed uint64 `json:"instances_processed"`
	ExecutionsDeleted  uint64 `json:"executions_deleted"`
	EventsDeleted      uint64 `json:"events_deleted"`
}

// InstanceTree is an instance with all its descendants, the root included.
type InstanceTree struct {
	RootID string   `json:"root_id"`
	AllIDs []string `json:"all_ids"`
}

// SystemStats holds the sizes of an instance's current execution.
type SystemStats struct {
	HistoryEventCount uint64 `json:"history_event_count"`
	HistorySizeBytes  uint64 `json:"history_size_bytes"`
	QueuePendingCount uint64 `json:"queue_pending_count"`
	KVUserKeyCount    uint64 `json:"kv_user_key_count"`
	KVTotalValueBytes uint64 `json:"kv_total_value_bytes"`
}
