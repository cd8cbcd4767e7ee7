package node

import (
	"time"

	"github.com/durosim/durosim/engine"
)

// Rules are the decisions of a node that can be got wrong. A seeded bug replaces one of them ([Bugs]); everything else
// takes DefaultRules. Rules are read only, and may be shared by nodes.
type Rules struct {
	// Order is the order of the tests on a fetched batch; the first that applies decides.
	Order []Test
	// Ended says whether messages for a current execution of that status are acknowledged and dropped. hasStart says
	// whether the batch has its continue-as-new start.
	Ended func(status engine.Status, hasStart bool) bool
	// ExceedsMaxAttempts says whether a delivery is poison.
	ExceedsMaxAttempts func(count, most uint32) bool
	// Admits says whether the node replays an execution of that pin; nil is unpinned.
	Admits func(supported *engine.CapabilityFilter, pin *engine.Version) bool
	// DeclareFilter is the filter that the node fetches with.
	DeclareFilter func(supported engine.VersionRange) *engine.CapabilityFilter
	// AbandonIgnoresAttempt says whether an abandon for that decision takes the delivery out of the count.
	AbandonIgnoresAttempt func(d Decision) bool
	// SessionCap is how many sessions the node may serve at a time, given the option.
	SessionCap func(most int) int
	// RenewsSessions says whether the node renews the sessions that it owns.
	RenewsSessions bool
	// UnregisteredBackoff is the delay for work without a handler at its n-th delivery.
	UnregisteredBackoff func(n uint32, base, most time.Duration) time.Duration
	// PauseAfterNothing is the pause after a fetch that found nothing and took that long.
	PauseAfterNothing func(took, interval time.Duration) time.Duration
	// PauseAfterError is the pause after a failed fetch, the k-th retryable one in a row; false is to fetch no more.
	PauseAfterError func(retryable bool, k int) (time.Duration, bool)
	// AckFailed says what follows an ack that failed, for the failures-th time.
	AckFailed func(kind SlotKind, err error, failures int) AckStep
	// RenewalInterval is when a lock is renewed, 0 for never.
	RenewalInterval func(timeout, buffer time.Duration) time.Duration
	// RenewsWhileDraining says whether a draining node goes on to renew what it holds.
	RenewsWhileDraining bool
	// TurnRenewalFailed says whether a failed renewal of a turn's lock is tried again.
	TurnRenewalFailed func(err error) bool
	// ActivityRenewalFailed says what a failed renewal of an activity's lock means.
	ActivityRenewalFailed func(err error) RenewalStep
	// WorkerItems are the activities that a turn's ack enqueues.
	WorkerItems func(turn []engine.WorkItem) []engine.WorkItem
	// FailureFails says whether an activity's failure is acknowledged as one, rather than as its result.
	FailureFails bool
	// ResolvesAsRecorded says whether a turn of an execution that has begun runs the version of its handler that the
	// history records; otherwise it runs the one that a start would get now.
	ResolvesAsRecorded bool
	// DuplicateStart says what a start does that finds the execution begun, or continued as new.
	DuplicateStart DuplicateStart
	// PoisonTellsParent says whether a poisoned child answers its parent.
	PoisonTellsParent func(undecodable bool) bool
	// PoisonCancels says whether a poisoned execution's activities are cancelled.
	PoisonCancels bool
	// PoisonPins says whether the poison of what has not begun pins the execution that it makes.
	PoisonPins bool
	// StatusIsTold says whether the current execution's status is the provider's to tell; otherwise its history shows it.
	StatusIsTold bool
	// PoisonWaitsForStart says whether the poison of an execution that is ContinuedAsNew belongs to the next one, and
	// waits for its start; otherwise it is appended to the old one.
	PoisonWaitsForStart bool
}

// Test is one of the tests on a fetched batch. None of them uses what another has found.
type Test uint8

// The tests, in their order (docs/contract-decisions.md#row-1); what none of them catches is run.
const (
	TestTerminal     Test = iota // current execution Completed or Failed, or nothing to run for
	TestPoison                   // delivered too often
	TestHistoryError             // undecodable
	TestIncompatible             // pin outside the node's range
	TestWaitForStart             // input before a continue-as-new start
	TestHandler                  // no handler
)

// DuplicateStart is what a start does that finds the execution begun, or continued as new.
type DuplicateStart uint8

// What a duplicate start does.
const (
	DuplicateChangesNothing DuplicateStart = iota
	DuplicateBrings                        // its name and version: the turn runs that code
	DuplicateWins                          // over the continue-as-new start behind it: the batch is dropped
)

// AckStep is what follows a failed ack.
type AckStep struct {
	Do    AckAction
	After time.Duration // for AckRetry
}

// AckAction is what to do after a failed ack.
type AckAction uint8

// The actions after a failed ack.
const (
	AckRetry   AckAction = iota // the same ack again
	AckAbandon                  // give the work back
	AckForget                   // do nothing
	AckFail                     // commit a failure of the orchestration instead: what 0.1.26 does
)

// RenewalStep is what a failed renewal of an activity's lock means.
type RenewalStep uint8

// The meanings of a failed renewal.
const (
	RenewalRetry    RenewalStep = iota // nothing yet: again, until the lock has run out
	RenewalHandBack                    // the activity is lost: stop it, give it back in case the lock lives
	RenewalDiscard                     // the activity is cancelled: stop it, acknowledge it without a completion
)

// DefaultRules are the rules of the contract profile.
func DefaultRules() *Rules {
	return &Rules{
		Order:                 []Test{TestTerminal, TestPoison, TestHistoryError, TestIncompatible, TestWaitForStart, TestHandler},
		Ended:                 endedDropsMessages,
		ExceedsMaxAttempts:    func(count, most uint32) bool { return count > most },
		Admits:                (*engine.CapabilityFilter).Admits, // as the provider does, so that the two never differ
		DeclareFilter:         engine.FilterFor,
		AbandonIgnoresAttempt: uncounted,
		SessionCap:            func(most int) int { return most },
		RenewsSessions:        true,
		UnregisteredBackoff:   UnregisteredBackoff,
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
		PoisonCancels:         true,
		PoisonPins:            true,
		StatusIsTold:          true,
		PoisonWaitsForStart:   true,
	}
}

// uncounted: what says nothing about the work itself is no attempt.
func uncounted(d Decision) bool {
	return d == DecideWaitForStart || d == DecideDrained || d == DecideSessionsFull
}

// endedDropsMessages: a ContinuedAsNew execution has a successor, started or not, for which its input is meant.
func endedDropsMessages(status engine.Status, _ bool) bool {
	return status == engine.StatusCompleted || status == engine.StatusFailed
}

func pauseAfterError(retryable bool, k int) (time.Duration, bool) {
	if retryable {
		return FetchErrorBackoff(k), true
	}
	return permanentFetchErrorDelay, true
}

// retryAck: an ack changes nothing or everything, so the same ack may be sent again as long as it may have changed
// nothing; "permanent" says that it will not, or that an earlier one has (its answer lost).
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
