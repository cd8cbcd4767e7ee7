package faults

// Finding says of a switch of profile duroxide-0.1.26 what it means to a user and what mends it, or, where no property
// catches it, why.
type Finding struct {
	ID          BugID
	Consequence string
	Fix         string
	Unseen      string // why no property sees it; empty for what one catches
}

// Findings are the switches of the profile in the order in which to read them. The caller owns the slice.
func Findings() []Finding {
	return append(append(append(turnFindings(), stateFindings()...), familyFindings()...), unseenFindings()...)
}

// turnFindings are about locks, acks, counts and poison.
func turnFindings() []Finding {
	return []Finding{
		{ID: "duroxide-0.1.26/ack-failure-fails-orchestration",
			Consequence: "A third of a second in which the database is busy turns healthy orchestrations into Failed ones, and nobody tells their parents.",
			Fix:         "Give the turn back after the last try; never make an event of a failure that is not the orchestration's."},
		{ID: "duroxide-0.1.26/renewal-error-cancels",
			Consequence: "One renewal that fails for a moment cancels an activity, deletes its work without a completion, and the orchestration waits for ever.",
			Fix:         "Renew again until the lock runs out; give back what is lost instead of acknowledging it without a completion."},
		{ID: "duroxide-0.1.26/renewal-stops-at-shutdown",
			Consequence: "During each graceful restart, turns and activities that take longer than their locks run a second time elsewhere.",
			Fix:         "Renew as long as something is held, draining or not."},
		{ID: "duroxide-0.1.26/turn-renewal-gives-up",
			Consequence: "After one lost renewal a long turn loses its lock, its work is thrown away and done again.",
			Fix:         "Renew again after a retryable error."},
		{ID: "duroxide-0.1.26/head-of-line-block",
			Consequence: "One cancel or event for an instance that does not exist stops every orchestration of the store.",
			Fix:         "Let a fetch look past what it cannot deliver."},
		{ID: "duroxide-0.1.26/packed-comparison",
			Consequence: "An instance pinned to a version with a part above 999 goes to nodes that cannot replay it, or to none.",
			Fix:         "Compare major, minor and patch one after the other."},
		{ID: "duroxide-0.1.26/version-check-first",
			Consequence: "Work that every node bounces is bounced for ever, and a compatible node that comes later poisons it at sight.",
			Fix:         "Test the count before the pin, and name pin and range in the poison."},
		{ID: "duroxide-0.1.26/terminal-poisoned",
			Consequence: "An orchestration that has completed turns into Failed when a left-over message has been delivered too often.",
			Fix:         "Drop the messages of an ended execution before anything else is looked at."},
		{ID: "duroxide-0.1.26/status-by-history",
			Consequence: "An instance whose history cannot be read is poisoned again at its next message, which the store refuses, for ever.",
			Fix:         "Let the provider tell the status of the execution, and drop what comes after its end."},
		{ID: "duroxide-0.1.26/undecodable-message-lost",
			Consequence: "A message that a node cannot decode, of a newer build or damaged, is deleted with the batch that it came in.",
			Fix:         "Deliver it as an error, counted, and keep its row until it is poisoned."},
		{ID: "duroxide-0.1.26/corrupted-parent-not-told",
			Consequence: "The parent of a child whose history cannot be read waits for ever.",
			Fix:         "Let the provider keep the parent link beside the history, and answer the parent with the poison."},
		{ID: "duroxide-0.1.26/poison-cancels-nothing",
			Consequence: "Children and activities of a poisoned orchestration run on, with nobody to read their results.",
			Fix:         "End a poisoned execution like any other: cancel what runs."},
		{ID: "duroxide-0.1.26/poison-on-old-execution",
			Consequence: "A loop that has continued as new shows its finished execution as failed, and the next one does not exist.",
			Fix:         "Poison of a continue-as-new start begins the next execution and fails that one."},
		{ID: "duroxide-0.1.26/poisoned-start-unpinned",
			Consequence: "An execution that only poison began has no pin, so that nodes which cannot read it are handed it.",
			Fix:         "Pin it to the build that writes it, as any first turn does."},
	}
}

// stateFindings are about continue-as-new, queue messages, waits and keys.
func stateFindings() []Finding {
	return []Finding{
		{ID: "duroxide-0.1.26/can-input-lost",
			Consequence: "A cancel or an event that comes while the start of the next execution waits in a backoff is lost without a trace.",
			Fix:         "Give it back, uncounted, until the start is processed."},
		{ID: "duroxide-0.1.26/queue-message-orphaned",
			Consequence: "A message sent to an instance whose start waits in a backoff is dropped although both were accepted.",
			Fix:         "A message is an orphan only if no start of its instance is queued, visible or not."},
		{ID: "duroxide-0.1.26/duplicate-start-wins",
			Consequence: "A client that repeats its start at the wrong moment stops an orchestration between two executions for ever.",
			Fix:         "After a continue-as-new only a continue-as-new message is a start; the duplicate is dropped alone."},
		{ID: "duroxide-0.1.26/duplicate-start-code",
			Consequence: "A client that repeats its start after an upgrade runs new code over an old history, and the orchestration fails as nondeterministic.",
			Fix:         "Take name and version of a running execution from its history."},
		{ID: "duroxide-0.1.26/detached-lost-in-can",
			Consequence: "An orchestration started just before a continue-as-new is in the history and never runs.",
			Fix:         "Enqueue detached starts whatever the turn ends in, a cancel excepted."},
		{ID: "duroxide-0.1.26/pending-dequeue-reads",
			Consequence: "A message that arrived for a dequeue which nobody had looked at is gone after a continue-as-new.",
			Fix:         "Carry every message over that no code has taken."},
		{ID: "duroxide-0.1.26/freed-event-waits",
			Consequence: "An event that came in the moment of a timeout is handed to the code's next wait only when something else happens, or never.",
			Fix:         "Poll the code again when a dropped wait frees an event."},
		{ID: "duroxide-0.1.26/dropped-dequeue-early",
			Consequence: "A message that comes together with the timeout of its dequeue fails the orchestration as nondeterministic.",
			Fix:         "Apply a cancellation when it is recorded, at the same place in each replay."},
		{ID: "duroxide-0.1.26/kv-stamp-fresh",
			Consequence: "Code that prunes keys by their age fails as nondeterministic a while later.",
			Fix:         "Take the age of a key from the event that set it."},
		{ID: "duroxide-0.1.26/prune-unordered",
			Consequence: "Code that prunes two keys at once fails as nondeterministic at random.",
			Fix:         "Clear them in the order of their names."},
		{ID: "duroxide-0.1.26/kv-keys-per-turn",
			Consequence: "The limit of 100 keys holds for one turn only, so that an instance can grow without bound.",
			Fix:         "Count the keys that earlier turns of the execution have set."},
		{ID: "duroxide-0.1.26/other-outcome-applied",
			Consequence: "An activity that ran twice, once well and once not, kills its orchestration.",
			Fix:         "Drop any second completion of a schedule as a duplicate."},
	}
}

// familyFindings are about parents and children.
func familyFindings() []Finding {
	return []Finding{
		{ID: "duroxide-0.1.26/can-parent-lost",
			Consequence: "The parent of a child that continues as new waits for ever.",
			Fix:         "Carry the parent link over in the continue-as-new message (released since)."},
		{ID: "duroxide-0.1.26/parent-execution-guessed",
			Consequence: "A parent that has continued as new does not get the result of its child, and waits for ever.",
			Fix:         "Put the parent's execution into the start of the child (released since)."},
		{ID: "duroxide-0.1.26/refused-start-untold",
			Consequence: "A parent that names a child like an instance that exists waits for ever.",
			Fix:         "Answer a start with a parent that is refused (released since for ended instances)."},
		{ID: "duroxide-0.1.26/limit-failure-appended",
			Consequence: "A child that breaks a limit leaves its parent waiting for ever, and its own history can have two ends.",
			Fix:         "Check the limits before the turn's end is decided, and end it like any failure."},
		{ID: "duroxide-0.1.26/children-left-running",
			Consequence: "Children of a parent that panics or continues as new run on, eternal ones for ever.",
			Fix:         "Cancel what runs at every end."},
		{ID: "duroxide-0.1.26/unstarted-child-cancelled",
			Consequence: "A cancel for a child that never began stays in the queue; with the fetch of 0.1.26 it stops everything behind it.",
			Fix:         "Cancel only children whose start was enqueued."},
	}
}

// unseenFindings are what no property catches in this version.
func unseenFindings() []Finding {
	return []Finding{
		{ID: "duroxide-0.1.26/abandon-touches-all",
			Unseen: "a message that is late by a backoff is within every bound, and the attempts that it takes back are seldom there; the provider's own tests show it"},
		{ID: "duroxide-0.1.26/delete-checks-early",
			Unseen: "no scenario deletes an instance that has just begun to run; the provider's own tests and the oracle show it"},
		{ID: "duroxide-0.1.26/kv-read-in-two-statements",
			Unseen: "no client of a simulation reads keys while another call runs; the provider's own tests show it"},
		{ID: "duroxide-0.1.26/turn-abandon-not-sent",
			Unseen: "the lock that is left runs out within its timeout, so that the work is only late, within every bound"},
		{ID: "duroxide-0.1.26/undecodable-history-empty",
			Unseen: "a plan cannot make a history without an instance; the provider's own tests and the oracle show it"},
		{ID: "duroxide-0.1.26/worker-ack-not-retried",
			Unseen: "the activity runs once more after 100 ms, which the contract allows: activities run at least once"},
	}
}
