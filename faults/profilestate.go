package faults

import (
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/replay"
)

// stateSwitches returns the switches that affect continue-as-new, queue messages, waits and keys.
func stateSwitches() []Bug {
	return []Bug{
		{ID: "duroxide-0.1.26/can-input-lost", Summary: "input that is fetched before a waiting continue-as-new start is acknowledged and lost, cancel requests included", Source: "docs/contract/runtime.md#case-19",
			Place: "src/runtime/dispatchers/orchestration.rs:589-607", Mended: "0.1.32",
			Properties: []string{"L10"}, Scenario: earlyInput,
			Consequence: "A cancel request or an event that arrives while the start of the next execution waits in a backoff is lost without a trace.",
			Fix:         "Abandon it, without counting the attempt, until the start is processed.",
			as:          "engine/can-input-dropped"},
		{ID: "duroxide-0.1.26/queue-message-orphaned", StoreWide: true, Summary: "a queue message is dropped as an orphan although the start waits in a backoff", Source: "docs/contract/runtime.md#case-20",
			Place: "src/providers/sqlite.rs:1064-1090", Place32: "src/providers/sqlite.rs:1063-1089",
			Properties: []string{"S12"}, Scenario: probes,
			Consequence: "A message to an instance whose start waits in a backoff is dropped although both were accepted.",
			Fix:         "A message is an orphan only if no start of its instance is queued, visible or not.",
			as:          "provider/orphan-dropped-while-start-queued"},
		{ID: "duroxide-0.1.26/duplicate-start-wins", Summary: "a duplicate start before a continue-as-new start makes the node drop the batch", Source: "docs/contract/runtime.md#case-18",
			Place: "src/runtime/state_helpers.rs:403-409 src/runtime/dispatchers/orchestration.rs:589-607", Mended: "0.1.32",
			Properties: []string{"L02"}, Scenario: secondStarts,
			Consequence: "A client that repeats its start at the wrong moment stops an orchestration between two executions forever.",
			Fix:         "After a continue-as-new, treat only a continue-as-new message as a start, and drop only the duplicate.",
			node: func(r *machine.Rules) {
				r.DuplicateStart = machine.DuplicateWins
			}},
		{ID: "duroxide-0.1.26/duplicate-start-code", Summary: "a duplicate start of a running instance replaces its handler and version", Source: "docs/contract/runtime.md#case-56",
			Place: "src/runtime/state_helpers.rs:431-448", Mended: "0.1.32",
			Properties: []string{"S11"}, Scenario: secondStarts,
			Consequence: "A client that repeats its start after an upgrade runs new code over an old history, and the orchestration fails as nondeterministic.",
			Fix:         "Take name and version of a running execution from its history.",
			node: func(r *machine.Rules) {
				r.DuplicateStart = machine.DuplicateReplaces
			}},
		{ID: "duroxide-0.1.26/detached-lost-in-can", Summary: "a detached start in a turn that continues as new is recorded and never enqueued", Source: "docs/contract/runtime.md#case-24",
			Place: "src/runtime/execution.rs:289-341", Place32: "src/runtime/execution.rs:300-373",
			Properties: []string{"S11"}, Scenario: families,
			Consequence: "An orchestration started just before a continue-as-new is in the history and never runs.",
			Fix:         "Enqueue detached starts however the turn ends, unless it is cancelled.",
			replay: func(r *replay.Rules) {
				r.StartsDetached = func(res replay.Result) bool {
					return res != replay.ResultCancelled && res != replay.ResultContinueAsNew
				}
			}},
		{ID: "duroxide-0.1.26/pending-dequeue-reads", Summary: "a dequeue that has not taken its message withholds it from the next execution", Source: "docs/contract/runtime.md#case-25",
			Place: "src/runtime/execution.rs:455-474", Place32: "src/runtime/execution.rs:489-509", Mended: "0.1.32", ForOld: true,
			Properties: []string{"outcome"}, Scenario: corners,
			Consequence: "A message that arrived for a dequeue that no code awaited is lost after a continue-as-new.",
			Fix:         "Carry over every message that no code has taken.",
			replay:      func(r *replay.Rules) { r.PendingDequeueReads = true }},
		{ID: "duroxide-0.1.26/carried-on-dropped", Summary: "a continue-as-new drops what the execution before carried over, if that is more than its own build may carry", Source: "docs/contract/runtime.md#r7.9",
			Place: "src/runtime/execution.rs:311-322", Place32: "src/runtime/execution.rs:329-340",
			Properties: []string{"S17"}, Scenario: "fine-print",
			Consequence: "In a cluster of releases with different limits, messages that the newer carried over are lost on the older.",
			Fix:         "Apply the limit to what has arrived in this execution.",
			replay:      func(r *replay.Rules) { r.CarriesOn = false }},
		{ID: "duroxide-0.1.26/freed-event-waits", Summary: "an event that a dropped wait passes to the next wait is noticed only by chance", Source: "docs/contract/runtime.md#case-44",
			Place: "src/runtime/replay_engine.rs:932-936", Place32: "src/runtime/replay_engine.rs:970-974", Mended: "0.1.32", ForOld: true,
			Properties: []string{"L02"}, Scenario: "old-node-widened",
			Consequence: "An event that arrives at the moment of a timeout reaches the code's next wait only when something else happens, or never.",
			Fix:         "Poll the code again when a dropped wait frees an event.",
			replay:      func(r *replay.Rules) { r.FreedEventWakes = false }},
		{ID: "duroxide-0.1.26/dropped-dequeue-early", Summary: "a dropped dequeue releases its message before the drop is recorded, so the replay differs", Source: "docs/contract/runtime.md#case-45",
			Place: "src/runtime/replay_engine.rs:641-646", Place32: "src/runtime/replay_engine.rs:669-676", Mended: "0.1.32", ForOld: true,
			Properties: []string{"S11"}, Scenario: features,
			Consequence: "A message that arrives together with the timeout of its dequeue fails the orchestration as nondeterministic.",
			Fix:         "Apply a cancellation when it is recorded, at the same point in each replay.",
			replay:      func(r *replay.Rules) { r.DropsBeforeBreadcrumb = true }},
		{ID: "duroxide-0.1.26/kv-stamp-fresh", Summary: "a key set by this execution is as old as the turn that replays it", Source: "docs/contract/runtime.md#r7.11",
			Place: "src/lib.rs:3244-3251 src/runtime/replay_engine.rs:723-732", Place32: "src/lib.rs:3396-3403 src/runtime/replay_engine.rs:753-762",
			Properties: []string{"S11"}, Scenario: corners,
			Consequence: "Code that prunes keys by their age later fails as nondeterministic.",
			Fix:         "Take the age of a key from the event that set it.",
			replay:      func(r *replay.Rules) { r.KVStamp = func(_ uint64, _ bool, nowMs uint64) uint64 { return nowMs } }},
		{ID: "duroxide-0.1.26/prune-unordered", Summary: "a prune of keys clears them in an order that a replay does not repeat", Source: "docs/contract/runtime.md#case-60",
			Place: "src/lib.rs:3333-3349", Mended: "0.1.32",
			Properties: []string{"S11"}, Scenario: corners,
			Consequence: "Code that prunes two keys at once fails as nondeterministic at random.",
			Fix:         "Clear them in the order of their names.",
			replay:      func(r *replay.Rules) { r.PruneOrder = reversedAtFirst }},
		{ID: "duroxide-0.1.26/kv-keys-per-turn", Summary: "keys set by earlier turns of the execution do not count toward the limit", Source: "docs/contract/runtime.md#case-59",
			Place: "src/runtime/dispatchers/orchestration.rs:165-182", Place32: "src/runtime/dispatchers/orchestration.rs:168-188 src/providers/sqlite.rs:599-630",
			Properties: []string{"outcome"}, Scenario: corners,
			Consequence: "The limit of 100 keys applies only within a turn, so an instance can grow without bound.",
			Fix:         "Also count the keys that earlier turns of the execution have set.",
			replay:      func(r *replay.Rules) { r.KVKeyCount = func(_, ofTurn func() int) int { return ofTurn() } }},
		{ID: "duroxide-0.1.26/other-outcome-applied", Summary: "a completion of a closed schedule with the other outcome, or a second failure of an activity, is applied and fails the execution", Source: "docs/contract/runtime.md#case-61",
			Place: "src/runtime/replay_engine.rs:453-477", Place32: "src/runtime/replay_engine.rs:464-488,903-931",
			Properties: []string{"S13"}, Scenario: probes,
			Consequence: "An activity that ran twice, once successfully and once not, fails its orchestration.",
			Fix:         "Drop any second completion of a schedule as a duplicate.",
			replay: func(r *replay.Rules) {
				r.IsDuplicate = func(closed, sameOutcome, activityFailed bool) bool { return closed && sameOutcome && !activityFailed }
			}},
	}
}
