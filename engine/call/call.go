package call

import (
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
)

// Call represents a provider call as a value. The set is closed. For each method of engine.Provider and
// engine.ProviderAdmin, it has one struct, which holds the method's arguments. It also has one struct for each direct
// change by a test to a store (see Plant).
type Call interface{ method() method }

// Method returns the contract's name for c's method, such as "fetch_orchestration_item".
func Method(c Call) string { return c.method().name }

// Kind returns the kind of c that observations record. It is observe.CallAdmin for every management call, and
// observe.CallNone for direct changes to the store.
func Kind(c Call) observe.CallKind { return c.method().kind }

// method holds the properties common to all calls of a type.
type method struct {
	name string
	kind observe.CallKind
}

// provider returns the method for a call of engine.Provider.
func provider(k observe.CallKind) method { return method{k.String(), k} }

// admin returns the method for a call of engine.ProviderAdmin.
func admin(name string) method { return method{name, observe.CallAdmin} }

// The calls of engine.Provider. docs/oracle-protocol.md defines their JSON form, in which durations are whole milliseconds.
type (
	// EnqueueForOrchestrator appends one message.
	EnqueueForOrchestrator struct {
		Item  engine.WorkItem `json:"item"`
		Delay time.Duration   `json:"delay_ms,omitempty"`
	}
	// FetchOrchestrationItem requests an instance that has work. A nil Filter means no filter.
	FetchOrchestrationItem struct {
		LockTimeout time.Duration            `json:"lock_timeout_ms"`
		PollTimeout time.Duration            `json:"poll_timeout_ms,omitempty"`
		Filter      *engine.CapabilityFilter `json:"filter,omitempty"`
	}
	// AckOrchestrationItem commits a turn.
	AckOrchestrationItem engine.OrchestrationAck
	// AbandonOrchestrationItem releases an instance without committing a turn.
	AbandonOrchestrationItem struct {
		LockToken     string        `json:"lock_token"`
		Delay         time.Duration `json:"delay_ms,omitempty"`
		IgnoreAttempt bool          `json:"ignore_attempt,omitempty"`
	}
	// RenewOrchestrationItemLock extends an instance lock.
	RenewOrchestrationItemLock struct {
		LockToken string        `json:"lock_token"`
		ExtendFor time.Duration `json:"extend_for_ms"`
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
	// AppendWithExecution adds events to one execution's history.
	AppendWithExecution struct {
		Instance    string         `json:"instance"`
		ExecutionID uint64         `json:"execution_id"`
		Events      []engine.Event `json:"events"`
	}
	// EnqueueForWorker appends one activity.
	EnqueueForWorker struct {
		Item engine.WorkItem `json:"item"`
	}
	// FetchWorkItem requests an activity. A nil Session restricts it to activities that belong to no session.
	FetchWorkItem struct {
		LockTimeout time.Duration              `json:"lock_timeout_ms"`
		PollTimeout time.Duration              `json:"poll_timeout_ms,omitempty"`
		Session     *engine.SessionFetchConfig `json:"session,omitempty"`
		Tags        engine.TagFilter           `json:"tag_filter"`
	}
	// AckWorkItem completes an activity. A nil Completion enqueues nothing.
	AckWorkItem struct {
		LockToken  string          `json:"lock_token"`
		Completion engine.WorkItem `json:"completion,omitempty"`
	}
	// RenewWorkItemLock extends an activity's lock.
	RenewWorkItemLock struct {
		LockToken string        `json:"lock_token"`
		ExtendFor time.Duration `json:"extend_for_ms"`
	}
	// AbandonWorkItem releases an activity without completing it.
	AbandonWorkItem struct {
		LockToken     string        `json:"lock_token"`
		Delay         time.Duration `json:"delay_ms,omitempty"`
		IgnoreAttempt bool          `json:"ignore_attempt,omitempty"`
	}
	// RenewSessionLock extends the owners' sessions that are live and not idle.
	RenewSessionLock struct {
		Owners      []string      `json:"owner_ids"`
		ExtendFor   time.Duration `json:"extend_for_ms"`
		IdleTimeout time.Duration `json:"idle_timeout_ms"`
	}
	// CleanupOrphanedSessions deletes expired sessions without activities.
	CleanupOrphanedSessions struct {
		IdleTimeout time.Duration `json:"idle_timeout_ms"`
	}
	// GetCustomStatus requests a custom status newer than LastSeen.
	GetCustomStatus struct {
		Instance string `json:"instance"`
		LastSeen uint64 `json:"last_seen_version"`
	}
	// GetKVValue reads one key of an instance.
	GetKVValue struct {
		Instance string `json:"instance"`
		Key      string `json:"key"`
	}
	// GetKVAllValues reads all keys of an instance.
	GetKVAllValues struct {
		Instance string `json:"instance"`
	}
	// GetInstanceStats requests the sizes of an instance's current execution.
	GetInstanceStats struct {
		Instance string `json:"instance"`
	}
)

func (EnqueueForOrchestrator) method() method { return provider(observe.CallEnqueueForOrchestrator) }
func (FetchOrchestrationItem) method() method { return provider(observe.CallFetchOrchestrationItem) }
func (AckOrchestrationItem) method() method   { return provider(observe.CallAckOrchestrationItem) }
func (AbandonOrchestrationItem) method() method {
	return provider(observe.CallAbandonOrchestrationItem)
}
func (RenewOrchestrationItemLock) method() method {
	return provider(observe.CallRenewOrchestrationItemLock)
}
func (Read) method() method                    { return provider(observe.CallRead) }
func (ReadWithExecution) method() method       { return provider(observe.CallReadWithExecution) }
func (AppendWithExecution) method() method     { return provider(observe.CallAppendWithExecution) }
func (EnqueueForWorker) method() method        { return provider(observe.CallEnqueueForWorker) }
func (FetchWorkItem) method() method           { return provider(observe.CallFetchWorkItem) }
func (AckWorkItem) method() method             { return provider(observe.CallAckWorkItem) }
func (RenewWorkItemLock) method() method       { return provider(observe.CallRenewWorkItemLock) }
func (AbandonWorkItem) method() method         { return provider(observe.CallAbandonWorkItem) }
func (RenewSessionLock) method() method        { return provider(observe.CallRenewSessionLock) }
func (CleanupOrphanedSessions) method() method { return provider(observe.CallCleanupOrphanedSessions) }
func (GetCustomStatus) method() method         { return provider(observe.CallGetCustomStatus) }
func (GetKVValue) method() method              { return provider(observe.CallGetKVValue) }
func (GetKVAllValues) method() method          { return provider(observe.CallGetKVAllValues) }
func (GetInstanceStats) method() method        { return provider(observe.CallGetInstanceStats) }
