package storerules

import (
	"math"

	"github.com/durosim/durosim/engine"
)

// Rules are the rules of a store that can be got wrong. Default makes the right ones; a planted bug replaces one field.
type Rules struct {
	// Admits says whether a filter lets an instance of that pin through.
	Admits func(f *engine.CapabilityFilter, pin *engine.Version) bool
	// Pin picks the pin that the filter looks at: of the current execution, or of the first one.
	Pin func(current, first *engine.Version) *engine.Version
	// LooksPast says whether a fetch goes on when the oldest instance with a visible message cannot be delivered.
	LooksPast bool
	// LooksPastContextless says whether a fetch goes on when the oldest instance has neither a context nor a start.
	LooksPastContextless bool
	// SeesLock says whether a fetch sees a live lock, by when it was taken.
	SeesLock func(takenMs, now int64) bool
	// IsOrphan says whether a visible batch of an instance without context is dropped: whether it is made of queue
	// messages only, and whether any start for the instance is queued, visible or not.
	IsOrphan func(onlyQueueMessages, startQueued bool) bool
	// FetchOrder is the order of the steps of an orchestration fetch.
	FetchOrder []FetchStep

	// BatchCount folds the attempt counts of a batch, in order, into the one that is told.
	BatchCount func(told, next uint32) uint32
	// CountAfterDecodeError is a message's count when the delivery could not be decoded.
	CountAfterDecodeError func(before, counted uint32) uint32
	// DeliversDecodeError says whether an undecodable delivery is handed out with its HistoryError set; otherwise the
	// fetch fails while it holds the lock.
	DeliversDecodeError bool
	// SkipsUndecodable says whether a fetch leaves out events that it cannot decode.
	SkipsUndecodable bool

	// SwallowsDecodeError says whether a history that cannot be decoded is delivered as an empty one, by whether the
	// instance has a row.
	SwallowsDecodeError func(hasRow bool) bool
	// SkipsUndecodableMessage says whether a batch leaves out messages that cannot be decoded, without a word.
	SkipsUndecodableMessage bool

	// AbandonTouches says whether an abandon concerns a visible message of its instance, by whether its token marked it.
	AbandonTouches func(marked bool) bool
	// CountAfterAbandon is a message's count after an abandon.
	CountAfterAbandon func(count uint32, ignoreAttempt bool) uint32
	// MayCommit says whether an ack, of either queue, is accepted from this holding.
	MayCommit func(Holding) bool
	// MayRenew says the same of a renewal, MayAbandon of an abandon.
	MayRenew   func(Holding) bool
	MayAbandon func(Holding) bool
	// RenewedUntil is the end of a renewed lock, of either queue, that had an end.
	RenewedUntil func(now, endMs, extendMs int64) int64

	// TakesTag says whether a tag filter takes an activity of that tag.
	TakesTag func(f engine.TagFilter, tag string) bool
	// TagStored is the tag under which an activity is stored.
	TagStored func(tag string) string
	// WorkLooksPast says whether a work fetch goes on behind an activity that it cannot decode.
	WorkLooksPast bool
	// PlainFetchTakesSessions says whether a work fetch without session config takes session activities.
	PlainFetchTakesSessions bool
	// SessionOwned says whether a session, if it has a row, keeps its activities from everybody but its owner.
	SessionOwned func(exists bool, untilMs, now int64) bool
	// Claimed is the claim that takes effect when a fetch claims a session: that one; the zero claim changes nothing.
	Claimed func(made Claim) Claim
	// RenewsSession says whether a renewal extends a session of its owner.
	RenewsSession func(live, active bool) bool
	// CleansSession says whether a cleanup deletes a session that has run out, by whether activities carry its id.
	CleansSession func(hasWork bool) bool
	// WorkIsActivity says whether an ack or a renewal of an activity counts as activity of its session.
	WorkIsActivity bool

	// VisibleAt is the time at which something delayed becomes visible.
	VisibleAt func(now, delayMs int64) int64
	// TimerVisibleAt is the time at which a timer that an ack enqueues becomes visible.
	TimerVisibleAt func(now, fireAtMs int64) int64

	// AckOrder is the order of the steps of an orchestration ack.
	AckOrder []AckStep
	// AckIsAtomic says whether an ack is checked before its first step and taken back when a later one fails.
	AckIsAtomic bool
	// Cancels says whether an ack deletes an activity, which somebody may hold, for an identifier of its instance.
	Cancels func(execution, activity uint64, held bool, id engine.ScheduledActivityIdentifier) bool
	// Consumes says whether an ack deletes a visible message, by whether its token marked it.
	Consumes func(marked bool) bool
	// PinAfterAck is an execution's pin after an ack: what the ack gives, what the execution has, and what the
	// current execution has if the ack creates a newer one.
	PinAfterAck func(given, old, previous *engine.Version) *engine.Version
	// PointerAfterAck is the current execution after an ack.
	PointerAfterAck func(current, acked uint64) uint64
	// CustomStatusVersion is the version after an ack that brings so many updates.
	CustomStatusVersion func(version uint64, updates int) uint64
	// MergesKV says whether an ack that sets this status (empty for none) merges the key-value delta into the store.
	MergesKV func(status engine.Status) bool
	// KeepsTombstone says whether a cleared key leaves a tombstone in the delta, or only loses its row there.
	KeepsTombstone bool
	// SnapshotsMerged says whether a fetch shows the merged view of the key-value store, not the store alone.
	SnapshotsMerged bool
	// ReadsKVAtOnce says whether a client read takes both key-value tables from one state; otherwise it sees, in the
	// millisecond of a merge, the store before it and the delta after it.
	ReadsKVAtOnce bool

	// DeleteSteps are the steps of the deletion of an instance.
	DeleteSteps []DeleteStep
	// RefusesDelete says whether a deletion is refused, by whether it is forced, and whether an instance of it is running.
	RefusesDelete func(force, running bool) bool
	// RefusesOrphans says whether a deletion is refused that would leave a child without its parent.
	RefusesOrphans bool
	// Prunes says whether a prune may remove an execution: the current one, a running one, or another.
	Prunes func(current, running bool) bool
	// PruneTakesKV says whether a prune empties the key-value store.
	PruneTakesKV bool

	// RewritesHistory says whether an ack decodes the stored events of its execution and writes them again.
	RewritesHistory bool
	// ReadsHistory says whether an ack decodes the stored events of its execution.
	ReadsHistory bool
}

// Claim is what a fetch claims: a session, for an owner, until a time of the store in milliseconds.
type Claim struct {
	Session, Owner string
	UntilMs        int64
}

// Holding is how a token stands when it is used. A token that names a live lock is the zero value.
type Holding struct {
	Superseded bool // the lock was acked, abandoned or taken over
	Expired    bool // the lock ran out
}

// FetchStep is a step of an orchestration fetch. The token exists before the first.
type FetchStep uint8

// The steps of an orchestration fetch.
const (
	FetchFilter FetchStep = iota // let the instance pass or go on to the next
	FetchLock                    // take the instance lock
	FetchCount                   // mark and count the batch
	FetchDecode                  // decode history and messages
)

// AckStep is a step of an orchestration ack (docs/contract/provider.md#p5.3).
type AckStep uint8

// The steps of an orchestration ack, in the contract's order.
const (
	AckConsume         AckStep = iota // delete the messages that the token marks
	AckInstance                       // create or rename the instance
	AckExecution                      // create the execution
	AckPin                            // pin the execution
	AckPointer                        // move the current execution
	AckEvents                         // append the history delta
	AckStatus                         // set status and output
	AckCustomStatus                   // set the custom status
	AckKV                             // write the key-value delta, and merge it at the end of an execution
	AckEnqueueWork                    // insert worker items
	AckCancelWork                     // delete cancelled activities
	AckEnqueueMessages                // insert orchestrator items
	AckRelease                        // remove the instance lock
	// AckSteps is the number of steps.
	AckSteps = iota
)

// DeleteStep is a step of the deletion of an instance.
type DeleteStep uint8

// The steps of a deletion.
const (
	DeleteMessages DeleteStep = iota // its messages
	DeleteWork                       // its activities
	DeleteHistory                    // executions and their history
	DeleteKV                         // both tables of the key-value store
	DeleteLock                       // the instance lock
	DeleteRow                        // the instances row, with the custom status
)

var ackStepNames = [AckSteps]string{
	"consume messages", "create instance", "create execution", "pin", "move pointer", "append events", "set status",
	"set custom status", "write key-value store", "enqueue work", "cancel work", "enqueue messages", "release lock",
}

// String is the step in words.
func (a AckStep) String() string {
	if int(a) < AckSteps {
		return ackStepNames[a]
	}
	return "unknown step"
}

// Default are the contract's rules. Each call returns a fresh table.
func Default() *Rules {
	return &Rules{
		Admits:                (*engine.CapabilityFilter).Admits,
		Pin:                   currentPin,
		LooksPast:             true,
		IsOrphan:              orphanIfNoStartQueued,
		LooksPastContextless:  true,
		SeesLock:              seenAtOnce,
		FetchOrder:            []FetchStep{FetchFilter, FetchLock, FetchCount, FetchDecode},
		BatchCount:            maxCount,
		CountAfterDecodeError: keepCounted,
		DeliversDecodeError:   true,
		SkipsUndecodable:      false,

		SwallowsDecodeError:     swallowsNone,
		SkipsUndecodableMessage: false,

		AbandonTouches:    func(marked bool) bool { return marked },
		CountAfterAbandon: lowerByOne,
		TakesTag:          engine.TagFilter.Matches,
		TagStored:         sameTag,
		WorkLooksPast:     true,

		PlainFetchTakesSessions: false,
		SessionOwned:            untilItEnds,
		Claimed:                 func(made Claim) Claim { return made },
		RenewsSession:           liveAndActive,
		CleansSession:           withoutWork,
		WorkIsActivity:          true,

		MayCommit:      ifLive,
		MayRenew:       ifLive,
		MayAbandon:     ifNotSuperseded,
		RenewedUntil:   fromNow,
		VisibleAt:      afterDelay,
		TimerVisibleAt: atFireTime,
		AckOrder: []AckStep{
			AckConsume, AckInstance, AckExecution, AckPin, AckPointer, AckEvents, AckStatus, AckCustomStatus, AckKV,
			AckEnqueueWork, AckCancelWork, AckEnqueueMessages, AckRelease,
		},
		AckIsAtomic:     true,
		Cancels:         theTriple,
		Consumes:        ifMarked,
		PinAfterAck:     pinWhenTold,
		PointerAfterAck: maxExecution,
		RewritesHistory: false,
		ReadsHistory:    false,

		DeleteSteps:    []DeleteStep{DeleteMessages, DeleteWork, DeleteHistory, DeleteKV, DeleteLock, DeleteRow},
		RefusesDelete:  runningUnlessForced,
		RefusesOrphans: true,
		Prunes:         neitherCurrentNorRunning,
		PruneTakesKV:   false,

		CustomStatusVersion: oncePerAck,
		MergesKV:            engine.Status.Terminal,
		KeepsTombstone:      true,
		SnapshotsMerged:     false,
		ReadsKVAtOnce:       true,
	}
}

func currentPin(current, _ *engine.Version) *engine.Version { return current }

func orphanIfNoStartQueued(onlyQueueMessages, startQueued bool) bool {
	return onlyQueueMessages && !startQueued
}

func maxCount(told, next uint32) uint32 { return max(told, next) }

func keepCounted(_, counted uint32) uint32 { return counted }

func lowerByOne(count uint32, ignoreAttempt bool) uint32 {
	if ignoreAttempt && count > 0 {
		return count - 1
	}
	return count
}

func ifLive(h Holding) bool { return h == Holding{} }

func ifNotSuperseded(h Holding) bool { return !h.Superseded }

func fromNow(now, _, extendMs int64) int64 { return now + extendMs }

func seenAtOnce(_, _ int64) bool { return true }

func swallowsNone(bool) bool { return false }

func theTriple(execution, activity uint64, _ bool, id engine.ScheduledActivityIdentifier) bool {
	return execution == id.ExecutionID && activity == id.ActivityID
}

func afterDelay(now, delayMs int64) int64 {
	if at := now + delayMs; at >= now {
		return at
	}
	return math.MaxInt64
}

func atFireTime(_, fireAtMs int64) int64 { return fireAtMs }

func ifMarked(marked bool) bool { return marked }

func pinWhenTold(given, old, _ *engine.Version) *engine.Version {
	if given != nil {
		return given
	}
	return old
}

func maxExecution(current, acked uint64) uint64 { return max(current, acked) }

func sameTag(tag string) string { return tag }

func untilItEnds(exists bool, untilMs, now int64) bool { return exists && untilMs > now }

func liveAndActive(live, active bool) bool { return live && active }

func withoutWork(hasWork bool) bool { return !hasWork }

func oncePerAck(version uint64, _ int) uint64 { return version + 1 }

func runningUnlessForced(force, running bool) bool { return running && !force }

func neitherCurrentNorRunning(current, running bool) bool { return !current && !running }
