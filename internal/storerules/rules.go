package storerules

import (
	"math"

	"github.com/durosim/durosim/engine"
)

// Rules are the rules that a store can get wrong. Default returns the correct ones; a planted bug replaces one field.
type Rules struct {
	// Admits reports whether a filter lets an instance with that pin through.
	Admits func(f *engine.CapabilityFilter, pin *engine.Version) bool
	// Pin picks the pin that the filter tests: the current execution's or the first one's. ended reports whether the
	// current execution has completed or failed.
	Pin func(current, first *engine.Version, ended bool) *engine.Version
	// LooksPast makes a fetch go on when the oldest instance with a visible message cannot be delivered.
	LooksPast bool
	// LooksPastContextless makes a fetch go on when the oldest instance has neither a context nor a start.
	LooksPastContextless bool
	// SeesLock reports whether a fetch sees a live lock, given when the lock was taken.
	SeesLock func(takenMs, now int64) bool
	// IsOrphan reports whether a fetch drops a visible batch of an instance without context. onlyQueueMessages reports
	// whether the batch holds only queue messages, startQueued whether any start for the instance is queued, visible or
	// not.
	IsOrphan func(onlyQueueMessages, startQueued bool) bool
	// FetchOrder is the order in which an orchestration fetch takes its steps.
	FetchOrder []FetchStep

	// BatchCount folds the attempt counts of a batch, in order, into the count that the fetch returns.
	BatchCount func(told, next uint32) uint32
	// CountAfterDecodeError returns a message's attempt count after a delivery that the store could not decode.
	CountAfterDecodeError func(before, counted uint32) uint32
	// DeliversDecodeError makes a fetch return an undecodable delivery with its HistoryError set; otherwise the fetch
	// fails and keeps the lock.
	DeliversDecodeError bool
	// SkipsUndecodable makes a fetch leave out events that it cannot decode.
	SkipsUndecodable bool

	// SwallowsDecodeError reports whether a fetch delivers an undecodable history as an empty one, given whether the
	// instance has a row.
	SwallowsDecodeError func(hasRow bool) bool
	// UndecodableIsOrphan makes a fetch drop a batch of only queue messages as orphans when the instance's history
	// cannot be decoded.
	UndecodableIsOrphan bool
	// ReadsSkipUndecodable makes a read of a history leave out events that it cannot decode. StatsSkip makes statistics
	// leave out the events behind the first such event.
	ReadsSkipUndecodable bool
	StatsSkipUndecodable bool
	// SkipsUndecodableMessage makes a batch silently leave out messages that the store cannot decode.
	SkipsUndecodableMessage bool

	// AbandonTouches reports whether an abandon affects a visible message of its instance, given whether the abandon's
	// token marked the message.
	AbandonTouches func(marked bool) bool
	// AbandonDelay returns the delay of an abandon that asks for delayMs.
	AbandonDelay func(delayMs int64) int64
	// CountAfterAbandon returns a message's attempt count after an abandon.
	CountAfterAbandon func(count uint32, ignoreAttempt bool) uint32
	// MayCommit reports whether the store accepts an ack, of either queue, with a token in this state.
	MayCommit func(Holding) bool
	// MayRenew does the same for a renewal, and MayAbandon for an abandon.
	MayRenew   func(Holding) bool
	MayAbandon func(Holding) bool
	// RenewedUntil returns the new end of a renewed lock, of either queue, given its old end.
	RenewedUntil func(now, endMs, extendMs int64) int64

	// LockFrom returns the time at which a lock begins when the call that takes or renews it waited in the store, given
	// the times at which the call arrived and took effect.
	LockFrom func(arrivedMs, now int64) int64
	// CommitSees returns the holding that decides an ack that waited, given the holding at its arrival and the present
	// one. RenewSees does the same for a renewal. DeleteSees does the same for a deletion, given whether an instance
	// was running at its arrival and is running now.
	CommitSees func(arrived, now Holding) Holding
	RenewSees  func(arrived, now Holding) Holding
	DeleteSees func(arrived, now bool) bool
	// RetriesClaim makes a fetch that waited go on when another fetch has taken the instance that it chose on arrival.
	RetriesClaim bool

	// TakesTag reports whether a tag filter takes an activity with that tag.
	TakesTag func(f engine.TagFilter, tag string) bool
	// TagStored returns the tag that the store keeps for an activity.
	TagStored func(tag string) string
	// WorkLooksPast makes a work fetch go on past an activity that it cannot decode.
	WorkLooksPast bool
	// WorkLooksPastSessions makes a work fetch go on past an activity whose session belongs to another owner.
	WorkLooksPastSessions bool
	// PlainFetchTakesSessions lets a work fetch without session config take session activities.
	PlainFetchTakesSessions bool
	// SessionOwned reports whether a session reserves its activities for its owner, given whether the session has a
	// row.
	SessionOwned func(exists bool, untilMs, now int64) bool
	// Claimed returns the claim that takes effect when a fetch makes the claim made; the zero claim changes nothing.
	Claimed func(made Claim) Claim
	// RenewsSession reports whether an owner's renewal extends the owner's session.
	RenewsSession func(live, active bool) bool
	// CleansSession reports whether a cleanup deletes an expired session, given whether any activities carry its id.
	CleansSession func(hasWork bool) bool
	// WorkIsActivity makes an ack or a renewal of a work item count as activity in its session.
	WorkIsActivity bool

	// VisibleAt returns the time at which a delayed message becomes visible.
	VisibleAt func(now, delayMs int64) int64
	// TimerVisibleAt returns the time at which a timer that an ack enqueues becomes visible.
	TimerVisibleAt func(now, fireAtMs int64) int64

	// AckOrder is the order in which an orchestration ack takes its steps.
	AckOrder []AckStep
	// AckIsAtomic makes the store check an ack before its first step, and roll it back when a later step fails.
	AckIsAtomic bool
	// Cancels reports whether an ack that cancels id deletes the given activity of the same instance. held reports
	// whether a worker holds the activity.
	Cancels func(execution, activity uint64, held bool, id engine.ScheduledActivityIdentifier) bool
	// Consumes reports whether an ack deletes a visible message, given whether the ack's token marked the message.
	Consumes func(marked bool) bool
	// PinAfterAck returns an execution's pin after an ack, given the ack's pin, the execution's old pin, and, if the
	// ack creates a newer execution, the current execution's pin.
	PinAfterAck func(given, old, previous *engine.Version) *engine.Version
	// PointerAfterAck returns the current execution after an ack.
	PointerAfterAck func(current, acked uint64) uint64
	// CustomStatusVersion returns the custom status version after an ack with that many updates.
	CustomStatusVersion func(version uint64, updates int) uint64
	// MergesKV reports whether an ack that sets this status (empty for none) merges the key-value delta into the store.
	MergesKV func(status engine.Status) bool
	// KeepsTombstone makes a cleared key leave a tombstone in the delta; otherwise the key only loses its row there.
	KeepsTombstone bool
	// SnapshotsMerged makes a fetch return the merged view of the key-value store, not the store alone.
	SnapshotsMerged bool
	// KVReadMs is the time between the two statements of a client read, in milliseconds; a negative value makes both
	// read the same state. If a merge falls between them, the read sees the store before the merge and the delta after
	// it.
	KVReadMs int64

	// DeleteSteps are the steps that delete an instance.
	DeleteSteps []DeleteStep
	// RefusesDelete reports whether the store refuses a deletion, given whether the deletion is forced and whether one
	// of its instances is running.
	RefusesDelete func(force, running bool) bool
	// RefusesOrphans makes the store refuse a deletion that would leave a child without its parent.
	RefusesOrphans bool
	// Prunes reports whether a prune may remove an execution, given whether the execution is current and whether it is
	// running.
	Prunes func(current, running bool) bool
	// PrunesRunning makes a prune look at running instances.
	PrunesRunning bool
	// PruneTakesKV makes a prune empty the key-value store.
	PruneTakesKV bool

	// RewritesHistory makes an ack decode the stored events of its execution and write them back.
	RewritesHistory bool
	// ReadsHistory makes an ack decode the stored events of its execution.
	ReadsHistory bool
}

// Claim is a fetch's claim on a session for an owner, until a store time in milliseconds.
type Claim struct {
	Session, Owner string
	UntilMs        int64
}

// Holding is the state of a lock token when a call uses it. The zero value means that the token names a live lock.
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

// DeleteStep is a step of deleting an instance.
type DeleteStep uint8

// The steps of deleting an instance.
const (
	DeleteMessages DeleteStep = iota // its queued messages
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

// String returns the step's name.
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
