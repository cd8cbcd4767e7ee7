package faults

import (
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/replay"
	"github.com/durosim/durosim/memprovider"
)

func familySwitches() []Bug {
	return []Bug{
		{ID: "duroxide-0.1.26/can-parent-lost", Summary: "a child that continues as new loses the link to its parent", Source: "docs/contract/runtime.md#case-27",
			Place: "src/runtime/execution.rs:331-338", Mended: "0.1.30",
			Properties: []string{"L06"}, Scenario: families,
			Consequence: "The parent of a child that continues as new waits forever.",
			Fix:         "Carry the parent link in the continue-as-new message.",
			as:          "engine/can-parent-lost"},
		{ID: "duroxide-0.1.26/parent-execution-guessed", Summary: "a child always answers its parent's first execution, whichever execution scheduled it", Source: "docs/contract/runtime.md#case-28",
			Place: "src/runtime/mod.rs:849-867", Mended: "0.1.30",
			Properties: []string{"L06"}, Scenario: families,
			Consequence: "A parent that has continued as new does not get the result of its child, and waits forever.",
			Fix:         "Put the parent's execution into the start of the child.",
			replay: func(r *replay.Rules) {
				r.ChildsParent = func(own engine.ParentLink) engine.ParentLink {
					own.ExecutionID = engine.InitialExecutionID
					return own
				}
			}},
		{ID: "duroxide-0.1.26/refused-start-untold", Summary: "the parent of a child whose id already exists gets no answer", Source: "docs/contract/runtime.md#case-62",
			Place: "src/runtime/dispatchers/orchestration.rs:589-607", Mended: "0.1.32",
			Properties: []string{"L02"}, Scenario: corners,
			Consequence: "A parent that gives a child the id of an existing instance waits forever.",
			Fix:         "Answer the parent of a start that is refused.",
			replay:      func(r *replay.Rules) { r.AnswersRefusedStart = false }},
		{ID: "duroxide-0.1.26/limit-failure-appended", Summary: "exceeding a limit fails the execution after everything else, and reports to no parent", Source: "docs/contract/runtime.md#case-58",
			Place: "src/runtime/dispatchers/orchestration.rs:212-241,715-724", Place32: "src/runtime/dispatchers/orchestration.rs:217-246,764-773",
			Properties: []string{"L06", "S08"}, Scenario: corners,
			Consequence: "A child that exceeds a limit leaves its parent waiting forever, and its own history can have two ends.",
			Fix:         "Check the limits before deciding how the turn ends, and end it like any failure.",
			replay:      func(r *replay.Rules) { r.LimitEnds = false }},
		{ID: "duroxide-0.1.26/children-left-running", Summary: "continue-as-new, a panic or nondeterminism leaves the children running", Source: "docs/contract/runtime.md#case-40",
			Place: "src/runtime/execution.rs:255-341 src/runtime/replay_engine.rs:564-574", Place32: "src/runtime/execution.rs:264-298,300-373 src/runtime/replay_engine.rs:592-602,702-708,1069-1081",
			Properties: []string{"L02"}, Scenario: families,
			Consequence: "Children of a parent that panics or continues as new keep running, eternal ones forever.",
			Fix:         "Cancel what is still running whenever an execution ends.",
			replay: func(r *replay.Rules) {
				r.CancelsChildren = func(res replay.Result, returned bool) bool { return returned || res == replay.ResultCancelled }
			}},
		{ID: "duroxide-0.1.26/unstarted-child-cancelled", Summary: "a child whose start was not enqueued is sent a cancel request", Source: "docs/contract/runtime.md#case-36",
			Place: "src/runtime/execution.rs:356-361,378", Place32: "src/runtime/execution.rs:388-393,413",
			Properties: []string{"S11"}, Scenario: orphans,
			Consequence: "A cancel request for a child that never started stays in the queue; with the fetch of 0.1.26 it blocks everything behind it.",
			Fix:         "Cancel only children whose start was enqueued.",
			replay:      func(r *replay.Rules) { r.CancelsUnstarted = true }},
		{ID: "duroxide-0.1.26/delete-checks-early", Summary: "an unforced deletion does not notice that the instance has started to run", Source: "docs/contract/provider.md#p7.2",
			Place: "src/providers/sqlite.rs:2811-2852", Place32: "src/providers/sqlite.rs:2905-2946",
			Properties: []string{"S14"}, Scenario: lateDeletes,
			Consequence: "An unforced deletion deletes work that started to run while the deletion waited for the database.",
			Fix:         "Check for running instances in the transaction that deletes.",
			as:          "provider/delete-looks-early"},
	}
}

// unseenSwitches returns the switches that no property catches in this version.
func unseenSwitches() []Bug {
	return []Bug{
		{ID: "duroxide-0.1.26/abandon-touches-all", Summary: "an abandon delays every visible message of its instance, and lowers the attempt count of each", Source: "docs/contract/runtime.md#r12.2",
			Place: "src/providers/sqlite.rs:2242-2264", Mended: "0.1.32",
			Properties: []string{"S15"}, Scenario: "lost-requests",
			Consequence: "Each abandon also hides the messages that have arrived since the fetch; while input keeps arriving, the start of the next execution can be hidden again and again.",
			Fix:         "Delay only the messages that the token marked.",
			provider:    func(r *memprovider.Rules) { r.AbandonTouches = func(bool) bool { return true } }},
		{ID: "duroxide-0.1.26/kv-read-in-two-statements", Summary: "a client read of the key-value store can see half of a merge", Source: "docs/contract/provider.md#p5.15",
			Place: "src/providers/sqlite.rs:2377-2409,2411-2457", Place32: "src/providers/sqlite.rs:2366-2398,2400-2446",
			Properties: []string{"S26"}, Scenario: lookers,
			Consequence: "A client that reads an instance's keys while it ends may be told that they do not exist.",
			Fix:         "Read both tables in one statement, or in one transaction.",
			as:          "provider/kv-read-in-two-statements"},
		{ID: "duroxide-0.1.26/turn-abandon-not-sent", Summary: "a turn whose ack failed permanently is not abandoned: its lock expires", Source: "docs/contract/runtime.md#r5.4",
			Place: "src/runtime/dispatchers/orchestration.rs:998-1002,1188-1192", Place32: "src/runtime/dispatchers/orchestration.rs:1048,1239",
			Properties: []string{"S19"}, Scenario: refusedAcks,
			Consequence: "Work whose commit was refused waits until its lock expires, and no other node can try it meanwhile.",
			Fix:         "Await the abandon.",
			node: afterAckFailed(func(kind machine.SlotKind, step *machine.AckStep) {
				if step.Do == machine.AckAbandon && kind == machine.SlotOrchestration {
					step.Do = machine.AckForget
				}
			})},
		{ID: "duroxide-0.1.26/undecodable-history-empty", Summary: "an undecodable history of an instance without a row is delivered as empty", Source: "docs/contract/provider.md#p5.2",
			Place: "src/providers/sqlite.rs:1022-1025", Place32: "src/providers/sqlite.rs:1021-1024",
			Unseen: "a plan cannot create a history without an instance; the provider's own tests and the oracle show it",
			as:     "provider/no-row-decode-error-swallowed"},
		{ID: "duroxide-0.1.26/worker-ack-not-retried", Summary: "the ack of an activity is sent once", Source: "docs/contract/runtime.md#r6.2",
			Place: "src/runtime/dispatchers/worker.rs:635-646,677-692", Place32: "src/runtime/dispatchers/worker.rs:656-667,698-713,775-778",
			Unseen: "an activity may run again whenever its ack fails; an expectation of `real-worker-ack-not-retried` sees it",
			node: afterAckFailed(func(kind machine.SlotKind, step *machine.AckStep) {
				if kind == machine.SlotWorker && step.Do == machine.AckRetry {
					*step = machine.AckStep{Do: machine.AckAbandon, After: 100 * time.Millisecond}
				}
			})},
	}
}
