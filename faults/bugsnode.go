package faults

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/replay"
)

// nodeBugs returns the bugs that break how a node handles its work.
func nodeBugs() []Bug {
	return []Bug{
		{ID: "engine/ack-failure-fails-orchestration", Summary: "a turn whose ack fails permanently becomes a failure of the orchestration", Source: "docs/contract/runtime.md#r5.4",
			Properties: []string{"L02"}, Scenario: refusedAcks,
			node: afterAckFailed(func(kind machine.SlotKind, step *machine.AckStep) {
				if step.Do == machine.AckAbandon && kind == machine.SlotOrchestration {
					step.Do = machine.AckFail
				}
			})},
		{ID: "engine/activity-failure-as-result", Summary: "an activity that fails is acknowledged as completed, with the failure's text",
			Properties: []string{"S20"}, Scenario: programs,
			node: func(r *machine.Rules) {
				r.FailureFails = false
			}},
		{ID: "engine/activity-inputs-crossed", Summary: "the last two activities that a turn schedules get each other's input",
			Properties: []string{"S20"}, Scenario: programs,
			node: func(r *machine.Rules) {
				r.WorkerItems = withInputsCrossed
			}},
		{ID: "engine/backoff-doubles-forever", Summary: "the backoff of a missing handler has no upper bound",
			Properties: []string{"L02"}, Scenario: earlyInput,
			node: func(r *machine.Rules) {
				r.UnregisteredBackoff = func(n uint32, base, _ time.Duration) time.Duration {
					return base << min(max(n, 1)-1, 20)
				}
			}},
		{ID: "engine/call-deadline-of-client", Summary: "a call waits half a minute for its answer, as its client library would, whatever the configured deadline",
			node: func(r *machine.Rules) {
				r.CallDeadline = func(time.Duration) time.Duration { return 30 * time.Second }
			}},
		{ID: "engine/missing-handler-fails", Summary: "work whose handler a node lacks is poisoned at once, instead of waiting for a node that has it", Source: "docs/contract/incidents.md#r38",
			Properties: []string{"L05", "outcome"}, Scenario: noHandlers,
			node: func(r *machine.Rules) { r.MissingHandlerWaits = false }},
		{ID: "engine/can-input-dropped", Summary: "input that arrives before a waiting continue-as-new start is acknowledged and lost", Source: "docs/contract/runtime.md#r2.2",
			Properties: []string{"L10"}, Scenario: earlyInput,
			node: func(r *machine.Rules) {
				right := r.Ended
				r.Ended = func(status engine.Status, hasStart bool) bool {
					return right(status, hasStart) || status == engine.StatusContinuedAsNew && !hasStart
				}
			}},
		{ID: "engine/count-ignored", Summary: "nothing is ever treated as poison",
			Properties: []string{"L01"}, Scenario: noHandlers,
			node: func(r *machine.Rules) {
				r.ExceedsMaxAttempts = func(uint32, uint32) bool { return false }
			}},
		{ID: "engine/deferred-input-counted", Summary: "input that arrives before a waiting continue-as-new start is abandoned with its attempt counted, so it can poison the execution that it waits for", Source: "docs/contract-decisions.md#row-4",
			Since: "0.1.32", Properties: []string{"S04"}, Scenario: earlyInput,
			node: func(r *machine.Rules) {
				r.CountsWaiting = func(*engine.Build) bool { return true }
			}},
		{ID: "engine/drain-keeps-fetches", Summary: "a node that is asked to stop does not cancel the fetches that wait for work, so it stops when work comes for each", Source: "docs/contract/runtime.md#r5.6",
			node: func(r *machine.Rules) { r.DrainCancelsFetches = false }},
		{ID: "engine/drain-keeps-pauses", Summary: "a node that is asked to stop waits until the pauses between its fetches are over", Source: "docs/contract/runtime.md#r5.6",
			node: func(r *machine.Rules) { r.DrainEndsPauses = false }},
		{ID: "engine/failed-ack-returned-at-once", Summary: "work whose ack failed for good is abandoned without a delay, so the next node fetches it at once",
			node: afterAckFailed(func(_ machine.SlotKind, step *machine.AckStep) {
				if step.Do == machine.AckAbandon {
					step.After = 0
				}
			})},
		{ID: "engine/filter-not-declared", Summary: "the node fetches without a filter, and abandons what it cannot replay",
			Properties: []string{"L05", "L03"}, Scenario: upgrade,
			node: func(r *machine.Rules) {
				r.DeclareFilter = func(engine.VersionRange) *engine.CapabilityFilter { return nil }
			}},
		{ID: "engine/handler-of-latest", Summary: "a turn runs the newest version of its handler, not the version that the history records", Source: "docs/contract/incidents.md#r4",
			Properties: []string{"S11", "L02"}, Scenario: upgrade,
			node: func(r *machine.Rules) { r.ResolvesAsRecorded = false }},
		{ID: "engine/history-error-ignores-attempt", Summary: "an undecodable history is abandoned with its attempt uncounted, so it never ends",
			Properties: []string{"L04"}, Scenario: nobody,
			node: func(r *machine.Rules) {
				r.AbandonIgnoresAttempt = alsoIgnoring(r.AbandonIgnoresAttempt, machine.DecideHistoryError)
			}},
		{ID: "engine/incompatible-abandon-ignores-attempt", Summary: "an incompatible item is abandoned with its attempt uncounted, so it never ends",
			Properties: []string{"L01"}, Scenario: upgrade, With: []BugID{"provider/filter-ignored"},
			node: func(r *machine.Rules) {
				r.AbandonIgnoresAttempt = alsoIgnoring(r.AbandonIgnoresAttempt, machine.DecideIncompatible)
			}},
		{ID: "engine/poison-handed-back", Summary: "a turn that was delivered too often is reported as poison and abandoned, again and again", Source: "docs/contract/incidents.md#t9",
			Properties: []string{"L12", "L01"}, Scenario: herd,
			node: func(r *machine.Rules) { r.PoisonEnds = false }},
		{ID: "engine/idle-fetch-not-paused", Summary: "a slot whose fetch found nothing fetches again at once, without the pause of the polling interval",
			node: func(r *machine.Rules) {
				r.PauseAfterNothing = func(time.Duration, time.Duration) time.Duration { return 0 }
			}},
		{ID: "engine/key-read-not-retried", Summary: "reading another instance's key is not tried again: any error fails the activity",
			node: func(r *machine.Rules) { r.RetriesRead = func(error) bool { return false } }},
		{ID: "engine/lock-not-renewed", Summary: "no lock is ever renewed",
			Properties: []string{"S19"}, Scenario: slowWork,
			node: func(r *machine.Rules) {
				r.RenewalInterval = func(time.Duration, time.Duration) time.Duration { return 0 }
			}},
		{ID: "engine/pause-too-long", Summary: "a slot whose fetch failed pauses for 15 seconds",
			Properties: []string{"L08", "L09"}, Scenario: outage,
			node: func(r *machine.Rules) {
				r.PauseAfterError = func(bool, int) (time.Duration, bool) { return 15 * time.Second, true }
			}},
		{ID: "engine/phantom-activity", Summary: "a turn's ack enqueues an activity that no event schedules",
			Properties: []string{"S21"}, Scenario: upgrade,
			node: func(r *machine.Rules) {
				r.WorkerItems = withPhantom
			}},
		{ID: "engine/phantom-of-next-execution", Summary: "a turn's ack enqueues its last activity a second time, for the next execution",
			Properties: []string{"S21"}, Scenario: races,
			node: func(r *machine.Rules) {
				r.WorkerItems = withPhantomOfNext
			}},
		{ID: "engine/poison-off-by-one", Summary: "the last allowed delivery is already poison",
			Properties: []string{"L05"}, Scenario: crashes,
			node: func(r *machine.Rules) {
				r.ExceedsMaxAttempts = func(count, most uint32) bool { return count >= most }
			}},
		{ID: "engine/poisoned-start-untold", Summary: "poison that ends the starts of a batch does not answer their parents", Source: "docs/contract/incidents.md#r34",
			Properties: []string{"L02"}, Scenario: "poisoned-collisions",
			node: func(r *machine.Rules) { r.PoisonAnswersStarts = false }},
		{ID: "engine/poisons-terminal", Summary: "the node tests for poison before it tests for the end, so an ended instance can fail again", Source: "docs/contract/runtime.md#r10.1",
			Properties: []string{"S08"}, Scenario: probes,
			node: func(r *machine.Rules) {
				r.Order = moved(r.Order, machine.TestTerminal, slices.Index(r.Order, machine.TestHistoryError))
			}},
		{ID: "engine/poll-stops", Summary: "a slot whose fetch failed never fetches again",
			Properties: []string{"L02", "L08"}, Scenario: upgrade,
			node: func(r *machine.Rules) {
				r.PauseAfterError = func(bool, int) (time.Duration, bool) { return 0, false }
			}},
		{ID: "engine/renewal-error-cancels-activity", Summary: "any failed renewal cancels the activity, and its row is acknowledged without a completion", Source: "docs/contract/runtime.md#r6.3",
			Properties: []string{"L02"}, Scenario: lostLocks,
			node: func(r *machine.Rules) {
				r.ActivityRenewalFailed = func(error) machine.RenewalStep { return machine.RenewalDiscard }
			}},
		{ID: "engine/session-cap-ignored", Summary: "a node takes on sessions without limit",
			Properties: []string{"S16"}, Scenario: sessions,
			node: func(r *machine.Rules) {
				r.SessionCap = func(int) int { return math.MaxInt }
			}},
		{ID: "engine/plain-fetch-waits", Summary: "a fetch without session config waits as long as any other, so the node does not notice that it can take sessions again", Source: "docs/contract/runtime.md#r6.1",
			node: func(r *machine.Rules) {
				r.PlainFetchWaits = true
			}},
		{ID: "engine/session-owner-without-node", Summary: "the names under which workers claim sessions name neither node nor start, so several nodes claim under one name",
			node: func(r *machine.Rules) {
				r.SessionOwner = func(worker int, _ string) string { return "work-" + strconv.Itoa(worker) }
			}},
		{ID: "engine/session-renewed-for-first", Summary: "a node renews only the sessions of its first worker",
			node: func(r *machine.Rules) {
				r.RenewedOwners = func(owners []string) []string { return owners[:1] }
			}},
		{ID: "engine/session-not-renewed", Summary: "no session is ever renewed",
			Properties: []string{"S19"}, Scenario: sessions,
			node: func(r *machine.Rules) {
				r.RenewsSessions = false
			}},
		{ID: "engine/tag-in-capitals", Summary: "activities are enqueued with their tag in upper case, which no worker serves", Source: "docs/contract/incidents.md#r36",
			Properties: []string{"L11"}, Scenario: features,
			node: func(r *machine.Rules) { r.WorkerItems = withTagsInCapitals }},
		{ID: "engine/traces-of-end-lost", Summary: "the lines that code traces in the turn that ends its execution are not logged",
			node: func(r *machine.Rules) {
				r.LogsTraces = func(result replay.Result) bool { return result == replay.ResultContinue }
			}},
		{ID: "engine/turn-not-retried", Summary: "a turn whose ack failed is forgotten: neither resent nor abandoned",
			Properties: []string{"S19"}, Scenario: tornAcks,
			node: func(r *machine.Rules) {
				r.AckFailed = func(machine.SlotKind, error, int) machine.AckStep { return machine.AckStep{Do: machine.AckForget} }
			}},
		{ID: "engine/version-check-missing", Summary: "the node replays an execution whatever its pin",
			Properties: []string{"S10"}, Scenario: upgrade, With: []BugID{"engine/filter-not-declared"},
			node: func(r *machine.Rules) {
				r.Admits = func(*engine.CapabilityFilter, *engine.Version, string, engine.Version) bool { return true }
			}},
	}
}

func withTagsInCapitals(turn []engine.WorkItem) []engine.WorkItem {
	out := slices.Clone(turn)
	for i, item := range out {
		if a, ok := item.(engine.ActivityExecuteItem); ok {
			a.Tag = strings.ToUpper(a.Tag)
			out[i] = a
		}
	}
	return out
}

// afterAckFailed changes what a node does once an ack has failed.
func afterAckFailed(change func(kind machine.SlotKind, step *machine.AckStep)) func(*machine.Rules) {
	return func(r *machine.Rules) {
		right := r.AckFailed
		r.AckFailed = func(kind machine.SlotKind, err error, failures int) machine.AckStep {
			step := right(kind, err, failures)
			change(kind, &step)
			return step
		}
	}
}

// moved returns the order with one step moved to index to. The others stay in order.
func moved[T comparable](order []T, step T, to int) []T {
	rest := slices.DeleteFunc(slices.Clone(order), func(have T) bool { return have == step })
	return slices.Insert(rest, to, step)
}

func alsoIgnoring(next func(machine.Decision) bool, also machine.Decision) func(machine.Decision) bool {
	return func(d machine.Decision) bool { return d == also || next(d) }
}

// withPhantom repeats the last activity with the next event's id, as a node that numbers an item twice would.
func withPhantom(turn []engine.WorkItem) []engine.WorkItem {
	return withPhantomOf(turn, func(a *engine.ActivityExecuteItem) { a.ID++ })
}

// withPhantomOfNext repeats the last activity as an activity of the next execution.
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

// withInputsCrossed swaps the inputs of the last two activities.
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
