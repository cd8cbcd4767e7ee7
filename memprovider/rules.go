package memprovider

import "github.com/durosim/durosim/engine"

// Rules are the rules of the store that can be got wrong, each at its one place. DefaultRules are the right ones; a
// seeded bug replaces one field. Every field must be set; the functions are pure.
type Rules struct {
	// Admits says whether a filter lets an instance of that pin through.
	Admits func(f *engine.CapabilityFilter, pin *engine.Version) bool
	// Pin picks the pin that the filter looks at: of the current execution, or of the first one.
	Pin func(current, first *engine.Version) *engine.Version
	// LooksPast says whether a fetch goes on when the oldest instance with a visible message cannot be delivered.
	LooksPast func() bool
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
	DeliversDecodeError func() bool
	// SkipsUndecodable says whether a fetch leaves out events that it cannot decode.
	SkipsUndecodable func() bool

	// CountAfterAbandon is a message's count after an abandon.
	CountAfterAbandon func(count uint32, ignoreAttempt bool) uint32
	// MayCommit says whether an ack, of either queue, is accepted from this holding.
	MayCommit func(Holding) bool
	// MayRenew says the same of a renewal.
	MayRenew func(Holding) bool

	// VisibleAt is the time at which something delayed becomes visible.
	VisibleAt func(now, delayMs int64) int64
	// TimerVisibleAt is the time at which a timer that an ack enqueues becomes visible.
	TimerVisibleAt func(now, fireAtMs int64) int64

	// AckOrder is the order of the steps of an orchestration ack.
	AckOrder []AckStep
	// AckIsAtomic says whether an ack is checked before its first step and taken back when a later one fails.
	AckIsAtomic func() bool
	// Consumes says whether an ack deletes a visible message, by whether its token marked it.
	Consumes func(marked bool) bool
	// PinAfterAck is an execution's pin after an ack: what the ack gives, what the execution has, and what the
	// current execution has if the ack creates a newer one.
	PinAfterAck func(given, old, previous *engine.Version) *engine.Version
	// PointerAfterAck is the current execution after an ack.
	PointerAfterAck func(current, acked uint64) uint64
	// RewritesHistory says whether an ack decodes the stored events of its execution and writes them again.
	RewritesHistory func() bool
	// ReadsHistory says whether an ack decodes the stored events of its execution.
	ReadsHistory func() bool
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

// AckStep is a step of an orchestration ack (contract/provider.md section 5.3).
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
	AckEnqueueWork                    // insert worker items
	AckCancelWork                     // delete cancelled activities
	AckEnqueueMessages                // insert orchestrator items
	AckRelease                        // remove the instance lock
	// AckSteps is the number of steps.
	AckSteps = iota
)

var ackStepNames = [AckSteps]string{
	"consume messages", "create instance", "create execution", "pin", "move pointer", "append events", "set status",
	"enqueue work", "cancel work", "enqueue messages", "release lock",
}

// String is the step in words.
func (a AckStep) String() string {
	if int(a) < AckSteps {
		return ackStepNames[a]
	}
	return "unknown step"
}

// DefaultRules are the contract's rules. Each call returns a fresh table.
func DefaultRules() *Rules {
	return &Rules{
		Admits:                (*engine.CapabilityFilter).Admits,
		Pin:                   currentPin,
		LooksPast:             always,
		IsOrphan:              orphanIfNoStartQueued,
		FetchOrder:            []FetchStep{FetchFilter, FetchLock, FetchCount, FetchDecode},
		BatchCount:            maxCount,
		CountAfterDecodeError: keepCounted,
		DeliversDecodeError:   always,
		SkipsUndecodable:      never,
		CountAfterAbandon:     lowerByOne,
		MayCommit:             ifLive,
		MayRenew:              ifLive,
		VisibleAt:             afterDelay,
		TimerVisibleAt:        atFireTime,
		AckOrder: []AckStep{
			AckConsume, AckInstance, AckExecution, AckPin, AckPointer, AckEvents, AckStatus, AckEnqueueWork, AckCancelWork,
			AckEnqueueMessages, AckRelease,
		},
		AckIsAtomic:     always,
		Consumes:        ifMarked,
		PinAfterAck:     pinWhenTold,
		PointerAfterAck: maxExecution,
		RewritesHistory: never,
		ReadsHistory:    never,
	}
}

func always() bool { return true }
func never() bool  { return false }

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

func afterDelay(now, delayMs int64) int64 {
	if at := now + delayMs; at >= now {
		return at
	}
	return Never
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
