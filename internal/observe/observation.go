package observe

import (
	"time"

	"github.com/durosim/durosim/engine"
)

// Sink receives observations. An observation is valid only during the call; a sink that keeps one must copy it.
type Sink interface {
	Observe(o *Observation)
}

// Observation describes one action of a store. The store's mutation primitives emit it with the change, so that no code
// above them can hide the change, not even buggy code (docs/architecture.md#observations).
//
// Instances, messages and nodes have dense numbers. The InstanceNamed before an instance's first use gives its number.
// Messages are numbered across both queues from 1, in the order of insertion. The creator of the handles numbers the
// nodes. Call is the number of the call that the observation belongs to, 0 outside a call. Fields that the comment of a
// kind does not name are zero.
type Observation struct {
	Kind Kind
	Call uint64
	AtMs int64

	Queue     Queue
	CallKind  CallKind
	Outcome   Outcome
	Reason    RemoveReason
	Cached    bool
	Undo      bool // the change reverts an earlier change of the same call
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
	// Value, Table, Version and ActivityMs belong to the key-value store, sessions and the custom status.
	Value      *string
	Table      KVTable
	Version    uint64
	ActivityMs int64
}

// InstanceNo is the dense number of an instance in a store, from 1.
type InstanceNo uint32

// MessageNo is the number of a queue row in a store, from 1.
type MessageNo uint64

// Caller identifies who makes a call: a node's number (from 1; 0 is a client or another outsider) and its incarnation.
type Caller struct {
	Node        uint32
	Incarnation uint32
}

// Queue is one of the two queues.
type Queue uint8

// The queues.
const (
	QueueNone Queue = iota
	QueueOrchestrator
	QueueWorker
)

// KVTable is one of the two tables of the key-value store (docs/contract/provider.md#p6.9).
type KVTable uint8

// The tables.
const (
	KVNone  KVTable = iota
	KVStore         // the state merged at the last execution boundary
	KVDelta         // changes since then; a row without a value is a tombstone
)

// Outcome is the result of a call or of decoding.
type Outcome uint8

// The outcomes.
const (
	OutcomeNone      Outcome = iota
	OutcomeOK                // the call succeeded, or found what it looked for
	OutcomeNothing           // a fetch found nothing
	OutcomeRetryable         // a retryable error
	OutcomePermanent         // a permanent error, or an undecodable event or message
)

// RemoveReason is the reason for the removal of a queue row.
type RemoveReason uint8

// The reasons.
const (
	RemovedNone      RemoveReason = iota
	RemovedAcked                  // consumed by the ack of the token that marks it
	RemovedCancelled              // named by an ack's cancelled activities
	RemovedOrphan                 // a queue message of an instance that was never started
	RemovedDeleted                // its instance was deleted
	RemovedUndone                 // the insert was reverted
)

// CallKind names the method of a call.
type CallKind uint8

// The calls, in the order of the interfaces. CallAdmin stands for every method of ProviderAdmin.
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

// String returns the contract's name of the method.
func (k CallKind) String() string {
	if k < callKinds {
		return callNames[k]
	}
	return "unknown call"
}

// CallRequest holds the arguments of a call that checkers look at. Nobody can make a call from it; package call has the
// calls themselves and takes its kinds from here. A store has one CallRequest and fills it anew for each call. A
// call.Call in its place would be allocated for each call, which costs a sixth more bytes and a third more allocations
// per step (TestRoomOfASeed: 277 and 2.06 instead of 238 and 1.54), and one percent more instructions per seed.
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
	// Owners and IdleTimeout are arguments of session renewals and cleanups; a renewal's extension is in LockTimeout.
	Owners      []string
	IdleTimeout time.Duration
	// Admin is the contract's name of a ProviderAdmin method. Client reads set Instance and Key, a deletion sets
	// Instance and Force, and a prune of one instance sets Instance.
	Admin    string
	Force    bool
	Instance string
	Key      string
}

// Kind is the kind of an Observation.
type Kind uint8

// The kinds, with the fields that each sets in addition to Kind, Call and AtMs.
const (
	None Kind = iota
	// InstanceNamed gives an instance its number: Instance, Name.
	InstanceNamed
	// CallBegin: CallKind, Caller, Request.
	CallBegin
	// CallEnd: CallKind, Caller, Outcome, Err. A fetch that found work also sets Messages (the delivery), Token,
	// NewCount (the attempt count returned), Fetched or Work, and Instance. A session renewal or cleanup sets NewCount
	// to its count, a read of a custom status sets Value and Version, a read of a key sets Value.
	CallEnd
	// LockTaken: Queue, Instance, Message (worker rows), Token, UntilMs.
	LockTaken
	// LockExtended: the same fields as LockTaken.
	LockExtended
	// LockReleased: Queue, Instance, Message (worker rows), Token.
	LockReleased
	// MessageMarked: a message joins the batch of a token: Message, Instance, Token.
	MessageMarked
	// CountChanged: Queue, Message, Instance, OldCount, NewCount.
	CountChanged
	// EventDecoded: Instance, Execution, EventID, Outcome (OK or Permanent), Cached. All events that a read takes from
	// an earlier decoding share one observation, which names the last event; a repeated error has its own observation.
	EventDecoded
	// MessageDecoded: Queue, Message, Instance, Outcome, Cached.
	MessageDecoded
	// RowInserted: Queue, Message, Instance, Item (nil if it was stored as bytes only), Bytes, UntilMs (visible at);
	// Execution and EventID are an activity's identity; OldCount and NewCount are 0.
	RowInserted
	// RowRemoved: Queue, Message, Instance, Reason.
	RowRemoved
	// RowRestored reverts a RowRemoved of the same call: Queue, Message, Instance.
	RowRestored
	// RowDelayed: the row becomes visible at UntilMs: Queue, Message, Instance, UntilMs.
	RowDelayed
	// InstanceCreated: Instance, Name (orchestration), Token (its version), Item nil; Execution.
	InstanceCreated
	// InstanceRemoved: the instances row is gone, with its parent and custom status: Instance.
	InstanceRemoved
	// ExecutionCreated: Instance, Execution, Status.
	ExecutionCreated
	// ExecutionRemoved: by deletion or pruning, with its pin, or by Undo, which keeps the pin: Instance, Execution.
	ExecutionRemoved
	// EventAppended: Instance, Execution, EventID, Bytes.
	EventAppended
	// EventRemoved: by deletion, pruning, or Undo: Instance, Execution, EventID.
	EventRemoved
	// StatusSet: Instance, Execution, Status, Name (output); Undo restores the previous status.
	StatusSet
	// PinSet: Instance, Execution, Pin (nil removes it).
	PinSet
	// PointerSet: the current execution: Instance, Execution.
	PointerSet
	// ParentSet: Instance, Name (parent), Execution, EventID.
	ParentSet
	// KVSet: the store wrote a row of a key-value table: Instance, Table, Name (key), Value (nil is a tombstone of the
	// delta), UntilMs (the time of its last update, as int64).
	KVSet
	// SessionSet: Name (session), Token (owner), UntilMs (its end), ActivityMs (its last activity).
	SessionSet
	// CustomStatusSet: Instance, Value (nil is a reset), Version.
	CustomStatusSet
	// Damaged: a fault changed stored bytes: Instance, Execution and EventID, or Message; Bytes.
	Damaged
	// KVRemoved: Instance, Table, Name (key).
	KVRemoved
	// SessionRemoved: Name (session).
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
