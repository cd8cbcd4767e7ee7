package coverage

import (
	"slices"
	"strings"

	"github.com/durosim/durosim/faults"
)

// Point describes a coverage point: a named state that a campaign should reach.
type Point struct {
	Name    string
	Summary string
}

// point is the dense number for a coverage point: its index in Points.
type point uint8

// Points describes the points, indexed by their numbers. It does not change once the variables below are made.
var Points []Point

func newPoint(name, summary string) point {
	Points = append(Points, Point{name, summary})
	return point(len(Points) - 1)
}

var (
	pointAckAfterExpiry        = newPoint("ack-after-lock-expiry", "the ack of a turn came after its lock had expired, and no other node had taken the instance")
	pointAnswerLostAfterCommit = newPoint("answer-lost-after-commit", "an ack took effect, but its node got an error")
	pointPoisonHistoryError    = newPoint("poison-through-history-error", "an instance was poisoned because its history or a message cannot be decoded")
	pointPoison                = newPoint("poison", "an orchestration was declared poisonous")
	pointWorkPoison            = newPoint("work-poison", "an activity was declared poisonous")
	pointHealthyPoisoned       = newPoint("healthy-poisoned", "work that a live node runs was poisoned without enough chargeable deliveries")
	pointLastAttempt           = newPoint("attempt-count-at-max", "a turn ran at the last attempt before poison")
	pointAttemptAboveOne       = newPoint("attempt-count-above-one", "a node received work with an attempt count above one")
	pointCanOnNewer            = newPoint("can-on-newer-build", "a continue-as-new began its next execution on a newer build")
	pointCanOnOlder            = newPoint("can-on-older-build", "a continue-as-new began its next execution on an older build")
	pointStaleDropped          = newPoint("stale-completion-dropped", "a turn dropped a completion of an earlier execution")
	pointTwoBuilds             = newPoint("two-builds-live", "nodes of two builds were up at once")
	pointThreeBuilds           = newPoint("three-builds-live", "nodes of at least three builds were up at once")
	pointMixedServed           = newPoint("served-by-other-build", "a build other than the pin committed a turn of a pinned execution")
	pointRollbackNewerPins     = newPoint("rollback-with-newer-pins", "a node went back to an older build while an execution pinned above it was running")
	pointSelfStranded          = newPoint("self-stranded", "the range of a node excludes the pin that the node gives to new executions")
	pointUpgradeUnderLoad      = newPoint("upgrade-under-load", "a node changed its build while instances had work queued")
	pointDrainHolding          = newPoint("drain-while-holding", "a node was asked to stop while it held a delivery")
	pointRescue                = newPoint("rescue", "at the end of recovery, work waited for a build that no live node ran")
	pointScheduleAndCancel     = newPoint("same-turn-schedule-and-cancel", "one turn scheduled an activity and cancelled it")
	pointCrashHolding          = newPoint("crash-between-fetch-and-ack", "a node crashed while it held a delivery")
	pointCrashAfterCommit      = newPoint("crash-after-commit", "a node crashed after its ack took effect and before the answer came")
	pointTakenOver             = newPoint("lock-expired-and-taken-over", "a fetch took an instance after the lock of its holder had expired")
	pointActivityRetaken       = newPoint("activity-retaken", "an activity was handed out again")
	pointFilteredOut           = newPoint("filtered-out", "a fetch skipped visible work because of its filter")
	pointNobodyAdmits          = newPoint("nobody-admits", "no live node admitted some visible work")
	pointWaitOver              = newPoint("wait-over", "work was delivered that no node had admitted before")
	pointParked                = newPoint("parked", "a fetch found nothing and waited")
	pointWoken                 = newPoint("parked-and-woken", "a fetch that waited was tried again")
	pointNoHandler             = newPoint("abandon-unregistered", "work was given back because its handler is missing")
	pointHistoryError          = newPoint("abandon-history-error", "work was given back because it cannot be decoded")
	pointIncompatible          = newPoint("abandon-incompatible", "a node received a pin outside its range and gave the work back")
	pointWaitForStart          = newPoint("wait-for-start", "input that precedes a continue-as-new start was given back")
	pointAckFailed             = newPoint("ack-failed", "an ack failed permanently and its work was given back")
	pointDropTerminal          = newPoint("drop-terminal", "messages for an ended instance were dropped")
	pointWorkLost              = newPoint("activity-lost", "a worker noticed that it had lost its activity")
	pointChildCompleted        = newPoint("child-completed", "a parent's history got a child's result")
	pointExternalEvent2        = newPoint("external-event-2-recorded", "an event of the new generation was recorded")
	pointCancelArrived         = newPoint("cancel-arrived", "a cancel request was recorded")
	pointDuringLock            = newPoint("message-arrived-during-lock", "a message arrived while its instance was locked")
	pointPinAtMax              = newPoint("pin-at-range-end", "a node received a pin that is the upper bound of its filter")
	pointPinAtMin              = newPoint("pin-at-range-start", "a node received a pin that is the lower bound of its filter")
	pointUnpinnedStart         = newPoint("unpinned-start", "a node received an instance without a pin")
	pointPreRelease            = newPoint("pre-release-build", "a node of a pre-release build was up")
	pointPoisonNoHandler       = newPoint("poison-through-missing-handler", "an instance was poisoned because its node has no handler for it")
	pointHandlerWithdrawn      = newPoint("handler-withdrawn", "a node lost a handler while an execution of it was running")
	pointOlderHandler          = newPoint("older-handler-asked-for", "a start that names a version ran a version of the handler other than the latest on its node")
	pointStrandedStart         = newPoint("self-stranded-start", "a node began an execution that its own range excludes")
	pointSessionTakenOver      = newPoint("session-taken-over", "an activity went to an owner other than that of its session")
	pointDeleted               = newPoint("instance-deleted", "an instance was deleted")
	pointDeletedRunning        = newPoint("running-instance-deleted", "an instance was deleted while it was running")
	pointDeletedHeld           = newPoint("held-instance-deleted", "an instance was deleted while a node held it")
	pointLateAck               = newPoint("late-ack-after-deletion", "an ack for work that was fetched before its instance was deleted came late, and was refused")
	pointPruned                = newPoint("execution-pruned", "an execution was pruned")
	pointPrunedAtWork          = newPoint("pruned-under-load", "an execution was pruned while its instance was held or had messages queued")
	pointCarried               = newPoint("message-carried-over", "a continue-as-new carried an unread queue message over")
	pointCarryLimit            = newPoint("carry-limit-reached", "a continue-as-new did not carry all queue messages over, since it carries only the oldest 20")
	pointKVMerged              = newPoint("keys-merged", "the end of an execution merged key-value changes")
	pointTombstoneMerged       = newPoint("key-removed-by-merge", "the end of an execution removed a key that was cleared")
)

// All returns the points that a run can reach, sorted by name. In addition, a run reports a point
//
//   - for each kind of fault that it injected ("fault answer-lost");
//   - for each change of a node's build, with the phase in which it happened ("upgrade 1.5.0->2.0.0 faults",
//     "rollback ...");
//   - for each kind of event in a history that a node received after such a change in that phase ("upgrade 1.5.0->2.0.0
//     faults TimerFired"), once per run;
//   - for each fulfilled sometimes line of a scenario, and each always line that something matched
//     ("expect:LINE:TEXT").
func All() []Point {
	list := slices.Clone(Points)
	for _, f := range faults.Kinds() {
		list = append(list, Point{"fault " + string(f.Kind), f.Summary})
	}
	slices.SortFunc(list, func(a, b Point) int { return strings.Compare(a.Name, b.Name) })
	return list
}
