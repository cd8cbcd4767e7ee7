package faults

import "github.com/durosim/durosim/internal/machine"

// turnSwitches returns the switches about locks, acks, counts and poison.
func turnSwitches() []Bug {
	return []Bug{
		{ID: "duroxide-0.1.26/ack-failure-fails-orchestration", Summary: "a turn whose ack fails for good is committed as a failure of the orchestration", Source: "docs/contract/runtime.md#case-4",
			Place: "src/runtime/dispatchers/orchestration.rs:954-994", Place32: "src/runtime/dispatchers/orchestration.rs:1004-1044",
			Properties: []string{"L02"}, Scenario: refusedAcks,
			Consequence: "A third of a second in which the database is busy turns healthy orchestrations into Failed ones, and nobody tells their parents.",
			Fix:         "Give the turn back after the last try; never make an event of a failure that is not the orchestration's.",
			as:          "engine/ack-failure-fails-orchestration"},
		{ID: "duroxide-0.1.26/renewal-error-cancels", Summary: "any failed renewal cancels the activity, and its row is acknowledged without a completion", Source: "docs/contract/runtime.md#case-8",
			Place: "src/runtime/dispatchers/worker.rs:838-847,590-600", Place32: "src/runtime/dispatchers/worker.rs:854-863,611",
			Properties: []string{"L02"}, Scenario: lostLocks,
			Consequence: "One renewal that fails for a moment cancels an activity, deletes its work without a completion, and the orchestration waits for ever.",
			Fix:         "Renew again until the lock runs out; give back what is lost instead of acknowledging it without a completion.",
			as:          "engine/renewal-error-cancels-activity"},
		{ID: "duroxide-0.1.26/renewal-stops-at-shutdown", Summary: "a draining node lets the locks of what it holds run out", Source: "docs/contract/runtime.md#r5.5 and #r6.3",
			Place: "src/runtime/dispatchers/orchestration.rs:296-303 src/runtime/dispatchers/worker.rs:819-826", Mended: "0.1.32",
			Properties: []string{"S19"}, Scenario: slowWork,
			Consequence: "During each graceful restart, turns and activities that take longer than their locks run a second time elsewhere.",
			Fix:         "Renew as long as something is held, draining or not.",
			node: func(r *machine.Rules) {
				r.RenewsWhileDraining = false
			}},
		{ID: "duroxide-0.1.26/turn-renewal-gives-up", Summary: "any failed renewal of a turn is its last", Source: "docs/contract/runtime.md#r5.5",
			Place: "src/runtime/dispatchers/orchestration.rs:314-323", Place32: "src/runtime/dispatchers/orchestration.rs:313-322",
			Properties: []string{"S19"}, Scenario: slowWork,
			Consequence: "After one lost renewal a long turn loses its lock, its work is thrown away and done again.",
			Fix:         "Renew again after a retryable error.",
			node: func(r *machine.Rules) {
				r.TurnRenewalFailed = func(error) bool { return false }
			}},
		{ID: "duroxide-0.1.26/head-of-line-block", Summary: "a fetch finds nothing while the oldest instance that its filter admits has neither a history nor a start", Source: "docs/contract/runtime.md#case-13",
			Place: "src/providers/sqlite.rs:1093-1103", Place32: "src/providers/sqlite.rs:1092-1101",
			Properties: []string{"S22"}, Scenario: earlyInput,
			Consequence: "One cancel or event for an instance that does not exist stops every orchestration of the store.",
			Fix:         "Let a fetch pass over an instance that has no start yet.",
			as:          "provider/contextless-batch-blocks"},
		{ID: "duroxide-0.1.26/packed-comparison", Summary: "the provider compares versions as major*1000000 + minor*1000 + patch", Source: "docs/contract/runtime.md#case-53",
			Place: "src/providers/sqlite.rs:759-777", Place32: "src/providers/sqlite.rs:758-776",
			Properties: []string{"S01", "S22"}, Scenario: edges,
			Consequence: "An instance pinned to a version with a part above 999 goes to nodes that cannot replay it, or to none.",
			Fix:         "Compare major, minor and patch one after the other.",
			as:          "provider/packed-comparison"},
		{ID: "duroxide-0.1.26/version-check-first", Summary: "an incompatible pin is tested before poison, so a bounced item never ends", Source: "docs/contract/runtime.md#r10.4",
			Place: "src/runtime/dispatchers/orchestration.rs:408-440", Place32: "src/runtime/dispatchers/orchestration.rs:412-444",
			Properties: []string{"L01"}, Scenario: upgrade, With: []BugID{"provider/filter-ignored"},
			Consequence: "Work that every node bounces is bounced for ever, and a compatible node that comes later poisons it at sight.",
			Fix:         "Test the count before the pin, and name pin and range in the poison.",
			node: func(r *machine.Rules) {
				r.Order = moved(r.Order, machine.TestIncompatible, 0)
			}},
		{ID: "duroxide-0.1.26/terminal-poisoned", Summary: "a message for an ended instance that was delivered too often fails the instance again", Source: "docs/contract/runtime.md#case-15",
			Place: "src/runtime/dispatchers/orchestration.rs:544-555", Place32: "src/runtime/dispatchers/orchestration.rs:550-561,1436",
			Properties: []string{"S08"}, Scenario: noHandlers,
			Consequence: "An orchestration that has completed turns into Failed when a left-over message has been delivered too often.",
			Fix:         "Drop the messages of an ended execution before anything else is looked at.",
			as:          "engine/poisons-terminal"},
		{ID: "duroxide-0.1.26/status-by-history", Summary: "an undecodable instance is never ended, and its second poison is refused for ever", Source: "docs/contract/runtime.md#case-16",
			Place: "src/runtime/dispatchers/orchestration.rs:562-582,1244", Place32: "src/runtime/dispatchers/orchestration.rs:568-588,1304",
			Properties: []string{"L01"}, Scenario: families,
			Consequence: "An instance whose history cannot be read is poisoned again at its next message, which the store refuses, for ever.",
			Fix:         "Let the provider tell the status of the execution, and drop what comes after its end.",
			node: func(r *machine.Rules) {
				r.StatusIsTold = false
			}},
		{ID: "duroxide-0.1.26/undecodable-message-lost", Summary: "a message that cannot be decoded is left out of its batch, and the ack deletes it", Source: "docs/contract/runtime.md#case-14",
			Place: "src/providers/sqlite.rs:919-930,1167", Place32: "src/providers/sqlite.rs:918-929,1166",
			Properties: []string{"S18", "S12"}, Scenario: damaged,
			Consequence: "A message that a node cannot decode, of a newer build or damaged, is deleted with the batch that it came in.",
			Fix:         "Deliver it as an error, counted, and keep its row until it is poisoned.",
			as:          "provider/undecodable-message-dropped"},
		{ID: "duroxide-0.1.26/corrupted-parent-not-told", Summary: "the poison of an undecodable history does not tell the parent", Source: "docs/contract/runtime.md#r10.2",
			Place: "src/runtime/dispatchers/orchestration.rs:1232-1271", Place32: "src/runtime/dispatchers/orchestration.rs:1292-1331",
			Properties: []string{"L06"}, Scenario: families,
			Consequence: "The parent of a child whose history cannot be read waits for ever.",
			Fix:         "Let the provider keep the parent link beside the history, and answer the parent with the poison.",
			node: func(r *machine.Rules) {
				r.PoisonTellsParent = func(undecodable bool) bool { return !undecodable }
			}},
		{ID: "duroxide-0.1.26/poison-cancels-nothing", Summary: "the activities of a poisoned execution run on", Source: "docs/contract/runtime.md#r10.1",
			Place: "src/runtime/dispatchers/orchestration.rs:1385-1394", Place32: "src/runtime/dispatchers/orchestration.rs:1469-1478",
			Properties: []string{"L02"}, Scenario: orphans,
			Consequence: "Children and activities of a poisoned orchestration run on, with nobody to read their results.",
			Fix:         "End a poisoned execution like any other: cancel what runs.",
			node: func(r *machine.Rules) {
				r.PoisonCancels = false
			}},
		{ID: "duroxide-0.1.26/poison-on-old-execution", Summary: "the poison of a continue-as-new start fails the execution that continued", Source: "docs/contract/runtime.md#r10.1",
			Place: "src/runtime/dispatchers/orchestration.rs:1354,1385-1394", Mended: "0.1.32",
			Properties: []string{"S08"}, Scenario: crashes,
			Consequence: "A loop that has continued as new shows its finished execution as failed, and the next one does not exist.",
			Fix:         "Poison of a continue-as-new start begins the next execution and fails that one.",
			node: func(r *machine.Rules) {
				r.PoisonWaitsForStart = false
			}},
		{ID: "duroxide-0.1.26/poisoned-start-unpinned", Summary: "a poisoned start makes an execution without a pin", Source: "docs/contract/runtime.md#r10.1",
			Place: "src/runtime/dispatchers/orchestration.rs:1362", Place32: "src/runtime/dispatchers/orchestration.rs:1444",
			Properties: []string{"S09"}, Scenario: noHandlers,
			Consequence: "An execution that only poison began has no pin, so that nodes which cannot read it are handed it.",
			Fix:         "Pin it to the build that writes it, as any first turn does.",
			node: func(r *machine.Rules) {
				r.PoisonPins = false
			}},
	}
}
