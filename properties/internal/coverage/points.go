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

// point is the dense number for a coverage point.
type point uint8

const (
	pointAckAfterExpiry point = iota
	pointAnswerLostAfterCommit
	pointPoisonHistoryError
	pointPoison
	pointWorkPoison
	pointHealthyPoisoned
	pointLastAttempt
	pointAttemptAboveOne
	pointCanOnNewer
	pointCanOnOlder
	pointStaleDropped
	pointTwoBuilds
	pointThreeBuilds
	pointMixedServed
	pointRollbackNewerPins
	pointSelfStranded
	pointUpgradeUnderLoad
	pointDrainHolding
	pointRescue
	pointScheduleAndCancel
	pointCrashHolding
	pointCrashAfterCommit
	pointTakenOver
	pointActivityRetaken
	pointFilteredOut
	pointNobodyAdmits
	pointWaitOver
	pointParked
	pointWoken
	pointNoHandler
	pointHistoryError
	pointIncompatible
	pointWaitForStart
	pointAckFailed
	pointDropTerminal
	pointWorkLost
	pointChildCompleted
	pointExternalEvent2
	pointCancelArrived
	pointDuringLock
	pointPinAtMax
	pointPinAtMin
	pointUnpinnedStart
	pointPreRelease
	pointPoisonNoHandler
	pointHandlerWithdrawn
	pointOlderHandler
	pointStrandedStart
	pointSessionTakenOver
	pointDeleted
	pointDeletedRunning
	pointDeletedHeld
	pointLateAck
	pointPruned
	pointPrunedAtWork
	pointCarried
	pointCarryLimit
	pointKVMerged
	pointTombstoneMerged
	points
)

// Points describes the points, indexed by their numbers.
var Points = [points]Point{
	{"ack-after-lock-expiry", "the ack of a turn came after its lock had expired, and no other node had taken the instance"},
	{"answer-lost-after-commit", "an ack took effect, but its node got an error"},
	{"poison-through-history-error", "an instance was poisoned because its history or a message cannot be decoded"},
	{"poison", "an orchestration was declared poisonous"},
	{"work-poison", "an activity was declared poisonous"},
	{"healthy-poisoned", "work that a live node runs was poisoned without enough chargeable deliveries"},
	{"attempt-count-at-max", "a turn ran at the last attempt before poison"},
	{"attempt-count-above-one", "a node received work with an attempt count above one"},
	{"can-on-newer-build", "a continue-as-new began its next execution on a newer build"},
	{"can-on-older-build", "a continue-as-new began its next execution on an older build"},
	{"stale-completion-dropped", "a turn dropped a completion of an earlier execution"},
	{"two-builds-live", "nodes of two builds were up at once"},
	{"three-builds-live", "nodes of at least three builds were up at once"},
	{"served-by-other-build", "a build other than the pin committed a turn of a pinned execution"},
	{"rollback-with-newer-pins", "a node went back to an older build while an execution pinned above it was running"},
	{"self-stranded", "the range of a node excludes the pin that the node gives to new executions"},
	{"upgrade-under-load", "a node changed its build while instances had work queued"},
	{"drain-while-holding", "a node was asked to stop while it held a delivery"},
	{"rescue", "at the end of recovery, work waited for a build that no live node ran"},
	{"same-turn-schedule-and-cancel", "one turn scheduled an activity and cancelled it"},
	{"crash-between-fetch-and-ack", "a node crashed while it held a delivery"},
	{"crash-after-commit", "a node crashed after its ack took effect and before the answer came"},
	{"lock-expired-and-taken-over", "a fetch took an instance after the lock of its holder had expired"},
	{"activity-retaken", "an activity was handed out again"},
	{"filtered-out", "a fetch skipped visible work because of its filter"},
	{"nobody-admits", "no live node admitted some visible work"},
	{"wait-over", "work was delivered that no node had admitted before"},
	{"parked", "a fetch found nothing and waited"},
	{"parked-and-woken", "a fetch that waited was tried again"},
	{"abandon-unregistered", "work was given back because its handler is missing"},
	{"abandon-history-error", "work was given back because it cannot be decoded"},
	{"abandon-incompatible", "a node received a pin outside its range and gave the work back"},
	{"wait-for-start", "input that precedes a continue-as-new start was given back"},
	{"ack-failed", "an ack failed permanently and its work was given back"},
	{"drop-terminal", "messages for an ended instance were dropped"},
	{"activity-lost", "a worker noticed that it had lost its activity"},
	{"child-completed", "a parent's history got a child's result"},
	{"external-event-2-recorded", "an event of the new generation was recorded"},
	{"cancel-arrived", "a cancel request was recorded"},
	{"message-arrived-during-lock", "a message arrived while its instance was locked"},
	{"pin-at-range-end", "a node received a pin that is the upper bound of its filter"},
	{"pin-at-range-start", "a node received a pin that is the lower bound of its filter"},
	{"unpinned-start", "a node received an instance without a pin"},
	{"pre-release-build", "a node of a pre-release build was up"},
	{"poison-through-missing-handler", "an instance was poisoned because its node has no handler for it"},
	{"handler-withdrawn", "a node lost a handler while an execution of it was running"},
	{"older-handler-asked-for", "a start that names a version ran a version of the handler other than the latest on its node"},
	{"self-stranded-start", "a node began an execution that its own range excludes"},
	{"session-taken-over", "an activity went to an owner other than that of its session"},
	{"instance-deleted", "an instance was deleted"},
	{"running-instance-deleted", "an instance was deleted while it was running"},
	{"held-instance-deleted", "an instance was deleted while a node held it"},
	{"late-ack-after-deletion", "an ack for work that was fetched before its instance was deleted came late, and was refused"},
	{"execution-pruned", "an execution was pruned"},
	{"pruned-under-load", "an execution was pruned while its instance was held or had messages queued"},
	{"message-carried-over", "a continue-as-new carried an unread queue message over"},
	{"carry-limit-reached", "a continue-as-new did not carry all queue messages over, since it carries only the oldest 20"},
	{"keys-merged", "the end of an execution merged key-value changes"},
	{"key-removed-by-merge", "the end of an execution removed a key that was cleared"},
}

// All returns the points that a run can reach, sorted by name. In addition, a run reports a point
//
//   - for each kind of fault that it injected ("fault answer-lost");
//   - for each change of a node's build, with the phase in which it happened ("upgrade 1.5.0->2.0.0 faults",
//     "rollback ...");
//   - for each kind of event in a history that a node received after such a change in that phase ("upgrade 1.5.0->2.0.0
//     faults TimerFired"), once per run;
//   - for each fulfilled sometimes line of a scenario ("expect:LINE:TEXT").
func All() []Point {
	list := slices.Clone(Points[:])
	for _, f := range faults.Kinds() {
		list = append(list, Point{"fault " + string(f.Kind), f.Summary})
	}
	slices.SortFunc(list, func(a, b Point) int { return strings.Compare(a.Name, b.Name) })
	return list
}
