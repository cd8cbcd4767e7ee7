package machine

import (
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/replay"
)

// Rules holds the node decisions that planted bugs can replace (package faults has the table of bugs). Without a
// planted bug, a node uses DefaultRules. Rules are read-only, and nodes may share them.
type Rules struct {
	// Order is the order of the tests on a fetched batch. The first test that applies decides.
	Order []Test
	// Ended reports whether messages for an execution with that status are acknowledged and dropped. hasStart reports
	// whether the batch has the continue-as-new start.
	Ended func(status engine.Status, hasStart bool) bool
	// ExceedsMaxAttempts reports whether a delivery is poison. count is its attempt count, and most is the maximum.
	ExceedsMaxAttempts func(count, most uint32) bool
	// Admits reports whether the node replays an execution with that pin. A nil pin means that the execution is
	// unpinned. stamp is the version in the history's first OrchestrationStarted event, or "" if there is none; own is
	// the node's version.
	Admits func(supported *engine.CapabilityFilter, pin *engine.Version, stamp string, own engine.Version) bool
	// DeclareFilter returns the filter that the node fetches with.
	DeclareFilter func(supported engine.VersionRange) *engine.CapabilityFilter
	// AbandonIgnoresAttempt reports whether an abandon after decision d sets ignore_attempt, so that the delivery does
	// not count as an attempt.
	AbandonIgnoresAttempt func(d Decision) bool
	// MissingHandlerWaits makes a node give work back whose handler it lacks; otherwise it poisons that work at once.
	MissingHandlerWaits bool
	// StallIgnoresAttempt makes a node that stalls work that it cannot replay do so, too.
	StallIgnoresAttempt bool
	// CountsWaiting reports whether a delivery that waits for a continue-as-new start counts as an attempt
	// (engine.Build.CountsWaiting).
	CountsWaiting func(b *engine.Build) bool
	// SessionCap returns the maximum number of sessions that the node may serve at once. most is the configured
	// maximum.
	SessionCap func(most int) int
	// SessionOwner returns the name under which a worker slot claims sessions if none is configured. runtime
	// distinguishes the node's incarnation from all others.
	SessionOwner func(worker int, runtime string) string
	// RenewedOwners returns the names whose sessions the node renews. owners are the names of all its workers.
	RenewedOwners func(owners []string) []string
	// PlainFetchWaits makes a fetch without a session config wait for work like any other fetch. The drawback is that
	// the node does not request a session during the wait, even if it becomes able to serve another one.
	PlainFetchWaits bool
	// RenewsSessions makes the node renew the sessions it owns.
	RenewsSessions bool
	// UnregisteredBackoff returns the abandon delay for the n-th delivery of work without a handler.
	UnregisteredBackoff func(n uint32, base, most time.Duration) time.Duration
	// BounceBackoff returns the abandon delay for the n-th delivery of bounced work.
	BounceBackoff func(n uint32, base, most time.Duration) time.Duration
	// SweepSpares reports whether a sweeper spares an execution. admits reports whether the sweeper's own node admits
	// it.
	SweepSpares func(admits bool) bool
	// SweepDue reports whether a sweeper ends work that has been blocked for that long. after is the configured
	// SweepAfter.
	SweepDue func(blocked, after time.Duration) bool
	// CallDeadline returns how long the node waits for the answer to a call that is not a fetch; 0 means forever.
	CallDeadline func(configured time.Duration) time.Duration
	// PauseAfterNothing returns the pause after a fetch that found nothing. took is the fetch's duration.
	PauseAfterNothing func(took, interval time.Duration) time.Duration
	// PauseAfterError returns the pause after a failed fetch. k is the number of consecutive retryable failures. If the
	// bool is false, the slot stops fetching.
	PauseAfterError func(retryable bool, k int) (time.Duration, bool)
	// AckFailed returns the reaction to a failed ack. failures is the number of failures so far.
	AckFailed func(kind SlotKind, err error, failures int) AckStep
	// RenewalInterval returns the time after which the node renews a lock; 0 means never.
	RenewalInterval func(timeout, buffer time.Duration) time.Duration
	// DrainCancelsFetches makes a draining node cancel the fetches that wait for work, and DrainEndsPauses makes it end
	// the pauses between fetches.
	DrainCancelsFetches bool
	DrainEndsPauses     bool
	// RenewsWhileDraining makes a draining node keep renewing the locks it holds.
	RenewsWhileDraining bool
	// TurnRenewalFailed reports whether the node retries a failed renewal of a turn's lock.
	TurnRenewalFailed func(err error) bool
	// ActivityRenewalFailed returns the reaction to a failed renewal of an activity's lock.
	ActivityRenewalFailed func(err error) RenewalStep
	// RetriesRead reports whether the node abandons a system activity whose read failed, so that it is redelivered. If
	// not, the activity fails.
	RetriesRead func(err error) bool
	// LogsTraces reports whether the node logs the lines that the code of a turn with that result traced.
	LogsTraces func(r replay.Result) bool
	// WorkerItems returns the activities that a turn's ack enqueues. turn holds the activities that the turn scheduled.
	WorkerItems func(turn []engine.WorkItem) []engine.WorkItem
	// FailureFails makes the node acknowledge a failed activity with a failure. If false, the node acknowledges it with
	// a result.
	FailureFails bool
	// ResolvesAsRecorded makes a turn of an existing execution run the handler version recorded in its history. If
	// false, the turn runs the version that a new start would get.
	ResolvesAsRecorded bool
	// DuplicateStart is the effect of a start for an execution that has already begun or has continued as new.
	DuplicateStart DuplicateStart
	// PoisonTellsParent reports whether a poisoned child sends its failure to its parent. undecodable reports whether
	// the batch could not be decoded.
	PoisonTellsParent func(undecodable bool) bool
	// PoisonEnds makes poison end the execution. If false, the node only reports the poison and abandons the batch.
	PoisonEnds bool
	// PoisonCancels makes poison cancel the execution's activities.
	PoisonCancels bool
	// PoisonAnswersStarts makes poison answer the parents of any starts in the batch.
	PoisonAnswersStarts bool
	// PoisonPins makes poison pin the execution that it creates if none has begun.
	PoisonPins bool
	// StatusIsTold makes the node use the execution status reported by the provider. If false, the node derives the
	// status from the history.
	StatusIsTold bool
	// PoisonWaitsForStart applies to an execution that has continued as new. If true, poison belongs to the next
	// execution and waits for its start. If false, the node appends the poison to the old execution.
	PoisonWaitsForStart bool
}

// Test identifies one of the tests on a fetched batch. The tests are independent of one another.
type Test uint8

// The tests, in order (docs/contract-decisions.md#row-1). If none applies, the node runs the batch.
const (
	TestTerminal     Test = iota // the current execution is Completed or Failed, or there is nothing to run
	TestPoison                   // the batch exceeded the maximum number of delivery attempts
	TestHistoryError             // undecodable
	TestIncompatible             // the pin is outside the node's range
	TestWaitForStart             // the input precedes the continue-as-new start
	TestHandler                  // no handler
)

// DuplicateStart is the effect of a start for an execution that has already begun or has continued as new.
type DuplicateStart uint8

// The effects of a duplicate start.
const (
	DuplicateChangesNothing DuplicateStart = iota
	DuplicateReplaces                      // the turn runs the start's name and version in place of the recorded ones
	DuplicateWins                          // it takes precedence over the continue-as-new start behind it, and the node drops the batch
)

// AckStep is the node's reaction to a failed ack.
type AckStep struct {
	Do    AckAction
	After time.Duration // for AckRetry, the pause; for AckAbandon, the delay before the work becomes visible again
}

// AckAction is the action to take after a failed ack.
type AckAction uint8

// The actions after a failed ack.
const (
	AckRetry   AckAction = iota // resend the same ack
	AckAbandon                  // abandon the work
	AckForget                   // do nothing
	AckFail                     // commit a failure of the orchestration instead, like 0.1.26
)

// RenewalStep is the node's reaction to a failed renewal of an activity's lock.
type RenewalStep uint8

// The reactions to a failed renewal.
const (
	RenewalRetry    RenewalStep = iota // the lock may still be live, so retry until it has expired
	RenewalHandBack                    // the activity is lost: stop it, and abandon it in case the lock is still live
	RenewalDiscard                     // the activity is cancelled: stop it, and acknowledge it without a completion
)

// DefaultRules returns the rules of the contract profile.
func DefaultRules() *Rules {
	return &Rules{
		Order:                 []Test{TestTerminal, TestPoison, TestHistoryError, TestIncompatible, TestWaitForStart, TestHandler},
		Ended:                 endedDropsMessages,
		ExceedsMaxAttempts:    func(count, most uint32) bool { return count > most },
		Admits:                admits,
		DeclareFilter:         engine.FilterFor,
		AbandonIgnoresAttempt: uncounted,
		StallIgnoresAttempt:   true,
		MissingHandlerWaits:   true,
		CountsWaiting:         func(b *engine.Build) bool { return b.CountsWaiting },
		SessionCap:            func(most int) int { return most },
		SessionOwner:          ownerOf,
		RenewedOwners:         func(owners []string) []string { return owners },
		RenewsSessions:        true,
		UnregisteredBackoff:   UnregisteredBackoff,
		BounceBackoff:         UnregisteredBackoff,
		SweepSpares:           func(admits bool) bool { return admits },
		SweepDue:              func(blocked, after time.Duration) bool { return blocked >= after },
		CallDeadline:          func(configured time.Duration) time.Duration { return configured },
		PauseAfterNothing:     func(took, interval time.Duration) time.Duration { return interval - took },
		PauseAfterError:       pauseAfterError,
		AckFailed:             retryAck,
		RenewalInterval:       RenewalInterval,
		DrainCancelsFetches:   true,
		DrainEndsPauses:       true,
		RenewsWhileDraining:   true,
		TurnRenewalFailed:     engine.IsRetryable,
		ActivityRenewalFailed: activityRenewalFailed,
		RetriesRead:           engine.IsRetryable,
		LogsTraces:            func(replay.Result) bool { return true },
		WorkerItems:           func(turn []engine.WorkItem) []engine.WorkItem { return turn },
		ResolvesAsRecorded:    true,
		FailureFails:          true,
		DuplicateStart:        DuplicateChangesNothing,
		PoisonTellsParent:     func(bool) bool { return true },
		PoisonEnds:            true,
		PoisonCancels:         true,
		PoisonAnswersStarts:   true,
		PoisonPins:            true,
		StatusIsTold:          true,
		PoisonWaitsForStart:   true,
	}
}

// admits asks the provider's own method, so that the two never differ.
func admits(f *engine.CapabilityFilter, pin *engine.Version, _ string, _ engine.Version) bool {
	return f.Admits(pin)
}

// uncounted reports whether d says nothing about the work itself. The delivery then does not count as an attempt.
func uncounted(d Decision) bool {
	return d == DecideWaitForStart || d == DecideDrained || d == DecideSessionsFull || d == DecideLooked
}

// endedDropsMessages keeps the messages of a ContinuedAsNew execution. They belong to its successor, even if the
// successor has not started.
func endedDropsMessages(status engine.Status, _ bool) bool {
	return status == engine.StatusCompleted || status == engine.StatusFailed
}

func pauseAfterError(retryable bool, k int) (time.Duration, bool) {
	if retryable {
		return FetchErrorBackoff(k), true
	}
	return permanentFetchErrorDelay, true
}

// retryAck retries an ack that failed with a retryable error. This is safe because an ack is all-or-nothing. A
// permanent error means either that the ack can never succeed, or that an earlier attempt succeeded but its answer was
// lost.
func retryAck(kind SlotKind, err error, failures int) AckStep {
	if engine.IsRetryable(err) && failures <= AckRetries {
		return AckStep{Do: AckRetry, After: AckRetryDelay(failures)}
	}
	if kind == SlotWorker {
		return AckStep{Do: AckAbandon, After: workAckFailedDelay}
	}
	return AckStep{Do: AckAbandon, After: ackFailedDelay}
}

func activityRenewalFailed(err error) RenewalStep {
	if engine.IsRetryable(err) {
		return RenewalRetry
	}
	return RenewalHandBack
}
