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

// point is the dense number of a coverage point.
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
	pointRelief
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

// Points names the points, in the order of their numbers.
var Points = [points]Point{
	{"ack-after-lock-expiry", "a turn's ack came when its lock had run out and nobody had taken it over"},
	{"answer-lost-after-commit", "an ack took effect and its node was told of a failure"},
	{"poison-through-history-error", "an instance was poisoned because its history or a message cannot be decoded"},
	{"poison", "an orchestration was declared poisonous"},
	{"work-poison", "an activity was declared poisonous"},
	{"healthy-poisoned", "work that a live node runs was poisoned without enough chargeable deliveries"},
	{"attempt-count-at-max", "a turn ran at the last attempt before poison"},
	{"attempt-count-above-one", "a node was handed work with an attempt count above one"},
	{"can-on-newer-build", "a continue-as-new began its next execution on a newer build"},
	{"can-on-older-build", "a continue-as-new began its next execution on an older build"},
	{"stale-completion-dropped", "a turn dropped a completion of an earlier execution"},
	{"two-builds-live", "nodes of two builds were up at once"},
	{"three-builds-live", "nodes of three or more builds were up at once"},
	{"served-by-other-build", "a turn of a pinned execution was committed by a build that is not its pin"},
	{"rollback-with-newer-pins", "a node went back to an older build while an execution pinned above it was running"},
	{"self-stranded", "a node's range leaves out the pin that it gives to what it starts"},
	{"upgrade-under-load", "a node changed its build while instances had work queued"},
	{"drain-while-holding", "a node was asked to stop while it held a delivery"},
	{"relief", "work waited for a build that no live node ran, when calm had ended"},
	{"same-turn-schedule-and-cancel", "one turn scheduled an activity and cancelled it"},
	{"crash-between-fetch-and-ack", "a node crashed while it held a delivery"},
	{"crash-after-commit", "a node crashed after its ack took effect and before it was told"},
	{"lock-expired-and-taken-over", "a fetch took an instance whose holder's lock had run out"},
	{"activity-retaken", "an activity was handed out again"},
	{"filtered-out", "a fetch passed over visible work for its filter"},
	{"nobody-admits", "visible work waited that no live node admitted"},
	{"wait-over", "work that nobody had admitted was handed out"},
	{"parked", "a fetch found nothing and waited"},
	{"parked-and-woken", "a fetch that waited was tried again"},
	{"abandon-unregistered", "work was given back for want of a handler"},
	{"abandon-history-error", "work was given back because it cannot be decoded"},
	{"abandon-incompatible", "a node was handed a pin outside its range and gave it back"},
	{"wait-for-start", "input was given back that stands before a continue-as-new start"},
	{"ack-failed", "an ack failed for good and its work was given back"},
	{"drop-terminal", "messages for an ended instance were dropped"},
	{"activity-lost", "a worker learned that it had lost its activity"},
	{"child-completed", "a parent's history got a child's result"},
	{"external-event-2-recorded", "an event of the new generation was recorded"},
	{"cancel-arrived", "a cancel request was recorded"},
	{"message-arrived-during-lock", "a message arrived while its instance was locked"},
	{"pin-at-range-end", "a node was handed a pin that is the upper bound of its filter"},
	{"pin-at-range-start", "a node was handed a pin that is the lower bound of its filter"},
	{"unpinned-start", "a node was handed an instance without a pin"},
	{"pre-release-build", "a node of a pre-release build was up"},
	{"poison-through-missing-handler", "an instance was poisoned because its node has no handler for it"},
	{"handler-withdrawn", "a handler was taken from a node while an execution of it was running"},
	{"older-handler-asked-for", "a start that named a version began with other code than the latest that its node has"},
	{"self-stranded-start", "a node began an execution that its own range leaves out"},
	{"session-taken-over", "an activity went to another owner than the one that its session had"},
	{"instance-deleted", "an instance was deleted"},
	{"running-instance-deleted", "an instance was deleted while it was running"},
	{"held-instance-deleted", "an instance was deleted while somebody held it"},
	{"late-ack-after-deletion", "an ack came for what was fetched before its instance was deleted, and was refused"},
	{"execution-pruned", "an execution was pruned"},
	{"pruned-under-load", "an execution was pruned of an instance that was held or had messages queued"},
	{"message-carried-over", "a continue-as-new carried an unread queue message over"},
	{"carry-limit-reached", "a continue-as-new left queue messages behind, since it carries the oldest 20 only"},
	{"keys-merged", "the end of an execution merged key-value changes"},
	{"key-removed-by-merge", "such a merge removed a key that was cleared"},
}

// All returns the points that a run can reach, sorted by name. Besides them a run reports a point for each kind of
// fault that it injected ("fault answer-lost"), for each change of a node's build and the phase in which it happened
// ("upgrade 1.5.0->2.0.0 turbulence", "rollback ..."), for each kind of event in a history that a node which had changed
// so was handed in that phase ("upgrade 1.5.0->2.0.0 turbulence TimerFired", once a run), and for each fulfilled
// sometimes of a scenario ("expect:LINE:TEXT").
func All() []Point {
	list := slices.Clone(Points[:])
	for _, f := range faults.Kinds() {
		list = append(list, Point{"fault " + string(f.Kind), f.Summary})
	}
	slices.SortFunc(list, func(a, b Point) int { return strings.Compare(a.Name, b.Name) })
	return list
}
