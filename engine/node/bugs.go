package node

import (
	"math"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/bugs"
)

// Bug is a seeded bug of a node: a named way to get one rule wrong.
type Bug struct {
	ID      bugs.ID
	Summary string
	Apply   func(*Rules)
}

// Bugs are the seeded bugs of this package, sorted by id. The caller owns the slice.
func Bugs() []Bug { return slices.Clone(seededBugs) }

// RulesWith are the default rules with the switched-on bugs applied, in the order of Bugs. Ids of other packages are
// ignored.
func RulesWith(on *bugs.Set) *Rules {
	r := DefaultRules()
	for _, b := range seededBugs {
		if on.On(b.ID) {
			b.Apply(r)
		}
	}
	return r
}

var seededBugs = []Bug{
	{"duroxide-0.1.26/corrupted-parent-not-told", "the poison of an undecodable history does not tell the parent (10.2)", func(r *Rules) {
		r.PoisonTellsParent = func(undecodable bool) bool { return !undecodable }
	}},
	{"duroxide-0.1.26/duplicate-start-code", "a duplicate start of a running instance brings its own handler and version (13.5 56)", func(r *Rules) {
		r.DuplicateStart = func() DuplicateStart { return DuplicateBrings }
	}},
	{"duroxide-0.1.26/duplicate-start-wins", "a duplicate start before a continue-as-new start has the batch dropped (13.2 18)", func(r *Rules) {
		r.DuplicateStart = func() DuplicateStart { return DuplicateWins }
	}},
	{"duroxide-0.1.26/poison-cancels-nothing", "the activities of a poisoned execution run on (10.1)", func(r *Rules) {
		r.PoisonCancels = func() bool { return false }
	}},
	{"duroxide-0.1.26/poison-on-old-execution", "the poison of a continue-as-new start fails the execution that continued (10.1)", func(r *Rules) {
		r.PoisonWaitsForStart = func() bool { return false }
	}},
	{"duroxide-0.1.26/poisoned-start-unpinned", "a poisoned start makes an execution without a pin (10.1)", func(r *Rules) {
		r.PoisonPins = func() bool { return false }
	}},
	{"duroxide-0.1.26/renewal-stops-at-shutdown", "a draining node lets the locks of what it holds run out (5.5, 6.3)", func(r *Rules) {
		r.RenewsWhileDraining = func() bool { return false }
	}},
	{"duroxide-0.1.26/status-by-history", "an undecodable instance is never ended, and its second poison is refused for ever (13.1 16)", func(r *Rules) {
		r.StatusIsTold = func() bool { return false }
	}},
	{"duroxide-0.1.26/turn-abandon-not-sent", "a turn whose ack failed for good is not given back: its lock runs out (5.4)", func(r *Rules) {
		next := r.AckFailed
		r.AckFailed = func(kind SlotKind, err error, failures int) AckStep {
			step := next(kind, err, failures)
			if step.Do == AckAbandon && kind == SlotOrchestration {
				step.Do = AckForget
			}
			return step
		}
	}},
	{"duroxide-0.1.26/turn-renewal-gives-up", "any failed renewal of a turn is its last (5.5)", func(r *Rules) {
		r.TurnRenewalFailed = func(error) bool { return false }
	}},
	{"duroxide-0.1.26/version-check-first", "an incompatible pin is tested before poison, so a bounced item never ends (10.4)", func(r *Rules) {
		r.Order = moved(r.Order, TestIncompatible, 0)
	}},
	{"duroxide-0.1.26/worker-ack-not-retried", "the ack of an activity is sent once (6.2)", func(r *Rules) {
		next := r.AckFailed
		r.AckFailed = func(kind SlotKind, err error, failures int) AckStep {
			step := next(kind, err, failures)
			if kind == SlotWorker && step.Do == AckRetry {
				step.Do = AckAbandon
			}
			return step
		}
	}},
	{"engine/ack-failure-fails-orchestration", "a turn whose ack fails for good becomes a failure of the orchestration (5.4)", func(r *Rules) {
		next := r.AckFailed
		r.AckFailed = func(kind SlotKind, err error, failures int) AckStep {
			step := next(kind, err, failures)
			if step.Do == AckAbandon && kind == SlotOrchestration {
				step.Do = AckFail
			}
			return step
		}
	}},
	{"engine/activity-failure-as-result", "an activity that fails is acknowledged as completed, with the failure's text", func(r *Rules) {
		r.FailureFails = func() bool { return false }
	}},
	{"engine/activity-inputs-crossed", "of the activities that one turn schedules, the last two get each other's input", func(r *Rules) {
		r.WorkerItems = withInputsCrossed
	}},
	{"engine/backoff-doubles-forever", "the backoff of a missing handler has no upper bound", func(r *Rules) {
		r.UnregisteredBackoff = func(n uint32, base, _ time.Duration) time.Duration {
			return base << min(max(n, 1)-1, 20)
		}
	}},
	{"engine/can-input-dropped", "input before a waiting continue-as-new start is acknowledged away (2.2 row 5)", func(r *Rules) {
		r.Ended = func(status engine.Status, hasStart bool) bool {
			return endedDropsMessages(status, hasStart) || status == engine.StatusContinuedAsNew && !hasStart
		}
	}},
	{"engine/count-ignored", "nothing is ever poison", func(r *Rules) {
		r.ExceedsMaxAttempts = func(uint32, uint32) bool { return false }
	}},
	{"engine/filter-not-declared", "the node fetches without a filter, and bounces what it cannot replay", func(r *Rules) {
		r.DeclareFilter = func(engine.VersionRange) *engine.CapabilityFilter { return nil }
	}},
	{"engine/history-error-ignores-attempt", "an undecodable history is given back uncounted, so it never ends", func(r *Rules) {
		r.AbandonIgnoresAttempt = alsoIgnoring(r.AbandonIgnoresAttempt, DecideHistoryError)
	}},
	{"engine/incompatible-abandon-ignores-attempt", "an incompatible item is given back uncounted, so it never ends", func(r *Rules) {
		r.AbandonIgnoresAttempt = alsoIgnoring(r.AbandonIgnoresAttempt, DecideIncompatible)
	}},
	{"engine/lock-not-renewed", "no lock is ever renewed", func(r *Rules) {
		r.RenewalInterval = func(time.Duration, time.Duration) time.Duration { return 0 }
	}},
	{"engine/pause-too-long", "a slot whose fetch failed pauses for 15 seconds", func(r *Rules) {
		r.PauseAfterError = func(bool, int) (time.Duration, bool) { return 15 * time.Second, true }
	}},
	{"engine/phantom-activity", "a turn's ack enqueues an activity that no event schedules", func(r *Rules) {
		r.WorkerItems = withPhantom
	}},
	{"engine/phantom-of-next-execution", "a turn's ack enqueues its last activity a second time, for the next execution", func(r *Rules) {
		r.WorkerItems = withPhantomOfNext
	}},
	{"engine/poison-off-by-one", "the last allowed delivery is already poison", func(r *Rules) {
		r.ExceedsMaxAttempts = func(count, most uint32) bool { return count >= most }
	}},
	{"engine/poisons-terminal", "poison is tested before the end, so an ended instance can fail again (10.1)", func(r *Rules) {
		r.Order = moved(r.Order, TestTerminal, slices.Index(r.Order, TestHistoryError))
	}},
	{"engine/poll-stops", "a slot whose fetch failed never fetches again", func(r *Rules) {
		r.PauseAfterError = func(bool, int) (time.Duration, bool) { return 0, false }
	}},
	{"engine/renewal-error-cancels-activity", "any failed renewal cancels the activity, and its row is acknowledged without a completion (6.3)", func(r *Rules) {
		r.ActivityRenewalFailed = func(error) RenewalStep { return RenewalDiscard }
	}},
	{"engine/session-cap-ignored", "a node serves as many sessions as it is given", func(r *Rules) {
		r.SessionCap = func(int) int { return math.MaxInt }
	}},
	{"engine/session-not-renewed", "no session is ever renewed", func(r *Rules) {
		r.RenewsSessions = func() bool { return false }
	}},
	{"engine/turn-not-retried", "a turn whose ack failed is forgotten: not sent again, not given back", func(r *Rules) {
		r.AckFailed = func(SlotKind, error, int) AckStep { return AckStep{Do: AckForget} }
	}},
	{"engine/version-check-missing", "the node replays any pin that it is given", func(r *Rules) {
		r.Admits = func(*engine.CapabilityFilter, *engine.Version) bool { return true }
	}},
}

// moved is the order with one test taken out and put in at another place, the others as they were.
func moved(order []Test, t Test, to int) []Test {
	rest := slices.DeleteFunc(slices.Clone(order), func(have Test) bool { return have == t })
	return slices.Insert(rest, to, t)
}

func alsoIgnoring(next func(Decision) bool, also Decision) func(Decision) bool {
	return func(d Decision) bool { return d == also || next(d) }
}

// withPhantom repeats the last activity under the next event's id, as a node would that numbers an item twice.
func withPhantom(turn []engine.WorkItem) []engine.WorkItem {
	return withPhantomOf(turn, func(a *engine.ActivityExecuteItem) { a.ID++ })
}

// withPhantomOfNext repeats it as one of the execution that comes after this one.
func withPhantomOfNext(turn []engine.WorkItem) []engine.WorkItem {
	return withPhantomOf(turn, func(a *engine.ActivityExecuteItem) { a.ExecutionID++ })
}

func withPhantomOf(turn []engine.WorkItem, change func(a *engine.ActivityExecuteItem)) []engine.WorkItem {
	for _, item := range slices.Backward(turn) {
		if a, ok := item.(engine.ActivityExecuteItem); ok {
			change(&a)
			return append(slices.Clone(turn), a)
		}
	}
	return turn
}

// withInputsCrossed gives the last two activities each other's input.
func withInputsCrossed(turn []engine.WorkItem) []engine.WorkItem {
	if len(turn) < 2 {
		return turn
	}
	out := slices.Clone(turn)
	last, isLast := out[len(out)-1].(engine.ActivityExecuteItem)
	before, isBefore := out[len(out)-2].(engine.ActivityExecuteItem)
	if isLast && isBefore {
		last.Input, before.Input = before.Input, last.Input
		out[len(out)-1], out[len(out)-2] = last, before
	}
	return out
}
