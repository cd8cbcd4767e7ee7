package faults

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/machine"
	"github.com/durosim/durosim/internal/replay"
	"github.com/durosim/durosim/internal/storerules"
)

// familySwitches returns the switches about parents and children.
func familySwitches() []Bug {
	return []Bug{
		{ID: "duroxide-0.1.26/can-parent-lost", Summary: "a child that continues as new forgets its parent", Source: "docs/contract/runtime.md#case-27",
			Place: "src/runtime/execution.rs:331-338", Mended: "0.1.30",
			Properties: []string{"L06"}, Scenario: families,
			Consequence: "The parent of a child that continues as new waits for ever.",
			Fix:         "Carry the parent link over in the continue-as-new message.",
			as:          "engine/can-parent-lost"},
		{ID: "duroxide-0.1.26/parent-execution-guessed", Summary: "a child answers its parent's first execution, whichever scheduled it", Source: "docs/contract/runtime.md#case-28",
			Place: "src/runtime/mod.rs:849-867", Mended: "0.1.30",
			Properties: []string{"L06"}, Scenario: families,
			Consequence: "A parent that has continued as new does not get the result of its child, and waits for ever.",
			Fix:         "Put the parent's execution into the start of the child.",
			replay: func(r *replay.Rules) {
				r.ChildsParent = func(own engine.ParentLink) engine.ParentLink {
					own.ExecutionID = engine.InitialExecutionID
					return own
				}
			}},
		{ID: "duroxide-0.1.26/refused-start-untold", Summary: "the parent of a child whose id exists already is not answered", Source: "docs/contract/runtime.md#case-62",
			Place: "src/runtime/dispatchers/orchestration.rs:589-607", Mended: "0.1.32",
			Properties: []string{"L02"}, Scenario: corners,
			Consequence: "A parent that names a child like an instance that exists waits for ever.",
			Fix:         "Answer a start with a parent that is refused.",
			replay:      func(r *replay.Rules) { r.AnswersRefusedStart = false }},
		{ID: "duroxide-0.1.26/limit-failure-appended", Summary: "a broken limit fails the execution after all else, and tells nobody", Source: "docs/contract/runtime.md#case-58",
			Place: "src/runtime/dispatchers/orchestration.rs:212-241,715-724", Place32: "src/runtime/dispatchers/orchestration.rs:217-246,764-773",
			Properties: []string{"L06", "S08"}, Scenario: corners,
			Consequence: "A child that breaks a limit leaves its parent waiting for ever, and its own history can have two ends.",
			Fix:         "Check the limits before the turn's end is decided, and end it like any failure.",
			replay:      func(r *replay.Rules) { r.LimitEnds = false }},
		{ID: "duroxide-0.1.26/children-left-running", Summary: "continue-as-new, a panic and a nondeterminism leave the children running", Source: "docs/contract/runtime.md#case-40",
			Place: "src/runtime/execution.rs:255-341 src/runtime/replay_engine.rs:564-574", Place32: "src/runtime/execution.rs:264-298,300-373 src/runtime/replay_engine.rs:592-602,702-708,1069-1081",
			Properties: []string{"L02"}, Scenario: families,
			Consequence: "Children of a parent that panics or continues as new run on, eternal ones for ever.",
			Fix:         "Cancel what runs at every end.",
			replay: func(r *replay.Rules) {
				r.CancelsChildren = func(res replay.Result, returned bool) bool { return returned || res == replay.ResultCancelled }
			}},
		{ID: "duroxide-0.1.26/unstarted-child-cancelled", Summary: "a child whose start is not enqueued gets a cancel", Source: "docs/contract/runtime.md#case-36",
			Place: "src/runtime/execution.rs:356-361,378", Place32: "src/runtime/execution.rs:388-393,413",
			Properties: []string{"S11"}, Scenario: orphans,
			Consequence: "A cancel for a child that never began stays in the queue; with the fetch of 0.1.26 it stops everything behind it.",
			Fix:         "Cancel only children whose start was enqueued.",
			replay:      func(r *replay.Rules) { r.CancelsUnstarted = true }},
		{ID: "duroxide-0.1.26/delete-checks-early", Summary: "an unforced deletion does not see that the instance has begun to run", Source: "docs/contract/provider.md#p7.2",
			Place: "src/providers/sqlite.rs:2811-2852", Place32: "src/providers/sqlite.rs:2905-2946",
			Properties: []string{"S14"}, Scenario: lateDeletes,
			Consequence: "An unforced deletion takes work that began to run while it waited for the database.",
			Fix:         "Look for running instances in the transaction that deletes.",
			as:          "provider/delete-looks-early"},
	}
}

// unseenSwitches returns the switches that no property catches in this version.
func unseenSwitches() []Bug {
	return []Bug{
		{ID: "duroxide-0.1.26/abandon-touches-all", Summary: "an abandon delays every visible message of its instance, and takes an attempt from each", Source: "docs/contract/runtime.md#r12.2",
			Place: "src/providers/sqlite.rs:2242-2264", Mended: "0.1.32",
			Properties: []string{"S15"}, Scenario: noHandlers,
			Consequence: "Each time that an instance is given back, what has come for it since is hidden, too; the start of its next execution can be hidden again and again while inputs arrive.",
			Fix:         "Delay what the token marked, and nothing else.",
			provider:    func(r *storerules.Rules) { r.AbandonTouches = func(bool) bool { return true } }},
		{ID: "duroxide-0.1.26/kv-read-in-two-statements", Summary: "a client read of the key-value store can see a merge half-way", Source: "docs/contract/provider.md#p5.15",
			Place: "src/providers/sqlite.rs:2377-2409,2411-2457", Place32: "src/providers/sqlite.rs:2366-2398,2400-2446",
			Properties: []string{"S26"}, Scenario: lookers,
			Consequence: "Who reads an instance's keys while it ends can be told that they are not there.",
			Fix:         "Read both tables in one statement, or in one transaction.",
			as:          "provider/kv-read-in-two-statements"},
		{ID: "duroxide-0.1.26/turn-abandon-not-sent", Summary: "a turn whose ack failed for good is not given back: its lock runs out", Source: "docs/contract/runtime.md#r5.4",
			Place: "src/runtime/dispatchers/orchestration.rs:998-1002,1188-1192", Place32: "src/runtime/dispatchers/orchestration.rs:1048,1239",
			Properties: []string{"S19"}, Scenario: refusedAcks,
			Consequence: "Work whose commit was refused waits until its lock runs out, and no other node may try it meanwhile.",
			Fix:         "Await the abandon.",
			node: func(r *machine.Rules) {
				next := r.AckFailed
				r.AckFailed = func(kind machine.SlotKind, err error, failures int) machine.AckStep {
					step := next(kind, err, failures)
					if step.Do == machine.AckAbandon && kind == machine.SlotOrchestration {
						step.Do = machine.AckForget
					}
					return step
				}
			}},
		{ID: "duroxide-0.1.26/undecodable-history-empty", Summary: "an undecodable history of an instance without a row is delivered as empty", Source: "docs/contract/provider.md#p5.2",
			Place: "src/providers/sqlite.rs:1022-1025", Place32: "src/providers/sqlite.rs:1021-1024",
			Unseen: "a plan cannot make a history without an instance; the provider's own tests and the oracle show it",
			as:     "provider/no-row-decode-error-swallowed"},
		{ID: "duroxide-0.1.26/worker-ack-not-retried", Summary: "the ack of an activity is sent once", Source: "docs/contract/runtime.md#r6.2",
			Place: "src/runtime/dispatchers/worker.rs:635-646,677-692", Place32: "src/runtime/dispatchers/worker.rs:656-667,698-713,775-778",
			Consequence: "An activity whose ack fails once, for a reason that passes, runs again: its effects happen twice where a second ack would have done.",
			Fix:         "Retry the ack of an activity as that of a turn is retried.",
			Properties:  []string{"S28"}, Scenario: refusedAcks,
			node: func(r *machine.Rules) {
				next := r.AckFailed
				r.AckFailed = func(kind machine.SlotKind, err error, failures int) machine.AckStep {
					step := next(kind, err, failures)
					if kind == machine.SlotWorker && step.Do == machine.AckRetry {
						step.Do = machine.AckAbandon
					}
					return step
				}
			}},
	}
}
