package storerules

import (
	"math"

	"github.com/durosim/durosim/engine"
)

// Rules are the rules that a store can get wrong. Default returns the correct ones; a planted bug replaces one field.
type Rules struct {
	// Admits reports whether a filter lets an instance with that pin through.
	Admits func(f *engine.CapabilityFilter, pin *engine.Version) bool
	// Pin picks the pin that the filter tests: that of the current execution or of the first one. ended reports whether the
	// current execution has completed or failed.
	Pin func(current, first *engine.Version, ended bool) *engine.Version
	// LooksPast tells whether a fetch goes on when the oldest instance with a visible message cannot be delivered.
	LooksPast bool
	// LooksPastContextless tells whether a fetch goes on when the oldest instance has neither a context nor a start.
	LooksPastContextless bool
	// SeesLock reports whether a fetch sees a live lock, given when the lock was taken.
	SeesLock func(takenMs, now int64) bool
	// IsOrphan reports whether a visible batch of an instance without context is dropped, given whether it consists of
	// queue messages only, and whether any start for the instance is queued, visible or not.
	IsOrphan func(onlyQueueMessages, startQueued bool) bool
	// FetchOrder is the order of the steps of an orchestration fetch.
	FetchOrder []FetchStep

	// BatchCount folds the attempt counts of a batch, in order, into the one that the fetch returns.
	BatchCount func(told, next uint32) uint32
	// CountAfterDecodeError returns a message's attempt count when the delivery could not be decoded.
	CountAfterDecodeError func(before, counted uint32) uint32
	// DeliversDecodeError tells whether a fetch hands out an undecodable delivery with its HistoryError set; otherwise
	// the fetch fails and keeps the lock.
	DeliversDecodeError bool
	// SkipsUndecodable tells whether a fetch leaves out events that it cannot decode.
	SkipsUndecodable bool

	// SwallowsDecodeError reports whether a history that cannot be decoded is delivered as an empty one, given whether
	// the instance has a row.
	SwallowsDecodeError func(hasRow bool) bool
	// UndecodableIsOrphan tells whether queue messages alone, for an instance whose history cannot be decoded, are dropped
	// as orphans.
	UndecodableIsOrphan bool
	// ReadsSkipUndecodable tells whether a read of a history leaves out events that it cannot decode, and StatsSkip whether
	// statistics leave out those behind the first such event.
	ReadsSkipUndecodable bool
	StatsSkipUndecodable bool
	// SkipsUndecodableMessage tells whether a batch silently leaves out messages that cannot be decoded.
	SkipsUndecodableMessage bool

	// AbandonTouches reports whether an abandon affects a visible message of its instance, given whether its token
	// marked it.
	AbandonTouches func(marked bool) bool
	// AbandonDelay returns the delay of an abandon that asks for that one.
	AbandonDelay func(delayMs int64) int64
	// CountAfterAbandon returns a message's attempt count after an abandon.
	CountAfterAbandon func(count uint32, ignoreAttempt bool) uint32
	// MayCommit reports whether the store accepts an ack, of either queue, from this holding.
	MayCommit func(Holding) bool
	// MayRenew does the same for a renewal, MayAbandon for an abandon.
	MayRenew   func(Holding) bool
	MayAbandon func(Holding) bool
	// RenewedUntil returns the new end of a renewed lock, of either queue, given its old end.
	RenewedUntil func(now, endMs, extendMs int64) int64

	// LockFrom returns the time from which a lock counts that is taken or renewed by a call that waited in the store,
	// from the times at which the call arrived and at which it takes effect.
	LockFrom func(arrivedMs, now int64) int64
	// CommitSees returns the holding by which such an ack is judged, from that when it arrived and the present one;
	// RenewSees does the same for a renewal, and DeleteSees for a deletion and whether an instance is running.
	CommitSees func(arrived, now Holding) Holding
	RenewSees  func(arrived, now Holding) Holding
	DeleteSees func(arrived, now bool) bool
	// RetriesClaim tells whether such a fetch goes on when the instance that it chose on its arrival has been taken.
	RetriesClaim bool

	// TakesTag reports whether a tag filter takes an activity with that tag.
	TakesTag func(f engine.TagFilter, tag string) bool
	// TagStored returns the tag under which an activity is stored.
	TagStored func(tag string) string
	// WorkLooksPast tells whether a work fetch goes on past an activity that it cannot decode.
	WorkLooksPast bool
	// WorkLooksPastSessions tells whether a work fetch goes on past an activity of a session that another owner has.
	WorkLooksPastSessions bool
	// PlainFetchTakesSessions tells whether a work fetch without session config takes session activities.
	PlainFetchTakesSessions bool
	// SessionOwned reports whether a session, if it has a row, reserves its activities for its owner.
	SessionOwned func(exists bool, untilMs, now int64) bool
	// Claimed returns the claim that takes effect when a fetch makes one; the zero claim changes nothing.
	Claimed func(made Claim) Claim
	// RenewsSession reports whether a renewal extends a session of its owner.
	RenewsSession func(live, active bool) bool
	// CleansSession reports whether a cleanup deletes an expired session, given whether activities carry its id.
	CleansSession func(hasWork bool) bool
	// WorkIsActivity tells whether an ack or a renewal of an activity counts as activity of its session.
	WorkIsActivity bool

	// VisibleAt returns the time at which a delayed message becomes visible.
	VisibleAt func(now, delayMs int64) int64
	// TimerVisibleAt returns the time at which a timer that an ack enqueues becomes visible.
	TimerVisibleAt func(now, fireAtMs int64) int64

	// AckOrder is the order of the steps of an orchestration ack.
	AckOrder []AckStep
	// AckIsAtomic tells whether an ack is checked before its first step and rolled back when a later one fails.
	AckIsAtomic bool
	// Cancels reports whether an ack that cancels id deletes the given activity of the same instance; held says whether a worker holds it.
	Cancels func(execution, activity uint64, held bool, id engine.ScheduledActivityIdentifier) bool
	// Consumes reports whether an ack deletes a visible message, given whether its token marked it.
	Consumes func(marked bool) bool
	// PinAfterAck returns an execution's pin after an ack, from the pin that the ack gives, the one that the execution
	// has, and the one that the current execution has if the ack creates a newer one.
	PinAfterAck func(given, old, previous *engine.Version) *engine.Version
	// PointerAfterAck returns the current execution after an ack.
	PointerAfterAck func(current, acked uint64) uint64
	// CustomStatusVersion returns the version after an ack with that number of updates.
	CustomStatusVersion func(version uint64, updates int) uint64
	// MergesKV reports whether an ack that sets this status (empty for none) merges the key-value delta into the store.
	MergesKV func(status engine.Status) bool
	// KeepsTombstone tells whether a cleared key leaves a tombstone in the delta or only loses its row there.
	KeepsTombstone bool
	// SnapshotsMerged tells whether a fetch shows the merged view of the key-value store, not the store alone.
	SnapshotsMerged bool
	// KVReadMs is how long before its second statement a client read has made its first; negative for one state. If a merge
	// came between, it sees the store before the merge and the delta after it.
	KVReadMs int64

	// DeleteSteps are the steps that delete an instance.
	DeleteSteps []DeleteStep
	// RefusesDelete reports whether a deletion is refused, given whether it is forced and whether one of its instances
	// is running.
	RefusesDelete func(force, running bool) bool
	// RefusesOrphans tells whether the store refuses a deletion that would leave a child without its parent.
	RefusesOrphans bool
	// Prunes reports whether a prune may remove an execution, given whether it is the current one and whether it is
	// running.
	Prunes func(current, running bool) bool
	// PrunesRunning tells whether a prune looks at instances that are running.
	PrunesRunning bool
	// PruneTakesKV tells whether a prune empties the key-value store.
	PruneTakesKV bool

	// RewritesHistory tells whether an ack decodes the stored events of its execution and writes them back.
	RewritesHistory bool
	// ReadsHistory tells whether an ack decodes the stored events of its execution.
	ReadsHistory bool
}

// Claim is a fetch's claim on a session for an owner, until a store time in milliseconds.
type Claim struct {
	Session, Owner string
	UntilMs        int64
}

// Holding is the state of a token when it is used. The zero value is a token that names a live lock.
type Holding struct {
	Superseded bool // the lock was acked, abandoned or taken over
	Expired    bool // the lock ran out
}

// FetchStep is a step of an orchestration fetch. The token exists before the first step.
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

// String returns the step in words.
func (a AckStep) String() string {
	if int(a) < AckSteps {
		return ackStepNames[a]
	}
	return "unknown step"
}

// Default returns the contract's rules. Each call returns a fresh table.
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
		AbandonDelay:      func(delayMs int64) int64 { return delayMs },
		CountAfterAbandon: lowerByOne,
		TakesTag:          engine.TagFilter.Matches,
		TagStored:         sameTag,
		WorkLooksPast:     true,

		WorkLooksPastSessions: true,

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
		LockFrom:       whenTaken,
		CommitSees:     presentHolding,
		RenewSees:      presentHolding,
		DeleteSees:     func(_, now bool) bool { return now },
		RetriesClaim:   true,
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
		PrunesRunning:  true,
		PruneTakesKV:   false,

		CustomStatusVersion: oncePerAck,
		MergesKV:            engine.Status.Terminal,
		KeepsTombstone:      true,
		SnapshotsMerged:     false,
		KVReadMs:            -1,
	}
}

func currentPin(current, _ *engine.Version, _ bool) *engine.Version { return current }

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

func whenTaken(_, now int64) int64 { return now }

func presentHolding(_, now Holding) Holding { return now }

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
