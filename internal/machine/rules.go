package machine

import (
	"time"

	"github.com/durosim/durosim/engine"
)

// Rules are the decisions of a node that planted bugs replace (the table is in package faults); everything else uses
// DefaultRules. Rules are read-only, and nodes may share them.
type Rules struct {
	// Order is the order of the tests on a fetched batch; the first test that applies decides.
	Order []Test
	// Ended reports whether the node acknowledges and drops messages when the current execution has that status.
	// hasStart reports whether the batch has the continue-as-new start.
	Ended func(status engine.Status, hasStart bool) bool
	// ExceedsMaxAttempts reports whether a delivery is poison.
	ExceedsMaxAttempts func(count, most uint32) bool
	// Admits reports whether the node replays an execution with that pin; nil means unpinned.
	Admits func(supported *engine.CapabilityFilter, pin *engine.Version) bool
	// DeclareFilter returns the filter that the node fetches with.
	DeclareFilter func(supported engine.VersionRange) *engine.CapabilityFilter
	// AbandonIgnoresAttempt reports whether an abandon after that decision sets ignore_attempt, so that the delivery
	// does not count.
	AbandonIgnoresAttempt func(d Decision) bool
	// CountsWaiting reports whether a delivery of input that waits for a continue-as-new start counts
	// (engine.Build.CountsWaiting).
	CountsWaiting func(b *engine.Build) bool
	// SessionCap returns how many sessions the node may serve at a time, given the option's value.
	SessionCap func(most int) int
	// PlainFetchWaits lets a fetch without a session config wait for work as long as any other. When the node's number
	// of sessions drops, it asks for sessions again, but the waiting fetch still has the old request.
	PlainFetchWaits bool
	// RenewsSessions makes the node renew the sessions that it owns.
	RenewsSessions bool
	// UnregisteredBackoff returns the delay for work without a handler on its n-th delivery.
	UnregisteredBackoff func(n uint32, base, most time.Duration) time.Duration
	// BounceBackoff returns the delay for bounced work on its n-th delivery.
	BounceBackoff func(n uint32, base, most time.Duration) time.Duration
	// SweepSpares reports whether a sweeper spares an execution, given whether its node admits it.
	SweepSpares func(admits bool) bool
	// SweepDue reports whether a sweeper ends work that has been blocked for that long, given the option's value.
	SweepDue func(blocked, after time.Duration) bool
	// PauseAfterNothing returns the pause after a fetch found nothing, given how long the fetch took.
	PauseAfterNothing func(took, interval time.Duration) time.Duration
	// PauseAfterError returns the pause after a failed fetch, where k counts consecutive retryable failures; false
	// stops fetching.
	PauseAfterError func(retryable bool, k int) (time.Duration, bool)
	// AckFailed returns the reaction to a failed ack, given the number of the ack's failures so far.
	AckFailed func(kind SlotKind, err error, failures int) AckStep
	// RenewalInterval returns the time until the node renews a lock, 0 for never.
	RenewalInterval func(timeout, buffer time.Duration) time.Duration
	// RenewsWhileDraining makes a draining node keep renewing the locks that it holds.
	RenewsWhileDraining bool
	// TurnRenewalFailed reports whether the node retries a failed renewal of a turn's lock.
	TurnRenewalFailed func(err error) bool
	// ActivityRenewalFailed returns the reaction to a failed renewal of an activity's lock.
	ActivityRenewalFailed func(err error) RenewalStep
	// WorkerItems returns the activities that a turn's ack enqueues.
	WorkerItems func(turn []engine.WorkItem) []engine.WorkItem
	// FailureFails makes the node acknowledge an activity's failure as a failure rather than as a result.
	FailureFails bool
	// ResolvesAsRecorded makes a turn run the handler version that the history records, if the execution has begun.
	// Otherwise the turn runs the version that a start would get now.
	ResolvesAsRecorded bool
	// DuplicateStart is the effect of a start when the execution has already begun or has continued as new.
	DuplicateStart DuplicateStart
	// PoisonTellsParent reports whether a poisoned child sends its failure to its parent.
	PoisonTellsParent func(undecodable bool) bool
	// PoisonEnds makes poison end the execution; otherwise the node reports it and abandons the batch.
	PoisonEnds bool
	// PoisonCancels makes poison cancel the execution's activities.
	PoisonCancels bool
	// PoisonAnswersStarts makes poison answer the parents of the starts in the batch.
	PoisonAnswersStarts bool
	// PoisonPins makes poison pin the execution that it creates when no execution has begun.
	PoisonPins bool
	// StatusIsTold makes the node take the current execution's status from the provider; otherwise the node takes it
	// from the history.
	StatusIsTold bool
	// PoisonWaitsForStart makes the poison of a ContinuedAsNew execution belong to the next execution and wait for its
	// start. Otherwise the node appends the poison to the old execution.
	PoisonWaitsForStart bool
}

// Test is one of the tests on a fetched batch. No test uses the result of another.
type Test uint8

// The tests, in their order (docs/contract-decisions.md#row-1). If none applies, the node runs the batch.
const (
	TestTerminal     Test = iota // current execution Completed or Failed, or nothing to run
	TestPoison                   // delivered too often
	TestHistoryError             // undecodable
	TestIncompatible             // pin outside the node's range
	TestWaitForStart             // input before a continue-as-new start
	TestHandler                  // no handler
)

// DuplicateStart is the effect of a start when the execution has already begun or has continued as new.
type DuplicateStart uint8

// The effects of a duplicate start.
const (
	DuplicateChangesNothing DuplicateStart = iota
	DuplicateBrings                        // its name and version replace the recorded ones: the turn runs that code
	DuplicateWins                          // over the continue-as-new start behind it: the node drops the batch
)

// AckStep is the reaction to a failed ack.
type AckStep struct {
	Do    AckAction
	After time.Duration // for AckRetry
}

// AckAction is the action after a failed ack.
type AckAction uint8

// The actions after a failed ack.
const (
	AckRetry   AckAction = iota // send the same ack again
	AckAbandon                  // abandon the work
	AckForget                   // do nothing
	AckFail                     // commit a failure of the orchestration instead, as 0.1.26 does
)

// RenewalStep is the reaction to a failed renewal of an activity's lock.
type RenewalStep uint8

// The reactions to a failed renewal.
const (
	RenewalRetry    RenewalStep = iota // the lock may be live: retry until it has expired
	RenewalHandBack                    // the activity is lost: stop it, abandon it in case the lock is live
	RenewalDiscard                     // the activity is cancelled: stop it, acknowledge it without a completion
)

// DefaultRules returns the rules of the contract profile.
func DefaultRules() *Rules {
	return &Rules{
		Order:                 []Test{TestTerminal, TestPoison, TestHistoryError, TestIncompatible, TestWaitForStart, TestHandler},
		Ended:                 endedDropsMessages,
		ExceedsMaxAttempts:    func(count, most uint32) bool { return count > most },
		Admits:                (*engine.CapabilityFilter).Admits, // as the provider does, so that the two never differ
		DeclareFilter:         engine.FilterFor,
		AbandonIgnoresAttempt: uncounted,
		CountsWaiting:         func(b *engine.Build) bool { return b.CountsWaiting },
		SessionCap:            func(most int) int { return most },
		RenewsSessions:        true,
		UnregisteredBackoff:   UnregisteredBackoff,
		BounceBackoff:         UnregisteredBackoff,
		SweepSpares:           func(admits bool) bool { return admits },
		SweepDue:              func(blocked, after time.Duration) bool { return blocked >= after },
		PauseAfterNothing:     func(took, interval time.Duration) time.Duration { return interval - took },
		PauseAfterError:       pauseAfterError,
		AckFailed:             retryAck,
		RenewalInterval:       RenewalInterval,
		RenewsWhileDraining:   true,
		TurnRenewalFailed:     engine.IsRetryable,
		ActivityRenewalFailed: activityRenewalFailed,
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

// uncounted reports whether the decision says nothing about the work itself, so that the delivery does not count.
func uncounted(d Decision) bool {
	return d == DecideWaitForStart || d == DecideDrained || d == DecideSessionsFull || d == DecideLooked
}

// endedDropsMessages keeps the messages of a ContinuedAsNew execution, since they belong to its successor, started or
// not.
func endedDropsMessages(status engine.Status, _ bool) bool {
	return status == engine.StatusCompleted || status == engine.StatusFailed
}

func pauseAfterError(retryable bool, k int) (time.Duration, bool) {
	if retryable {
		return FetchErrorBackoff(k), true
	}
	return permanentFetchErrorDelay, true
}

// retryAck retries on a retryable error: an ack changes everything or nothing, so the failed one may have changed
// nothing. A permanent error means that the ack will change nothing, or that an earlier try took effect and its answer
// was lost.
func retryAck(_ SlotKind, err error, failures int) AckStep {
	if engine.IsRetryable(err) && failures <= AckRetries {
		return AckStep{Do: AckRetry, After: AckRetryDelay(failures)}
	}
	return AckStep{Do: AckAbandon}
}

func activityRenewalFailed(err error) RenewalStep {
	if engine.IsRetryable(err) {
		return RenewalRetry
	}
	return RenewalHandBack
}
