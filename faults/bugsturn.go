package faults

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orchhost"
	"github.com/durosim/durosim/engine/replay"
)

// turnBugs returns the bugs that break what a turn records, applies and sends.
func turnBugs() []Bug {
	return []Bug{
		{ID: "engine/stale-completion-accepted", Summary: "a completion of another execution is applied to the current execution",
			Properties: []string{"S13", "L02"}, Scenario: continueNew,
			replay: func(r *replay.Rules) { r.ForThisExecution = func(uint64, uint64) bool { return true } }},
		{ID: "engine/duplicate-completion-applied", Summary: "a completion of a schedule that is already closed is recorded and applied",
			Properties: []string{"S13"}, Scenario: tornAcks,
			replay: func(r *replay.Rules) { r.IsDuplicate = func(bool, bool, bool) bool { return false } }},
		{ID: "engine/completion-to-oldest-schedule", Summary: "a completion is recorded for the oldest open schedule of its kind instead of its own",
			Properties: []string{"S13"}, Scenario: upgrade,
			replay: func(r *replay.Rules) { r.Completes = oldest }},
		{ID: "engine/pins-every-turn", Summary: "every turn pins its execution to the build that computes it",
			Properties: []string{"S09"}, Scenario: upgrade,
			replay: func(r *replay.Rules) { r.Pins = func(bool) bool { return true } }},
		{ID: "engine/select-winner-not-replayed", Summary: "when several futures are ready, the last wins at first and the first wins in replay",
			Properties: []string{"S11"}, Scenario: races,
			replay: lastReadyWinsAtFirst},
		{ID: "engine/result-to-wrong-await", Summary: "a result resolves the oldest open future of its kind instead of its own future",
			Properties: []string{"S11"}, Scenario: races,
			replay: func(r *replay.Rules) { r.Recipient = oldest }},
		{ID: "engine/writes-newer-kind", Summary: "a build writes every kind that it emits, whatever the pinned build reads",
			Properties: []string{"S23"}, Scenario: upgrade,
			replay: func(r *replay.Rules) {
				r.Writes = func(b *engine.Build, k engine.EventKind, _ *engine.Version) bool { return b.Emits.Has(k) }
			}},
		{ID: "engine/emulator-writes-newer", Summary: "a build that emulates an older one writes every kind that it can read",
			replay: func(r *replay.Rules) {
				r.Writes = func(b *engine.Build, k engine.EventKind, pin *engine.Version) bool {
					emulates := slices.ContainsFunc(b.Introduced, func(in engine.Introduction) bool { return in.Kind == k }) && !b.Emits.Has(k)
					return b.Writes(k, pin) || emulates && b.Codec.Kinds().Has(k)
				}
			}},
		{ID: "engine/system-call-fresh", Summary: "each replay reads the clock again when code asks for the time", Source: "docs/contract/incidents.md#r5",
			Properties: []string{"S11"}, Scenario: features,
			replay: func(r *replay.Rules) { r.SystemResult = freshTime }},
		{ID: "engine/detached-unrecorded", Summary: "a detached start records no event", Source: "docs/contract/incidents.md#r6",
			Properties: []string{"S11"}, Scenario: families,
			replay: func(r *replay.Rules) { r.RecordsDetached = false }},
		{ID: "engine/failure-unstamped", Summary: "the event of a failure names neither its instance nor its execution", Source: "docs/contract/incidents.md#r17",
			replay: func(r *replay.Rules) { r.StampsFailure = false }},
		{ID: "engine/raced-result-quoted", Summary: "the result of the winner of a race is serialised twice", Source: "docs/contract/incidents.md#n1",
			Properties: []string{"S20"}, Scenario: programs,
			replay: func(r *replay.Rules) { r.RacedResult = strconv.Quote }},
		{ID: "engine/code-input-changed", Summary: "code under an unchanged version gives its activities input of a different form", Source: "docs/contract/incidents.md#g1",
			Properties: []string{"S11"}, Scenario: codeChanged, On: "2.0.0",
			replay: func(r *replay.Rules) { r.Code = inputChanged }},
		{ID: "engine/code-call-before-timer", Summary: "code under an unchanged version makes a call before each timer", Source: "docs/contract/incidents.md#g2",
			Properties: []string{"S11"}, Scenario: codeChanged, On: "2.0.0",
			replay: func(r *replay.Rules) { r.Code = callBeforeTimer }},
		{ID: "engine/code-loop-restructured", Summary: "code under an unchanged version starts each child after a timer", Source: "docs/contract/incidents.md#g3",
			Properties: []string{"S11"}, Scenario: codeChanged, On: "2.0.0",
			replay: func(r *replay.Rules) { r.Code = timerBeforeChild }},
		{ID: "engine/code-output-changed", Summary: "code under an unchanged version gives its output in a different form",
			Properties: []string{"S29"}, Scenario: codeChanged, On: "2.0.0",
			code: func(output string) string { return "{\"output\":" + strconv.Quote(output) + "}" }},
		{ID: "engine/replay-ignores-inputs", Summary: "a replay compares the kind and the name of what the code asks for with the history, and not its input", Source: "docs/contract/incidents.md#g1",
			replay: func(r *replay.Rules) { r.ComparesInputs = false }},
		{ID: "engine/replaying-never", Summary: "code is told that it is not replaying while it is, so it traces its lines in every turn",
			replay: func(r *replay.Rules) { r.IsReplaying = func(bool, bool) bool { return false } }},
		{ID: "engine/replaying-whole-turn", Summary: "code is told that it is replaying in all of a turn that has a history, so it traces its first lines only",
			replay: func(r *replay.Rules) { r.IsReplaying = func(_, history bool) bool { return history } }},
		{ID: "engine/poll-limit-counts-replay", Summary: "the limit on how often a turn may run its code counts the replay of the history, too", Source: "docs/contract/runtime.md#r4.1",
			replay: func(r *replay.Rules) {
				right := r.PollLimit
				r.PollLimit = func(int) int { return right(0) }
			}},
		{ID: "engine/poll-limit-missing", Summary: "a turn runs its code as often as the code asks for more", Source: "docs/contract/runtime.md#r4.1",
			replay: func(r *replay.Rules) {
				r.PollLimit = func(int) int { return math.MaxInt }
			}},
		{ID: "engine/semantics-of-build", Summary: "a turn is replayed with the semantics that the node's build uses for executions that it began", Source: "docs/contract/runtime.md#r15.2",
			Properties: []string{"S11"}, Scenario: threshold,
			replay: func(r *replay.Rules) {
				r.Semantics = func(b *engine.Build, _ replay.Origin) engine.Semantics { return b.SemanticsOf(&b.Version) }
			}},
		{ID: "engine/semantics-of-build-at-first", Summary: "a replay follows the semantics of the pin, but new events follow those of the node's build", Source: "docs/contract/runtime.md#r15.2",
			Properties: []string{"S11"}, Scenario: threshold,
			replay: func(r *replay.Rules) {
				r.Semantics = func(b *engine.Build, x replay.Origin) engine.Semantics {
					if x.Replaying {
						return b.SemanticsOf(x.Stamp)
					}
					return b.SemanticsOf(&b.Version)
				}
			}},
		{ID: "engine/semantics-of-latest-event", Summary: "an execution follows the semantics of the build that computed its last turn", Source: "docs/contract/runtime.md#r15.2",
			Properties: []string{"S11"}, Scenario: threshold,
			replay: func(r *replay.Rules) {
				r.Semantics = func(b *engine.Build, x replay.Origin) engine.Semantics { return b.SemanticsOf(x.Latest) }
			}},
		{ID: "engine/semantics-kept-across-can", Summary: "an execution that a continue-as-new began follows the oldest semantics, whichever build began it", Source: "docs/contract/runtime.md#r15.2",
			Properties: []string{"S11"}, Scenario: threshold,
			replay: func(r *replay.Rules) {
				r.Semantics = func(b *engine.Build, x replay.Origin) engine.Semantics {
					if x.Continued {
						return b.Semantics
					}
					return b.SemanticsOf(x.Stamp)
				}
			}},
		{ID: "engine/semantics-of-triple", Summary: "an execution that a pre-release of the threshold version began is treated as begun by the threshold version", Source: "docs/contract/runtime.md#r15.2",
			Properties: []string{"S11"}, Scenario: threshold,
			replay: func(r *replay.Rules) {
				r.Semantics = func(b *engine.Build, x replay.Origin) engine.Semantics {
					if x.Stamp == nil {
						return b.SemanticsOf(nil)
					}
					v := x.Stamp.Triple()
					return b.SemanticsOf(&v)
				}
			}},
		{ID: "engine/cancel-ignored", Summary: "a cancel request is recorded and does not end the execution",
			Properties: []string{"L10"}, Scenario: upgrade,
			replay: func(r *replay.Rules) { r.CancelEnds = false }},
		{ID: "engine/parent-not-told", Summary: "a child does not report its end to its parent",
			Properties: []string{"L06"}, Scenario: families,
			replay: func(r *replay.Rules) { r.TellsParent = func(replay.Result) bool { return false } }},
		{ID: "engine/child-failure-as-result", Summary: "a child that fails reports to its parent that it completed, with the failure's text",
			Properties: []string{"S20"}, Scenario: programs,
			replay: func(r *replay.Rules) { r.AnswersResult = func(replay.Result) bool { return true } }},
		{ID: "engine/cancelled-activity-kept", Summary: "a dropped activity is recorded as dropped, but its work item is not withdrawn",
			Properties: []string{"S11"}, Scenario: races,
			replay: func(r *replay.Rules) { r.WithdrawsDropped = false }},
		{ID: "engine/can-parent-lost", Summary: "a child that continues as new loses the link to its parent",
			Properties: []string{"L06"}, Scenario: families,
			replay: func(r *replay.Rules) { r.CarriedParent = func(*engine.ParentLink) *engine.ParentLink { return nil } }},
		{ID: "engine/completion-before-history-order", Summary: "new completions are applied in the order of their schedules, not in history order",
			Properties: []string{"S11"}, Scenario: races,
			replay: func(r *replay.Rules) { r.ApplyOrder = bySchedule }},
		{ID: "engine/queue-slot-wrong", Summary: "a dropped dequeue keeps its place, and takes the message that the next one should get",
			Properties: []string{"S11", "L02"}, Scenario: features,
			replay: func(r *replay.Rules) { r.QueueSlot = func(open, cancelled int) int { return open + cancelled } }},
		{ID: "engine/carry-forward-reordered", Summary: "unread queue messages cross a continue-as-new in reverse",
			Properties: []string{"S17"}, Scenario: features,
			replay: carriesReversed},
		{ID: "engine/open-waits-unrecorded", Summary: "the end of an execution does not record that its open waits are cancelled",
			replay: func(r *replay.Rules) { r.EndRecordsWaits = false }},
		{ID: "engine/carry-limit-lower", Summary: "a turn carries only one unread queue message across a continue-as-new", Source: "docs/contract/incidents.md#r37",
			Properties: []string{"S17"}, Scenario: features,
			replay: carriesOne},
		{ID: "engine/dropped-wait-discards", Summary: "an event that a dropped wait was given is lost, even on builds that pass it to the next wait", Source: "docs/contract/runtime.md#r15.2",
			Since: "0.1.32", ForNew: true,
			Properties: []string{"S11"}, Scenario: features,
			replay: func(r *replay.Rules) { r.DiscardsFreed = true }},
		{ID: "engine/carry-forward-lost", Summary: "unread queue messages do not cross a continue-as-new",
			Properties: []string{"S17"}, Scenario: features,
			replay: func(r *replay.Rules) {
				r.CarryForward = func(unread []engine.CarriedEvent, _ int) (_, _ []engine.CarriedEvent) { return nil, unread }
			}},
		{ID: "engine/custom-status-not-carried", Summary: "the custom status does not cross a continue-as-new",
			Properties: []string{"outcome"}, Scenario: features,
			replay: func(r *replay.Rules) { r.CarriedStatus = func(*string) *string { return nil } }},
	}
}

func freshTime(name, recorded string, nowMs uint64) string {
	if name == orchhost.SystemUTCNowMs {
		return strconv.FormatUint(nowMs, 10)
	}
	return recorded
}

func inputChanged(a orchhost.Action) []orchhost.Action {
	if a.Kind == orchhost.ActionActivity && !strings.HasPrefix(a.Name, orchhost.SystemActivityPrefix) {
		a.Input = "{\"input\":" + strconv.Quote(a.Input) + "}"
	}
	return []orchhost.Action{a}
}

func callBeforeTimer(a orchhost.Action) []orchhost.Action {
	if a.Kind != orchhost.ActionTimer {
		return []orchhost.Action{a}
	}
	return []orchhost.Action{{Kind: orchhost.ActionActivity, Name: orchhost.SystemUTCNowMs}, a}
}

func timerBeforeChild(a orchhost.Action) []orchhost.Action {
	if a.Kind != orchhost.ActionSubOrchestration {
		return []orchhost.Action{a}
	}
	return []orchhost.Action{{Kind: orchhost.ActionTimer, Delay: time.Millisecond}, a}
}

func carriesOne(r *replay.Rules) {
	right := r.CarryForward
	r.CarryForward = func(unread []engine.CarriedEvent, limit int) (carried, lost []engine.CarriedEvent) {
		carried, lost = right(unread, limit)
		most := min(len(carried), 1)
		return carried[:most], slices.Concat(carried[most:], lost)
	}
}

func carriesReversed(r *replay.Rules) {
	right := r.CarryForward
	r.CarryForward = func(unread []engine.CarriedEvent, limit int) (carried, lost []engine.CarriedEvent) {
		carried, lost = right(unread, limit)
		carried = slices.Clone(carried)
		slices.Reverse(carried)
		return carried, lost
	}
}

func reversedAtFirst(replaying bool, keys []string) []string {
	if !replaying {
		slices.Reverse(keys)
	}
	return keys
}

func lastReadyWinsAtFirst(r *replay.Rules) {
	right := r.Winner
	r.Winner = func(replaying bool, n int, ready func(i int) bool) int {
		if replaying {
			return right(replaying, n, ready)
		}
		i := n - 1
		for i >= 0 && !ready(i) {
			i--
		}
		return i
	}
}

// oldest returns the first element of others(), or own if there are none.
func oldest[T any](own T, others func() []T) T {
	if all := others(); len(all) > 0 {
		return all[0]
	}
	return own
}

func bySchedule(a, b *engine.Event) int { return cmp.Compare(a.SourceEventID, b.SourceEventID) }
