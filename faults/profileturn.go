package faults

import (
	"github.com/Masterminds/semver/v3"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
)

// turnSwitches returns the switches that affect locks, acks, attempt counts and poison.
func turnSwitches() []Bug {
	return []Bug{
		{ID: "duroxide-0.1.26/ack-failure-fails-orchestration", Summary: "a turn whose ack fails permanently is committed as a failure of the orchestration", Source: "docs/contract/runtime.md#case-4",
			Place: "src/runtime/dispatchers/orchestration.rs:954-994", Place32: "src/runtime/dispatchers/orchestration.rs:1004-1044",
			Properties: []string{"L02"}, Scenario: refusedAcks,
			Consequence: "When the database is busy for a third of a second, healthy orchestrations become Failed, and their parents get no answer.",
			Fix:         "Abandon the turn after the last try; never record a failure that is not the orchestration's own.",
			as:          "engine/ack-failure-fails-orchestration"},
		{ID: "duroxide-0.1.26/renewal-error-cancels", Summary: "any failed renewal cancels the activity, and its row is acknowledged without a completion", Source: "docs/contract/runtime.md#case-8",
			Place: "src/runtime/dispatchers/worker.rs:838-847,590-600", Place32: "src/runtime/dispatchers/worker.rs:854-863,611",
			Properties: []string{"L02"}, Scenario: lostLocks,
			Consequence: "One temporary failure of a renewal cancels an activity and deletes its work item without a completion, and the orchestration waits forever.",
			Fix:         "Retry the renewal until the lock expires; abandon an activity whose lock is lost instead of acknowledging it without a completion.",
			as:          "engine/renewal-error-cancels-activity"},
		{ID: "duroxide-0.1.26/renewal-stops-at-shutdown", Summary: "a draining node lets the locks that it holds expire", Source: "docs/contract/runtime.md#r5.5 and #r6.3",
			Place: "src/runtime/dispatchers/orchestration.rs:296-303 src/runtime/dispatchers/worker.rs:819-826", Mended: "0.1.32",
			Properties: []string{"S19"}, Scenario: slowWork,
			Consequence: "During each graceful restart, turns and activities that take longer than their locks run a second time elsewhere.",
			Fix:         "Renew every lock as long as it is held, draining or not.",
			node: func(r *machine.Rules) {
				r.RenewsWhileDraining = false
			}},
		{ID: "duroxide-0.1.26/turn-renewal-gives-up", Summary: "a turn whose renewal fails once is never renewed again", Source: "docs/contract/runtime.md#r5.5",
			Place: "src/runtime/dispatchers/orchestration.rs:314-323", Place32: "src/runtime/dispatchers/orchestration.rs:313-322",
			Properties: []string{"S19"}, Scenario: slowWork,
			Consequence: "After one lost renewal a long turn loses its lock, and its work is discarded and repeated.",
			Fix:         "Renew again after a retryable error.",
			node: func(r *machine.Rules) {
				r.TurnRenewalFailed = func(error) bool { return false }
			}},
		{ID: "duroxide-0.1.26/head-of-line-block", Summary: "a fetch finds nothing while the oldest instance that its filter admits has neither a history nor a start", Source: "docs/contract/runtime.md#case-13",
			Place: "src/providers/sqlite.rs:1093-1103", Place32: "src/providers/sqlite.rs:1092-1101",
			Properties: []string{"S22"}, Scenario: earlyInput,
			Consequence: "One cancel request or event for an instance that does not exist stops every orchestration of the store.",
			Fix:         "Make a fetch skip an instance that has no start yet.",
			as:          "provider/contextless-batch-blocks"},
		{ID: "duroxide-0.1.26/packed-comparison", Summary: "the provider compares versions as major*1000000 + minor*1000 + patch", Source: "docs/contract/runtime.md#case-53",
			Place: "src/providers/sqlite.rs:759-777", Place32: "src/providers/sqlite.rs:758-776",
			Properties: []string{"S01", "S22"}, Scenario: edges,
			Consequence: "An instance pinned to a version with a part above 999 goes to nodes that cannot replay it, or to none.",
			Fix:         "Compare major, minor and patch in turn.",
			as:          "provider/packed-comparison"},
		{ID: "duroxide-0.1.26/prerelease-packed", Summary: "the node puts a pre-release before its release, where the provider compares three numbers, so it refuses what it is handed", Source: "docs/contract/runtime.md#r5.1 and #case-53",
			Place: "src/runtime/dispatchers/orchestration.rs:421-440 src/providers/sqlite.rs:759-777", Place32: "src/runtime/dispatchers/orchestration.rs:425-444 src/providers/sqlite.rs:758-776",
			Properties: []string{"L05"}, Scenario: candidate,
			Consequence: "A node of a release candidate takes the work of its release and gives it back once a second, the attempt counted, until healthy work has been delivered too often and is poisoned.",
			Fix:         "Compare pins and bounds in one way: with their pre-releases in the provider, too, or without them in the node.",
			node:        func(r *machine.Rules) { r.Admits = admitsSemantically }},
		{ID: "duroxide-0.1.26/version-check-first", Summary: "the node tests for an incompatible pin before poison, so a bounced item never ends", Source: "docs/contract/runtime.md#r10.4",
			Place: "src/runtime/dispatchers/orchestration.rs:408-440", Place32: "src/runtime/dispatchers/orchestration.rs:412-444",
			Properties: []string{"L01"}, Scenario: upgrade, With: []BugID{"provider/filter-ignored"},
			Consequence: "Work that every node bounces is bounced forever, and a compatible node that joins later poisons it at once.",
			Fix:         "Test the attempt count before the pin, and name pin and range in the poison error.",
			node: func(r *machine.Rules) {
				r.Order = moved(r.Order, machine.TestIncompatible, 0)
			}},
		{ID: "duroxide-0.1.26/terminal-poisoned", Summary: "a message for an ended instance that was delivered too often fails the instance again", Source: "docs/contract/runtime.md#case-15",
			Place: "src/runtime/dispatchers/orchestration.rs:544-555", Place32: "src/runtime/dispatchers/orchestration.rs:550-561,1436",
			Properties: []string{"S08"}, Scenario: probes,
			Consequence: "A completed orchestration becomes Failed when a leftover message has been delivered too often.",
			Fix:         "Drop the messages of an ended execution before any other test.",
			as:          "engine/poisons-terminal"},
		{ID: "duroxide-0.1.26/status-by-history", Summary: "an undecodable instance is never ended, and its second poison is refused forever", Source: "docs/contract/runtime.md#case-16",
			Place: "src/runtime/dispatchers/orchestration.rs:562-582,1244", Place32: "src/runtime/dispatchers/orchestration.rs:568-588,1304",
			Properties: []string{"L01"}, Scenario: "damaged-histories",
			Consequence: "An instance whose history cannot be read is poisoned again with every message, and the store refuses that each time.",
			Fix:         "Let the provider report the status of the execution, and drop messages that arrive after its end.",
			node: func(r *machine.Rules) {
				r.StatusIsTold = false
			}},
		{ID: "duroxide-0.1.26/undecodable-message-lost", Summary: "a message that cannot be decoded is omitted from its batch, and the ack deletes it", Source: "docs/contract/runtime.md#case-14",
			Place: "src/providers/sqlite.rs:919-930,1167", Place32: "src/providers/sqlite.rs:918-929,1166",
			Properties: []string{"S18", "S12"}, Scenario: damaged,
			Consequence: "A message that a node cannot decode, because a newer build wrote it or it is damaged, is deleted with its batch.",
			Fix:         "Deliver it as an error, counted, and keep its row until it is poisoned.",
			as:          "provider/undecodable-message-dropped"},
		{ID: "duroxide-0.1.26/corrupted-parent-not-told", Summary: "the poison of an undecodable history does not answer the parent", Source: "docs/contract/runtime.md#r10.2",
			Place: "src/runtime/dispatchers/orchestration.rs:1232-1271", Place32: "src/runtime/dispatchers/orchestration.rs:1292-1331",
			Properties: []string{"L06"}, Scenario: families,
			Consequence: "The parent of a child whose history cannot be read waits forever.",
			Fix:         "Have the provider store the parent link next to the history, and answer the parent when poisoning the child.",
			node: func(r *machine.Rules) {
				r.PoisonTellsParent = func(undecodable bool) bool { return !undecodable }
			}},
		{ID: "duroxide-0.1.26/poison-cancels-nothing", Summary: "the activities of a poisoned execution keep running", Source: "docs/contract/runtime.md#r10.1",
			Place: "src/runtime/dispatchers/orchestration.rs:1385-1394", Place32: "src/runtime/dispatchers/orchestration.rs:1469-1478",
			Properties: []string{"L02"}, Scenario: orphans,
			Consequence: "Children and activities of a poisoned orchestration keep running, and nothing reads their results.",
			Fix:         "End a poisoned execution like any other: cancel what is still running.",
			node: func(r *machine.Rules) {
				r.PoisonCancels = false
			}},
		{ID: "duroxide-0.1.26/poison-on-old-execution", Summary: "the poison of a continue-as-new start fails the execution that continued as new", Source: "docs/contract/runtime.md#r10.1",
			Place: "src/runtime/dispatchers/orchestration.rs:1354,1385-1394", Mended: "0.1.32",
			Properties: []string{"S08"}, Scenario: families,
			Consequence: "A loop that has continued as new shows its finished execution as failed, and the next one does not exist.",
			Fix:         "When a continue-as-new start is poisoned, begin the next execution and fail that one.",
			node: func(r *machine.Rules) {
				r.PoisonWaitsForStart = false
			}},
		{ID: "duroxide-0.1.26/poisoned-start-unpinned", Summary: "a poisoned start creates an execution without a pin", Source: "docs/contract/runtime.md#r10.1",
			Place: "src/runtime/dispatchers/orchestration.rs:1362", Place32: "src/runtime/dispatchers/orchestration.rs:1444",
			Properties: []string{"S09"}, Scenario: noHandlers,
			Consequence: "An execution that poison began has no pin, so nodes that cannot read it are given it.",
			Fix:         "Pin it to the build that writes it, like any first turn.",
			node: func(r *machine.Rules) {
				r.PoisonPins = false
			}},
	}
}

// admitsSemantically compares the version that began the execution with the filter as semantic versions. A range that
// ends at the node's version ends at its pre-release. An execution without a version is admitted as by the contract.
func admitsSemantically(f *engine.CapabilityFilter, pin *engine.Version, stamp string, own engine.Version) bool {
	began, err := semver.StrictNewVersion(stamp)
	if err != nil || f == nil || len(f.SupportedVersions) == 0 {
		return f.Admits(pin)
	}
	first := f.SupportedVersions[0]
	if first.Max.Compare(own) == 0 {
		first.Max = own
	}
	full := func(v engine.Version) *semver.Version { return semver.MustParse(v.String()) }
	return !began.LessThan(full(first.Min)) && !full(first.Max).LessThan(began)
}
