package observe

import (
	"time"

	"github.com/durosim/durosim/engine"
)

// Sink receives observations. An observation is valid only during the call, so a sink must copy any observation that it
// retains.
type Sink interface {
	Observe(o *Observation)
}

// Observation describes one action of a store. The store's mutation primitives emit it together with the change, so not
// even a bug in the code above them can hide the change (docs/architecture.md#observations).
//
// Instances, messages and nodes have dense numbers. An InstanceNamed observation assigns an instance's number before it
// is first used. Messages are numbered from 1 across both queues, in insertion order. The creator of the handles
// chooses the node numbers. Call is the number of the current call, or 0 outside a call. A field is zero unless the
// comment on the observation's Kind lists it.
type Observation struct {
	Kind Kind
	Call uint64
	AtMs int64

	Queue     Queue
	CallKind  CallKind
	Outcome   Outcome
	Reason    RemoveReason
	Cached    bool
	Undo      bool // the change reverts an earlier change made by the same call
	Caller    Caller
	Instance  InstanceNo
	Execution uint64
	EventID   uint64
	Message   MessageNo
	Messages  []MessageNo
	Token     string
	OldCount  uint32
	NewCount  uint32
	UntilMs   int64
	Name      string
	Bytes     []byte
	Status    engine.Status
	Pin       *engine.Version
	Request   *CallRequest
	Item      engine.WorkItem
	Err       *engine.ProviderError
	Fetched   *engine.FetchedOrchestration
	Work      *engine.FetchedWork
	// Value, Table, Version and ActivityMs are used for the key-value store, sessions and the custom status.
	Value      *string
	Table      KVTable
	Version    uint64
	ActivityMs int64
}

// InstanceNo is an instance's dense number in a store, starting at 1.
type InstanceNo uint32

// MessageNo is a queue row's number in a store, starting at 1.
type MessageNo uint64

// Caller identifies the maker of a call by node number and incarnation. Nodes are numbered from 1; 0 is a client or
// another outsider.
type Caller struct {
	Node        uint32
	Incarnation uint32
}

// Queue identifies one of the two queues.
type Queue uint8

// The queues.
const (
	QueueNone Queue = iota
	QueueOrchestrator
	QueueWorker
)

// KVTable identifies one of the two tables of the key-value store (docs/contract/provider.md#p6.9).
type KVTable uint8

// The tables.
const (
	KVNone  KVTable = iota
	KVStore         // the merged state as of the last execution boundary
	KVDelta         // changes since then; a row without a value is a tombstone
)

// Outcome is the outcome of a call or a decoding.
type Outcome uint8

// The outcomes.
const (
	OutcomeNone      Outcome = iota
	OutcomeOK                // the call succeeded and, if it was a fetch, found work
	OutcomeNothing           // a fetch found nothing
	OutcomeRetryable         // a retryable error
	OutcomePermanent         // a permanent error, or an undecodable event or message
)

// RemoveReason is the reason for removing a queue row.
type RemoveReason uint8

// The reasons.
const (
	RemovedNone      RemoveReason = iota
	RemovedAcked                  // consumed by an ack whose token had marked the row
	RemovedCancelled              // listed in an ack's cancelled activities
	RemovedOrphan                 // a queue message for an instance that was never started
	RemovedDeleted                // the instance was deleted
	RemovedUndone                 // the insert was reverted
)

// CallKind identifies the method called.
type CallKind uint8

// The calls, in the order of the interfaces' methods. CallAdmin stands for all methods of ProviderAdmin.
const (
	CallNone CallKind = iota
	CallEnqueueForOrchestrator
	CallFetchOrchestrationItem
	CallAckOrchestrationItem
	CallAbandonOrchestrationItem
	CallRenewOrchestrationItemLock
	CallRead
	CallReadWithExecution
	CallAppendWithExecution
	CallEnqueueForWorker
	CallFetchWorkItem
	CallAckWorkItem
	CallRenewWorkItemLock
	CallAbandonWorkItem
	CallRenewSessionLock
	CallCleanupOrphanedSessions
	CallGetCustomStatus
	CallGetKVValue
	CallGetKVAllValues
	CallGetInstanceStats
	CallAdmin
	callKinds
)

var callNames = [callKinds]string{
	"none", "enqueue_for_orchestrator", "fetch_orchestration_item", "ack_orchestration_item", "abandon_orchestration_item",
	"renew_orchestration_item_lock", "read", "read_with_execution", "append_with_execution", "enqueue_for_worker",
	"fetch_work_item", "ack_work_item", "renew_work_item_lock", "abandon_work_item", "renew_session_lock",
	"cleanup_orphaned_sessions", "get_custom_status", "get_kv_value", "get_kv_all_values", "get_instance_stats", "admin",
}

// String returns the contract's name for the method.
func (k CallKind) String() string {
	if k < callKinds {
		return callNames[k]
	}
	return "unknown call"
}

// CallRequest holds the arguments of a call that matter to checkers. It is not the call itself: package call defines
// the calls and takes its kinds from here. A store reuses a single CallRequest for all calls. Using a call.Call instead
// would allocate one per call. That would cost a sixth more bytes and a third more allocations per step
// (TestRoomOfASeed: 277 and 2.06 instead of 238 and 1.54), and one percent more instructions per seed.
type CallRequest struct {
	Filter        *engine.CapabilityFilter
	LockTimeout   time.Duration
	Delay         time.Duration
	IgnoreAttempt bool
	Token         string
	Session       *engine.SessionFetchConfig
	Tags          engine.TagFilter
	Ack           *engine.OrchestrationAck
	Item          engine.WorkItem
	// Owners and IdleTimeout are arguments of session renewals and cleanups. LockTimeout is a renewal's extension.
	Owners      []string
	IdleTimeout time.Duration
	// Admin is the contract's name for a ProviderAdmin method. Reads made by clients set Instance and Key, a deletion
	// sets Instance and Force, and pruning a single instance sets Instance.
	Admin    string
	Force    bool
	Instance string
	Key      string
}

// Kind is the kind of action that an Observation reports.
type Kind uint8

// The kinds of observations. Each comment lists the fields that are set in addition to Kind, Call and AtMs.
const (
	None Kind = iota
	// InstanceNamed assigns a number to an instance. It sets Instance and Name.
	InstanceNamed
	// CallBegin sets CallKind, Caller and Request.
	CallBegin
	// CallEnd sets CallKind, Caller, Outcome and Err. A fetch that found work also sets Messages (the delivery), Token,
	// NewCount (the returned attempt count), Fetched or Work, and Instance.
	CallEnd
	// LockTaken sets Queue, Instance, Message (for worker rows), Token and UntilMs.
	LockTaken
	// LockExtended sets the same fields as LockTaken.
	LockExtended
	// LockReleased sets Queue, Instance, Message (for worker rows) and Token.
	LockReleased
	// MessageMarked reports that a message has joined a token's batch. It sets Message, Instance and Token.
	MessageMarked
	// CountChanged sets Queue, Message, Instance, OldCount and NewCount.
	CountChanged
	// EventDecoded sets Instance, Execution, EventID, Outcome (OK or Permanent) and Cached. Events with cached
	// decodings share one observation per read, which names the last of them. A repeated error has its own observation.
	EventDecoded
	// MessageDecoded sets Queue, Message, Instance, Outcome and Cached.
	MessageDecoded
	// RowInserted sets Queue, Message, Instance, Item (nil if the row was stored only as bytes), Bytes and UntilMs (the
	// time at which the row becomes visible). For an activity, it also sets Execution and EventID, which identify the
	// activity. OldCount and NewCount are 0.
	RowInserted
	// RowRemoved sets Queue, Message, Instance and Reason.
	RowRemoved
	// RowRestored reverts a RowRemoved of the same call. It sets Queue, Message and Instance.
	RowRestored
	// RowDelayed reports that a row will not be visible before UntilMs. It sets Queue, Message, Instance and UntilMs.
	RowDelayed
	// InstanceCreated sets Instance, Name (the orchestration), Token (its version) and Execution. Item is nil.
	InstanceCreated
	// InstanceRemoved reports the removal of the instances row, including the parent and custom status. It sets
	// Instance.
	InstanceRemoved
	// ExecutionCreated sets Instance, Execution and Status.
	ExecutionCreated
	// ExecutionRemoved sets Instance and Execution. A deletion or pruning also removes the execution's pin; an Undo
	// keeps it.
	ExecutionRemoved
	// EventAppended sets Instance, Execution, EventID and Bytes.
	EventAppended
	// EventRemoved reports a deletion, a pruning or an Undo. It sets Instance, Execution and EventID.
	EventRemoved
	// StatusSet sets Instance, Execution, Status and Name (the output). An Undo restores the previous status.
	StatusSet
	// PinSet sets Instance, Execution and Pin. A nil Pin means that the pin was removed.
	PinSet
	// PointerSet reports a change of the current execution. It sets Instance and Execution.
	PointerSet
	// ParentSet sets Instance, Name (the parent), Execution and EventID.
	ParentSet
	// KVSet reports that a row was written to a key-value table. It sets Instance, Table, Name (the key), Value (nil
	// for a tombstone in the delta) and UntilMs (the time of the row's last update).
	KVSet
	// SessionSet sets Name (the session), Token (its owner), UntilMs (the session's expiry) and ActivityMs (the time of
	// its last activity).
	SessionSet
	// CustomStatusSet sets Instance, Value (nil for a reset) and Version.
	CustomStatusSet
	// Damaged reports that a fault changed stored bytes. It sets Bytes and either Message or Instance, Execution and
	// EventID.
	Damaged
	// KVRemoved sets Instance, Table and Name (the key).
	KVRemoved
	// SessionRemoved sets Name (the session).
	SessionRemoved
	obsKinds
)

var obsNames = [obsKinds]string{
	"none", "instance named", "call begins", "call ends", "lock taken", "lock extended", "lock released", "message marked",
	"count changed", "event decoded", "message decoded", "row inserted", "row removed", "row restored", "row delayed",
	"instance created", "instance removed", "execution created", "execution removed", "event appended", "event removed",
	"status set", "pin set", "pointer set", "parent set", "kv set", "session set", "custom status set", "damaged",
	"kv removed", "session removed",
}

// String returns the kind's name.
func (k Kind) String() string {
	if k < obsKinds {
		return obsNames[k]
	}
	return "unknown observation"
}
