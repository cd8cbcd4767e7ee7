package engine

import (
	"context"
	"time"
)

// Provider stores histories and hands out work. It makes no orchestration decisions and creates neither events nor
// execution ids. docs/contract/provider.md#p5 states the rules; this is their Go form.
//
// Ownership: a provider keeps none of its caller's slices or maps. The caller may keep what a provider returns but must
// not change it, since providers share decoded events. Every method may be called concurrently, and fails only with a
// *ProviderError. A failed call changes nothing, unless its documentation says otherwise. Times inside a provider are
// whole milliseconds; a message is visible when visible_at <= now, and a lock is live while locked_until > now.
type Provider interface {
	// Name and Version identify the implementation.
	Name() string
	Version() string
	// Admin returns the management surface, nil if the provider has none.
	Admin() ProviderAdmin

	// EnqueueForOrchestrator appends one message, visible after delay; it never creates an instance and is not
	// idempotent. An ActivityExecuteItem is refused with a permanent error. The FireAtMs of a TimerFiredItem is ignored.
	EnqueueForOrchestrator(ctx context.Context, item WorkItem, delay time.Duration) error

	// FetchOrchestrationItem locks one instance that the filter admits and that has a visible message and no live
	// lock, and returns all its visible messages; nil, nil is "nothing". The filter is applied before anything is
	// locked, counted or decoded. Locking, marking and counting are one step, which stands even when the history
	// cannot be decoded; the item's HistoryError then reports it. If it returns an error or nothing, it holds no lock.
	// pollTimeout is an upper bound on how long the call may wait for work; 0 means do not wait.
	FetchOrchestrationItem(ctx context.Context, lockTimeout, pollTimeout time.Duration, filter *CapabilityFilter) (*FetchedOrchestration, error)

	// AckOrchestrationItem commits a turn: all of the ack's effects, in the order of docs/contract/provider.md#p5.3,
	// or none. It needs a live token; an unknown or expired one is a permanent error that contains "Invalid lock
	// token". It reads no stored event.
	AckOrchestrationItem(ctx context.Context, ack OrchestrationAck) error

	// AbandonOrchestrationItem releases the lock and makes the batch visible again, at once or after delay; with
	// ignoreAttempt the counts of the batch's messages go down by one, not below 0. A token that holds no lock is a
	// permanent error.
	AbandonOrchestrationItem(ctx context.Context, token string, delay time.Duration, ignoreAttempt bool) error

	// RenewOrchestrationItemLock sets a live lock's end to now + extendFor. A token without a live lock is a permanent
	// error.
	RenewOrchestrationItemLock(ctx context.Context, token string, extendFor time.Duration) error

	// Read returns the events of the latest execution in ascending order, none for an unknown instance. An
	// undecodable event is a permanent error.
	Read(ctx context.Context, instance string) ([]Event, error)
	// ReadWithExecution returns the events of one execution, as Read does.
	ReadWithExecution(ctx context.Context, instance string, executionID uint64) ([]Event, error)
	// AppendWithExecution adds events with their given ids, all or none; a duplicate is refused. It creates no
	// instance or execution row, and derives no other state from the events.
	AppendWithExecution(ctx context.Context, instance string, executionID uint64, events []Event) error

	// EnqueueForWorker appends one activity, visible now. It is not idempotent.
	EnqueueForWorker(ctx context.Context, item WorkItem) error
	// FetchWorkItem locks one visible activity that tags and session allow, the oldest first; nil, nil is "nothing".
	// session nil takes only activities without a session.
	FetchWorkItem(ctx context.Context, lockTimeout, pollTimeout time.Duration, session *SessionFetchConfig, tags TagFilter) (*FetchedWork, error)
	// AckWorkItem deletes the activity and enqueues the completion, if one is given, as one step. It needs a live
	// token; any other is a permanent error. It accepts only activity completions.
	AckWorkItem(ctx context.Context, token string, completion WorkItem) error
	// RenewWorkItemLock sets a live lock's end to now + extendFor. A permanent error tells the worker that it lost the
	// activity.
	RenewWorkItemLock(ctx context.Context, token string, extendFor time.Duration) error
	// AbandonWorkItem makes the activity visible again, at once or after delay, and with ignoreAttempt lowers its
	// count by one, not below 0. An unknown or superseded token is a permanent error.
	AbandonWorkItem(ctx context.Context, token string, delay time.Duration, ignoreAttempt bool) error

	// RenewSessionLock sets the end of every session of the owners that is live and not idle to now + extendFor, and returns
	// their number. A session becomes idle idleTimeout after the last fetch, ack or renewal of one of its activities.
	RenewSessionLock(ctx context.Context, owners []string, extendFor, idleTimeout time.Duration) (int, error)
	// CleanupOrphanedSessions deletes the expired sessions, of any owner, whose id no activity carries, and returns their
	// number. Providers may ignore idleTimeout.
	CleanupOrphanedSessions(ctx context.Context, idleTimeout time.Duration) (int, error)

	// GetCustomStatus returns the status and its version if the version is above lastSeen, else nil.
	GetCustomStatus(ctx context.Context, instance string, lastSeen uint64) (*CustomStatus, error)
	// GetKVValue returns the merged view of one key, nil if there is none.
	GetKVValue(ctx context.Context, instance, key string) (*string, error)
	// GetKVAllValues returns the merged view of all keys, sorted by key.
	GetKVAllValues(ctx context.Context, instance string) ([]KVPair, error)
	// GetInstanceStats returns the sizes of the current execution, nil for an unknown instance.
	GetInstanceStats(ctx context.Context, instance string) (*SystemStats, error)
}

// ProviderAdmin is the management surface (docs/contract/provider.md#p7). "Not found" errors are permanent and
// contain those words.
type ProviderAdmin interface {
	// ListInstances returns the ids of all instances that an ack created.
	ListInstances(ctx context.Context) ([]string, error)
	// ListInstancesByStatus returns the ids of the instances whose current execution has exactly that status.
	ListInstancesByStatus(ctx context.Context, status Status) ([]string, error)
	// ListExecutions returns the execution ids in ascending order, none for an unknown instance.
	ListExecutions(ctx context.Context, instance string) ([]uint64, error)
	// ReadHistoryWithExecutionID returns one execution's events; an undecodable one is a permanent error.
	ReadHistoryWithExecutionID(ctx context.Context, instance string, executionID uint64) ([]Event, error)
	// ReadHistory returns the latest execution's events.
	ReadHistory(ctx context.Context, instance string) ([]Event, error)
	// LatestExecutionID returns the largest execution id, 1 for an unknown instance.
	LatestExecutionID(ctx context.Context, instance string) (uint64, error)
	// GetInstanceInfo returns an instance joined with its current execution, or a "not found" error.
	GetInstanceInfo(ctx context.Context, instance string) (*InstanceInfo, error)
	// GetExecutionInfo returns one execution, or a "not found" error.
	GetExecutionInfo(ctx context.Context, instance string, executionID uint64) (*ExecutionInfo, error)
	// GetSystemMetrics returns totals over the store.
	GetSystemMetrics(ctx context.Context) (*SystemMetrics, error)
	// GetQueueDepths returns the number of unlocked messages in each queue, including delayed ones.
	GetQueueDepths(ctx context.Context) (*QueueDepths, error)
	// ListChildren returns the direct children's ids.
	ListChildren(ctx context.Context, instance string) ([]string, error)
	// GetParentID returns the parent's id, empty for a root; an unknown instance is a "not found" error.
	GetParentID(ctx context.Context, instance string) (string, error)
	// GetInstanceTree returns the instance and all its descendants, without checking that it exists.
	GetInstanceTree(ctx context.Context, root string) (*InstanceTree, error)
	// DeleteInstance removes a root and its tree with histories, messages, activities, locks and keys; sessions stay. It
	// refuses a running instance unless force is set, and always refuses a child.
	DeleteInstance(ctx context.Context, instance string, force bool) (*DeleteInstanceResult, error)
	// DeleteInstancesAtomic removes exactly the listed instances, or none; it refuses to orphan a child.
	DeleteInstancesAtomic(ctx context.Context, instances []string, force bool) (*DeleteInstanceResult, error)
	// DeleteInstanceBulk removes the trees of the ended roots that match the filter.
	DeleteInstanceBulk(ctx context.Context, filter InstanceFilter) (*DeleteInstanceResult, error)
	// PruneExecutions removes old executions with their histories, never the current or a running one.
	PruneExecutions(ctx context.Context, instance string, options PruneOptions) (*PruneResult, error)
	// PruneExecutionsBulk prunes every instance that matches the filter.
	PruneExecutionsBulk(ctx context.Context, filter InstanceFilter, options PruneOptions) (*PruneResult, error)
}

// OrchestrationItem is an instance's work for one turn. Messages has at least one entry, in enqueue order.
//
// When HistoryError is set, a stored event or a message of the batch could not be decoded: History is empty, Messages
// holds the ones that could be decoded, and the lock is held and the attempt counted as usual.
//
// KVSnapshot is the key-value store as of the last merge, at the end of the previous execution, without later changes.
type OrchestrationItem struct {
	Instance          string     `json:"instance"`
	OrchestrationName string     `json:"orchestration_name"`
	ExecutionID       uint64     `json:"execution_id"`
	Version           string     `json:"version"`
	History           []Event    `json:"history"`
	Messages          []WorkItem `json:"messages"`
	HistoryError      string     `json:"history_error,omitempty"`
	KVSnapshot        []KVEntry  `json:"kv_snapshot,omitempty"`
	// CurrentStatus and Parent are extensions (docs/contract-decisions.md#row-2) that a provider fills from its
	// metadata if it stores them: the status of the current execution, empty if the provider does not report it, and the
	// link to the parent, nil for a root or if the provider does not report it.
	CurrentStatus Status      `json:"current_status,omitempty"`
	Parent        *ParentLink `json:"parent,omitempty"`
	// Pin is also an extension: the current execution's pin as the provider stores it, nil if unpinned or not reported.
	Pin *Version `json:"pinned_duroxide_version,omitempty"`
}

// ParentLink names the schedule in a parent's history that an instance answers.
type ParentLink struct {
	Instance    string `json:"instance"`
	ExecutionID uint64 `json:"execution_id"`
	EventID     uint64 `json:"event_id"`
}

// FetchedOrchestration is a locked item. AttemptCount is the maximum over the batch, this delivery included.
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

// OrchestrationAck holds everything that a turn commits.
type OrchestrationAck struct {
	LockToken   string `json:"lock_token"`
	ExecutionID uint64 `json:"execution_id"`
	// HistoryDelta is appended under ExecutionID.
	HistoryDelta []Event `json:"history_delta"`
	// WorkerItems and OrchestratorItems are enqueued; timers become visible at their FireAtMs.
	WorkerItems       []WorkItem        `json:"worker_items"`
	OrchestratorItems []WorkItem        `json:"orchestrator_items"`
	Metadata          ExecutionMetadata `json:"metadata"`
	// CancelledActivities are removed from the worker queue, locked or not, after WorkerItems are inserted.
	CancelledActivities []ScheduledActivityIdentifier `json:"cancelled_activities"`
}

// Status is an execution's status. Providers store it as a free string; these are the known ones.
type Status string

// The known statuses.
const (
	StatusRunning        Status = "Running"
	StatusCompleted      Status = "Completed"
	StatusFailed         Status = "Failed"
	StatusContinuedAsNew Status = "ContinuedAsNew"
)

// Terminal reports whether an execution of this status has ended.
func (s Status) Terminal() bool {
	return s == StatusCompleted || s == StatusFailed || s == StatusContinuedAsNew
}

// ExecutionMetadata is the metadata that a turn passes to the provider, which therefore need not inspect events. A zero
// field leaves the stored value unchanged. Output counts only together with Status.
type ExecutionMetadata struct {
	Status               Status  `json:"status,omitempty"`
	Output               *string `json:"output,omitempty"`
	OrchestrationName    string  `json:"orchestration_name,omitempty"`
	OrchestrationVersion string  `json:"orchestration_version,omitempty"`
	ParentInstanceID     string  `json:"parent_instance_id,omitempty"`
	// ParentExecutionID and ParentEventID complete the parent link (an extension, docs/contract-decisions.md#row-2).
	ParentExecutionID uint64 `json:"parent_execution_id,omitempty"`
	ParentEventID     uint64 `json:"parent_event_id,omitempty"`
	// PinnedVersion is set by an execution's first turn; a provider that receives one overwrites the stored pin.
	PinnedVersion *Version `json:"pinned_duroxide_version,omitempty"`
}

// ScheduledActivityIdentifier names an activity: ActivityID is the event id of its schedule.
type ScheduledActivityIdentifier struct {
	Instance    string `json:"instance"`
	ExecutionID uint64 `json:"execution_id"`
	ActivityID  uint64 `json:"activity_id"`
}

// SessionFetchConfig lets a work fetch take session activities for an owner.
type SessionFetchConfig struct {
	OwnerID     string        `json:"owner_id"`
	LockTimeout time.Duration `json:"lock_timeout_ms"`
}

// CustomStatus is an instance's custom status. Status nil means that it was reset.
type CustomStatus struct {
	Status  *string `json:"status"`
	Version uint64  `json:"version"`
}

// KVEntry is a key with its value and the time of its last update in milliseconds. Slices of entries are sorted by key.
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

// InstanceInfo describes an instance and its current execution. Times are milliseconds, 0 if the provider does not
// store them.
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
	// PinnedVersion is an extension: the execution's pin, nil if unpinned or not reported.
	PinnedVersion *Version `json:"pinned_version,omitempty"`
}

// SystemMetrics are totals over a store.
type SystemMetrics struct {
	TotalInstances     uint64 `json:"total_instances"`
	TotalExecutions    uint64 `json:"total_executions"`
	RunningInstances   uint64 `json:"running_instances"`
	CompletedInstances uint64 `json:"completed_instances"`
	FailedInstances    uint64 `json:"failed_instances"`
	TotalEvents        uint64 `json:"total_events"`
}

// QueueDepths are numbers of unlocked messages. The timer queue no longer exists; its depth is 0.
type QueueDepths struct {
	OrchestratorQueue uint64 `json:"orchestrator_queue"`
	WorkerQueue       uint64 `json:"worker_queue"`
	TimerQueue        uint64 `json:"timer_queue"`
}

// DefaultBulkLimit is the number of roots that a bulk call handles when its filter sets no limit.
const DefaultBulkLimit = 1000

// InstanceFilter selects instances; the conditions are ANDed. InstanceIDs nil means any, empty means none.
type InstanceFilter struct {
	InstanceIDs     []string `json:"instance_ids" form:"nullable"`
	CompletedBefore *uint64  `json:"completed_before"`
	Limit           *uint64  `json:"limit"`
}

// PruneOptions selects executions to prune; the conditions are ANDed.
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
