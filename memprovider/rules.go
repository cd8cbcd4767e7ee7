package memprovider

import (
	"cmp"
	"math"

	"github.com/durosim/durosim/engine"
)

// Rules holds the rules that a store can get wrong. Default returns the correct rules; a planted bug replaces one
// field.
type Rules struct {
	// Admits reports whether filter f admits an instance with that pin.
	Admits func(f *engine.CapabilityFilter, pin *engine.Version) bool
	// Pin returns the pin to which the filter applies. It is either current, the current execution's pin, or first, the
	// first execution's pin. ended reports whether the current execution has completed or failed.
	Pin func(current, first *engine.Version, ended bool) *engine.Version
	// LooksPast makes a fetch try other instances if the oldest instance with a visible message cannot be delivered.
	LooksPast bool
	// LooksPastContextless makes a fetch try other instances if the oldest instance has neither a context nor a start.
	LooksPastContextless bool
	// SeesLock reports whether a fetch respects a live lock. takenMs is the time at which the lock was taken.
	SeesLock func(takenMs, now int64) bool
	// IsOrphan reports whether a fetch drops a visible batch for an instance without a context. onlyQueueMessages
	// reports whether the batch consists only of queue messages. startQueued reports whether the queue holds a start
	// for the instance, visible or not.
	IsOrphan func(onlyQueueMessages, startQueued bool) bool
	// FetchOrder is the order of the steps of an orchestration fetch.
	FetchOrder []FetchStep

	// BatchCount combines the attempt counts in a batch into the count that the fetch returns. It is called once per
	// message; told is the combined count so far, and next is the message's count.
	BatchCount func(told, next uint32) uint32
	// CountAfterDecodeError returns a message's attempt count after a delivery that could not be decoded.
	CountAfterDecodeError func(before, counted uint32) uint32
	// DeliversDecodeError makes a fetch return an undecodable delivery with HistoryError set. If false, the fetch fails
	// and keeps the lock.
	DeliversDecodeError bool
	// SkipsUndecodable makes a fetch omit events that it cannot decode.
	SkipsUndecodable bool

	// SwallowsDecodeError reports whether a fetch delivers an undecodable history as an empty one. hasRow reports
	// whether the instance has a row.
	SwallowsDecodeError func(hasRow bool) bool
	// UndecodableIsOrphan makes a fetch drop a batch as orphaned if the instance's history cannot be decoded and the
	// batch consists only of queue messages.
	UndecodableIsOrphan bool
	// ReadsSkipUndecodable makes history reads omit events that cannot be decoded. StatsSkip makes statistics omit
	// everything after the first such event.
	ReadsSkipUndecodable bool
	StatsSkipUndecodable bool
	// SkipsUndecodableMessage makes a fetch silently omit messages that it cannot decode.
	SkipsUndecodableMessage bool

	// AbandonTouches reports whether an abandon affects one of the instance's visible messages. marked reports whether
	// the abandon's token had marked the message.
	AbandonTouches func(marked bool) bool
	// AbandonDelay returns the actual delay of an abandon that requests a delay of delayMs.
	AbandonDelay func(delayMs int64) int64
	// CountAfterAbandon returns a message's attempt count after an abandon.
	CountAfterAbandon func(count uint32, ignoreAttempt bool) uint32
	// MayCommit reports whether the store accepts an ack whose token is in that state. It applies to both queues.
	MayCommit func(Holding) bool
	// MayRenew is the equivalent for a renewal, and MayAbandon for an abandon.
	MayRenew   func(Holding) bool
	MayAbandon func(Holding) bool
	// RenewedUntil returns the expiry of a renewed lock. endMs is the previous expiry. It applies to both queues.
	RenewedUntil func(now, endMs, extendMs int64) int64

	// LockFrom returns the time from which a lock's timeout runs if the call that takes or renews it was delayed in the
	// store. arrivedMs is the time of the call's arrival, and now is the time at which it takes effect.
	LockFrom func(arrivedMs, now int64) int64
	// CommitSees returns the holding that decides whether the store accepts a delayed ack. arrived is the holding when
	// the ack arrived, and now is the current one. RenewSees is the equivalent for a renewal. DeleteSees is the
	// equivalent for a deletion; its arguments report whether an instance was running when the deletion arrived, and
	// whether one is running now.
	CommitSees func(arrived, now Holding) Holding
	RenewSees  func(arrived, now Holding) Holding
	DeleteSees func(arrived, now bool) bool
	// RetriesClaim makes a delayed fetch choose another instance if, since its arrival, another fetch has taken the one
	// it chose.
	RetriesClaim bool

	// TakesTag reports whether tag filter f accepts an activity with that tag.
	TakesTag func(f engine.TagFilter, tag string) bool
	// TagStored returns the tag that the store saves for an activity scheduled with tag.
	TagStored func(tag string) string
	// WorkLooksPast makes a work fetch skip an activity that it cannot decode, and try the next one.
	WorkLooksPast bool
	// WorkLooksPastSessions makes a work fetch skip an activity whose session belongs to another owner, and try the
	// next one.
	WorkLooksPastSessions bool
	// PlainFetchTakesSessions lets a work fetch without a session config take session activities.
	PlainFetchTakesSessions bool
	// SessionOwned reports whether a session reserves its activities for its owner. exists reports whether the session
	// has a row, and untilMs is that row's expiry.
	SessionOwned func(exists bool, untilMs, now int64) bool
	// Claimed returns the claim that takes effect when a fetch makes claim made. The zero Claim changes nothing.
	Claimed func(made Claim) Claim
	// RenewsSession reports whether a renewal extends one of the owner's sessions.
	RenewsSession func(live, active bool) bool
	// CleansSession reports whether a cleanup deletes an expired session. hasWork reports whether any activity belongs
	// to the session.
	CleansSession func(hasWork bool) bool
	// WorkIsActivity makes an ack or renewal of a work item count as activity in its session.
	WorkIsActivity bool

	// VisibleAt returns the time at which a delayed message becomes visible.
	VisibleAt func(now, delayMs int64) int64
	// TimerVisibleAt returns the time at which a timer enqueued by an ack becomes visible.
	TimerVisibleAt func(now, fireAtMs int64) int64

	// AckOrder is the order of the steps of an orchestration ack.
	AckOrder []AckStep
	// AckIsAtomic makes the store validate an ack before its first step, and roll the ack back if a later step fails.
	AckIsAtomic bool
	// Cancels reports whether an ack that cancels id deletes that activity of the same instance. held reports whether a
	// worker holds the activity.
	Cancels func(execution, activity uint64, held bool, id engine.ScheduledActivityIdentifier) bool
	// Consumes reports whether an ack deletes a visible message. marked reports whether the ack's token had marked the
	// message.
	Consumes func(marked bool) bool
	// PinAfterAck returns an execution's pin after an ack. given is the pin in the ack, and old is the execution's
	// previous pin. If the ack creates a newer execution, previous is the pin of the execution before it.
	PinAfterAck func(given, old, previous *engine.Version) *engine.Version
	// PointerAfterAck returns the number of the current execution after an ack.
	PointerAfterAck func(current, acked uint64) uint64
	// CustomStatusVersion returns the custom status version after an ack with that number of updates. version is the
	// version before the ack.
	CustomStatusVersion func(version uint64, updates int) uint64
	// RestoresStatus makes a store keep the custom status of the instances that it holds at the start.
	RestoresStatus bool
	// MergesKV reports whether an ack merges the key-value delta into the store. status is the status that the ack
	// sets, or empty if it sets none.
	MergesKV func(status engine.Status) bool
	// KeepsTombstone makes the clearing of a key leave a tombstone in the delta. If false, the key's row in the delta
	// is merely deleted.
	KeepsTombstone bool
	// SnapshotsMerged makes a fetch return the merged view of the key-value store. If false, the fetch returns only the
	// store table.
	SnapshotsMerged bool
	// KVReadMs is the time, in milliseconds, between the two statements of a client's read. If a merge happens in
	// between, the read sees the store before the merge and the delta after it. A negative value makes both statements
	// read the same state.
	KVReadMs int64

	// DeleteSteps lists the steps of deleting an instance.
	DeleteSteps []DeleteStep
	// RefusesDelete reports whether the store rejects a deletion. force reports whether the deletion is forced, and
	// running whether any of the instances is running.
	RefusesDelete func(force, running bool) bool
	// RefusesOrphans makes the store reject a deletion that would leave a child without its parent.
	RefusesOrphans bool
	// Prunes reports whether a prune may remove an execution. current reports whether the execution is the current one,
	// and running whether it is running.
	Prunes func(current, running bool) bool
	// PrunesRunning makes a prune consider running instances, too.
	PrunesRunning bool
	// PruneTakesKV makes a prune empty the key-value store.
	PruneTakesKV bool

	// ChecksSchema makes a program look at the version of the store's schema before it works with the store. MigratesAlone
	// makes it wait for a migration that takes place before it migrates the store, and UndoesHalf makes a migration that
	// fails half-way leave the schema as it was.
	ChecksSchema  bool
	MigratesAlone bool
	UndoesHalf    bool
	// MigratedCount returns a message's attempt count after a migration of the schema, and MigratedPin an execution's pin.
	MigratedCount func(count uint32) uint32
	MigratedPin   func(pin *engine.Version) *engine.Version
	// MigrationFreesLocks makes a migration release the locks of all instances.
	MigrationFreesLocks bool

	// TakesOlder makes a program start on a schema that it has to migrate.
	TakesOlder bool
	// ActivatesWhenReady makes the activation of a build wait until all nodes can run it, RestartActivates makes a start of
	// a node whose build waits for it activate it, and KeepsActivation makes it known to nodes that start.
	ActivatesWhenReady bool
	RestartActivates   bool
	KeepsActivation    bool

	// RewritesHistory makes an ack decode its execution's stored events and write them back.
	RewritesHistory bool
	// ReadsHistory makes an ack decode its execution's stored events.
	ReadsHistory bool
}

// Claim is a fetch's claim on a session. It names the owner and the store time, in milliseconds, until which it is
// valid.
type Claim struct {
	Session, Owner string
	UntilMs        int64
}

// Holding is the state of a lock token when a call uses it. The zero value means that the token belongs to a live lock.
type Holding struct {
	Superseded bool // the lock was acked, abandoned or taken over
	Expired    bool // the lock has expired
}

// FetchStep is a step of an orchestration fetch. The token is created before the first step.
type FetchStep uint8

// The steps of an orchestration fetch.
const (
	FetchFilter FetchStep = iota // admit the instance or go on to the next one
	FetchLock                    // take the instance lock
	FetchCount                   // mark and count the batch
	FetchDecode                  // decode history and messages
)

// AckStep is a step of an orchestration ack (docs/contract/provider.md#p5.3).
type AckStep uint8

// The steps of an orchestration ack, in the contract's order.
const (
	AckConsume         AckStep = iota // delete the messages marked by the token
	AckInstance                       // create or rename the instance
	AckExecution                      // create the execution
	AckPin                            // set the execution's pin
	AckPointer                        // set the current execution
	AckEvents                         // append the history delta
	AckStatus                         // set the status and output
	AckCustomStatus                   // set the custom status
	AckKV                             // write the key-value delta, and merge it if the execution ends
	AckEnqueueWork                    // insert worker items
	AckCancelWork                     // delete cancelled activities
	AckEnqueueMessages                // insert orchestrator items
	AckRelease                        // remove the instance lock
	// AckSteps is the number of steps.
	AckSteps = iota
)

// DeleteStep is a step in deleting an instance.
type DeleteStep uint8

// The steps of deleting an instance.
const (
	DeleteMessages DeleteStep = iota // its queued messages
	DeleteWork                       // its activities
	DeleteHistory                    // executions and their history
	DeleteKV                         // both tables of the key-value store
	DeleteLock                       // the instance lock
	DeleteRow                        // the instances row, including the custom status
)

var ackStepNames = [AckSteps]string{
	"consume messages", "create instance", "create execution", "pin", "move pointer", "append events", "set status",
	"set custom status", "write key-value store", "enqueue work", "cancel work", "enqueue messages", "release lock",
}

// String returns the step's name.
func (a AckStep) String() string {
	if int(a) < AckSteps {
		return ackStepNames[a]
	}
	return "unknown step"
}

// DefaultRules returns the contract's rules. Each call returns a new table. Rules that are not listed are off.
func DefaultRules() *Rules {
	return &Rules{
		Admits:               (*engine.CapabilityFilter).Admits,
		Pin:                  func(current, _ *engine.Version, _ bool) *engine.Version { return current },
		LooksPast:            true,
		LooksPastContextless: true,
		SeesLock:             func(_, _ int64) bool { return true },
		IsOrphan:             func(onlyQueueMessages, startQueued bool) bool { return onlyQueueMessages && !startQueued },
		FetchOrder:           []FetchStep{FetchFilter, FetchLock, FetchCount, FetchDecode},

		BatchCount:            func(told, next uint32) uint32 { return max(told, next) },
		CountAfterDecodeError: func(_, counted uint32) uint32 { return counted },
		DeliversDecodeError:   true,
		SwallowsDecodeError:   func(bool) bool { return false },

		AbandonTouches:    func(marked bool) bool { return marked },
		AbandonDelay:      func(delayMs int64) int64 { return delayMs },
		CountAfterAbandon: lowerByOne,
		MayCommit:         ifLive,
		MayRenew:          ifLive,
		MayAbandon:        func(h Holding) bool { return !h.Superseded },
		RenewedUntil:      func(now, _, extendMs int64) int64 { return now + extendMs },

		LockFrom:     func(_, now int64) int64 { return now },
		CommitSees:   presentHolding,
		RenewSees:    presentHolding,
		DeleteSees:   func(_, now bool) bool { return now },
		RetriesClaim: true,

		TakesTag:              engine.TagFilter.Matches,
		TagStored:             func(tag string) string { return tag },
		WorkLooksPast:         true,
		WorkLooksPastSessions: true,
		SessionOwned:          func(exists bool, untilMs, now int64) bool { return exists && untilMs > now },
		Claimed:               func(made Claim) Claim { return made },
		RenewsSession:         func(live, active bool) bool { return live && active },
		CleansSession:         func(hasWork bool) bool { return !hasWork },
		WorkIsActivity:        true,

		VisibleAt:      afterDelay,
		TimerVisibleAt: func(_, fireAtMs int64) int64 { return fireAtMs },

		AckOrder: []AckStep{
			AckConsume, AckInstance, AckExecution, AckPin, AckPointer, AckEvents, AckStatus, AckCustomStatus, AckKV,
			AckEnqueueWork, AckCancelWork, AckEnqueueMessages, AckRelease,
		},
		AckIsAtomic: true,
		Cancels: func(execution, activity uint64, _ bool, id engine.ScheduledActivityIdentifier) bool {
			return execution == id.ExecutionID && activity == id.ActivityID
		},
		Consumes:            func(marked bool) bool { return marked },
		PinAfterAck:         func(given, old, _ *engine.Version) *engine.Version { return cmp.Or(given, old) },
		PointerAfterAck:     func(current, acked uint64) uint64 { return max(current, acked) },
		CustomStatusVersion: func(version uint64, _ int) uint64 { return version + 1 },
		RestoresStatus:      true,
		MergesKV:            engine.Status.Terminal,
		KeepsTombstone:      true,
		KVReadMs:            -1,

		DeleteSteps:    []DeleteStep{DeleteMessages, DeleteWork, DeleteHistory, DeleteKV, DeleteLock, DeleteRow},
		RefusesDelete:  func(force, running bool) bool { return running && !force },
		RefusesOrphans: true,
		Prunes:         func(current, running bool) bool { return !current && !running },
		PrunesRunning:  true,

		ChecksSchema:  true,
		MigratesAlone: true,
		UndoesHalf:    true,
		MigratedCount: func(count uint32) uint32 { return count },
		MigratedPin:   func(pin *engine.Version) *engine.Version { return pin },

		TakesOlder:         true,
		ActivatesWhenReady: true,
		KeepsActivation:    true,
	}
}

func lowerByOne(count uint32, ignoreAttempt bool) uint32 {
	if ignoreAttempt && count > 0 {
		return count - 1
	}
	return count
}

func ifLive(h Holding) bool { return h == Holding{} }

func presentHolding(_, now Holding) Holding { return now }

func afterDelay(now, delayMs int64) int64 {
	if at := now + delayMs; at >= now {
		return at
	}
	return math.MaxInt64
}
