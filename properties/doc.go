// Package properties holds what must be true of a simulated cluster: checkers that watch a run, the coverage points that
// a campaign should reach, and the expectations that a scenario adds. In your own test:
//
//	properties.Test(t, properties.Config{Scenario: "plans/upgrade.txt", Seeds: 50, Handlers: register})
//
// Test is the one call for users: it runs a scenario over seeds in go test, with the user's builds and handlers, and
// reports a failure as the smallest plan that shows it. Shrink finds that plan (see package shrink). Config.EachRun adds
// invariants and monitors of the user's own. Package gen draws plans that nobody has written.
//
// A Monitor watches one run. It is handed every observation of the store and every record of the world, keeps a model of
// the store that it builds from the observations alone, and lets each checker judge. Checkers are online: a finding
// carries the step and the virtual time at which the wrong thing happened, and its message says what was expected, what
// was seen, and the evidence (caller with build and incarnation, token, message, event, counts).
//
//	cfg.Monitor = func(w *cluster.World) cluster.Monitor {
//		return properties.New(w, properties.Options{})
//	}
//
// # What a monitor promises
//
// It moves nothing: a watched run and an unwatched one of the same seed do the same. It trusts no answer: pins, counts,
// locks and batches come from the model. It raises no false alarm under what docs/contract/provider.md#p10 leaves free.
// Lost answers count, since the atomic instant happened; so do calls of nodes that crashed meanwhile. Clients and probes
// may do what the contract lets a provider's caller do: properties about what a runtime commits (S08, S09, S10, S12's
// rules, S13, S23) look at acks of nodes only, by the pin that an execution has at that time, whoever gave it; liveness
// does not count the time for which a probe holds work back.
//
// At the end of a run the model is compared with the store, bytes included. A difference is reported as "shadow", class
// internal: then the observations are incomplete, and no verdict of that run counts. So is a call of which the store says
// anything else than its caller: that it was made at all, by whom, with which arguments, and how it ended.
//
// Limits: a property reports its first three findings of a run. Only what the store observes can be judged; of clients'
// reads, that is the custom status, single keys, and what probes that look are told.
//
// Clocks of nodes may differ, and a store may go by the clocks of its callers. Properties that compare times of different
// callers hold then for clocks that are at most a second apart, S22 for one clock only; beyond that they are not judged, and
// NotJudged names them. A store with a clock of its own compares times with that alone, and all is judged.
//
// # Safety
//
//	S01 filter-before-lock         S09 pin-fixed             S17 state-model
//	S02 filter-before-deserialize  S10 routed-right          S18 visible-error
//	S03 unpinned-is-compatible     S11 replay-deterministic  S19 lock-kept
//	S04 attempt-count-exact        S12 message-conserved     S20 output-possible
//	S05 lock-exclusive             S13 completion-once       S21 no-phantom-work
//	S06 ack-atomic                 S14 no-resurrection       S22 work-conserving
//	S07 history-append-only        S15 backoff-kept          S23 pin-readable
//	S08 terminal-once              S16 worker-routing        S24 turn-allowed
//	S25 lease-whole                S26 reads-true            S27 strategy-kept
//	S28 node-by-its-rules
//
// 1. S01: a filtered fetch locks, marks and counts nothing of an instance whose current pin the filter excludes. Taking a
// lock and giving it back in the same call is a violation, too. The pin is the current execution's, compared as a numeric
// triple with both ends of the first range; an instance without a row has none.
//
// 2. S02: such a fetch decodes no event of that instance either, cached or not.
//
// 3. S03: unpinned work that is visible, unlocked and has a context is offered to every filter but the empty one, which
// gets nothing. A fetch that dropped orphans or took something back may end with nothing (F4).
//
// 4. S04: at the end of each call the counts are compared with those at its beginning. A delivery raises the count of
// each message of its batch by one and changes no other, an abandon with ignore_attempt lowers each count of its batch by
// one and not below zero, and all other calls change none. The count that the caller is told is the maximum over the
// batch.
//
// 5. S05: nobody takes a live lock; an ack and a renewal succeed only with the token of a live lock; a fetch that
// delivers nothing leaves no lock. A lock ends at the instant that it names, and a renewal counts from the instant of the
// renewal. An abandon needs the token of the lock that was taken last, live or not.
//
// 6. S06: a successful ack shows each of its steps, a failed one none, and neither does a failed abandon or renewal. What
// was taken back within the call counts as not done.
//
// 7. S07: events are never overwritten, and removed only by administration or by the call that appended them when it
// fails. An ack decodes no event that was there before.
//
// 8. S08: a terminal status never becomes another one, ContinuedAsNew included, and a history has one terminal event.
//
// 9. S09: a pin is set with the first turn, to the build of the node that committed it, because the ack asked for it. The
// poison of an execution that never began pins the execution that it begins; the poison of a start that cannot be decoded
// begins nothing.
//
// 10. S10: what counts is the filter with which the node fetched the batch, or its range if it fetched without one. First
// turns, poison and acks without events are exempt.
//
// 11. S11: each execution is replayed by the right rules, on every build of the run of which a node admitted the pin,
// that reads the kinds and whose last registry has the handler. What an ack records as started detached or cancelled it
// does, and it cancels only what was started. A turn that a node calls nondeterministic is a finding, since shipped code
// is deterministic. A damaged history is exempt, and so is the end of an execution that was ended from outside.
//
// 12. S12: a message leaves its queue only through the ack of the delivery that it was in, a cancellation that names it,
// deletion, or as an orphan, for which no start may be queued. Each message that a committed turn consumed has left an
// event or appears in the node's note with the rule that dropped it; and a node acknowledges nothing that it decided to
// hand back.
//
// 13. S13: a completion has its schedule in the same execution, of its kind, without another completion, and a message of
// the batch says so for that execution.
//
// 14. S14: a deletion takes an instance whole (worker rows may stay if their tokens are dead: F28), no running one without
// force, and orphans no child. A token that was given out before is dead after it. A prune takes executions only, and none
// that is current or running. An instance that is started again under its name is a different one.
//
// 15. S15: a row is never visible before the time that its abandon, enqueue or timer asked for, and never delivered before
// it is visible.
//
// 16. S16: sessions are worked out from the calls. Whether a refresh shortens a session's lock (F26) and whether the late
// ack of a former holder counts as activity (F27) are free, and so is a cleanup that keeps what it could remove. A node's
// cap is judged by the activities that run.
//
// 17. S17: worked out from the events of acks that took effect. A snapshot with history_error may hold anything (F13), and
// a tombstone any time (F19). Arrivals of queue messages have the order of their batch. Of what a continue-as-new carries,
// only the number of dequeues counts, not which of them read a message.
//
// 18. S18: when a history or a message could not be decoded, the fetch ends with a delivery that has history_error.
// Without history_error the history is complete, and all its kinds are ones that the caller's build reads.
//
// 19. S19: judged when somebody else takes a lock that ran out. Its holder is excused if it was down or frozen, if a
// fetch or an abandon of it failed since it took the lock, or if a renewal or an ack failed so late that there was no
// time to try again. A lock too short (1 s and less) for the contract's renewal interval is exempt. A session is judged
// when its owner renews or acknowledges an activity of it.
//
// 20. S20: judged when an ack ends an execution of an instance that runs a program of the plan, whether as root, as child
// or detached. The allowed ends come from the tree: any branch of a select may win, an event has data that somebody sent.
// Poison belongs to L01 and L05, and a cancel is possible where the plan or a parent may have sent one.
//
// 21. S21: judged when a node begins to run an activity.
//
// 22. S22: eligibility is worked out from the observations; the store is not asked, so that rows lost from its index are
// noticed. A fetch drops orphaned queue messages. Where damage leaves in doubt what an instance runs, nothing is
// required.
//
// 23. S23: unpinned executions and pins of which the run has no build are exempt.
//
// 24. S24: every ack of a node is judged by the specification of a turn (package properties/oracle/turn), from the history and
// the batch that the node was handed, damaged or not. It shares no code with the replay engine and knows no orchestration's
// code: a turn is free to make any schedules, but all that follows from them is fixed. An ack that poisons what has not
// begun, or cannot be decoded, is left to S12.
//
// 25. S25: judged at the answer to a fetch or a renewal, by the time of the call. Legs of calls belong to the caller: an
// answer that is late on its way is no fault of the store.
//
// 26. S26: judged where probes look: the list of instances, and of each its history, its statistics and its keys, as a
// client reads them.
//
// 27. S27: for strategies other than filter. What a node cannot run goes back with growing delays if it is bounced, and is
// ended by a sweeper or as a dead letter only after it has been blocked for long enough, with a cause.
//
// 28. S28: what a node decides, asks for, logs and counts is what the specification of a node says, given what it was told.
// A decision is judged at the node's note of it, what is due when its time has passed.
//
// # Liveness
//
//	L01 poison-ends       L03 nobody-compatible-waits  L05 no-false-poison  L08 locks-recover      L10 cancel-arrives
//	L02 healthy-finishes  L04 drain-ends               L06 parent-told      L09 upgrade-converges  L11 work-served
//	L12 poison-acts       L13 blocked-ends
//
// Each has a bound in store time that is computed from the options of the nodes at hand and from the actual backoffs; a
// message that reports a violation shows the sum with its terms. Obligations are judged at the end of each phase.
//
// L12 is judged while faults go on, too. What it excuses are deliveries above max_attempts whose holder crashed, froze,
// or had a fault in one of its calls since it took the lock, other than a wait before a fetch or after an ack. A delivery
// to a probe, which does not poison, does not count.
//
// Some violations can never be made good and are overdue at once: a child's end whose ack does not tell the parent that
// scheduled it, and a continue-as-new of a child that does not name the parent (L06; a child whose start was damaged is
// exempt, since nobody else knew its parent), a message that goes back for its pin more often than max_attempts (L01), a
// lock that is revived after it ran out (L08), and a cancel that a node consumed of an instance that goes on (L10). L09
// covers pins of builds that some node of the run was, as far as the highest build's own range holds them, while all
// nodes run that build with that range.
//
// L11 is of class plan: a tag that nobody serves breaks no contract, and the activity waits for ever.
//
// # Where they hold
//
// "+" holds; "-" does not, and is not judged or only counted; "n" holds but says little, since nodes send no filter.
// Properties of a line without a fault are never suspended. What a strategy other than filter is about, S27 and L13 judge:
// they have nothing to say under filter. Under the profile duroxide-0.1.26 every property is judged, so that
// a campaign shows what its switches cost (docs/findings.md); a "-" in its column means that a switch breaks it.
//
//	property      filter  bounce  sweeper  deadletter  contract  0.1.26  suspended by
//	S01 S02         +       n       n          n          +        -
//	S03             +       +       +          +          +        -
//	S04 S05         +       +       +          +          +        +
//	S06             +       +       +          +          +        +
//	S07             +       +       +          +          +        +     corrupt-event (that event's bytes)
//	S08             +       +       +          +          +        -
//	S09             +       +       +          +          +        -
//	S10             +       +       +          +          +        +
//	S11             +       +       +          +          +        -     corrupt-event (that history)
//	S12             +       +       +          +          +        -
//	S13             +       +       +          +          +        -
//	S14             +       +       +          +          +        +
//	S15             +       +       +          +          +        +
//	S16 S17         +       +       +          +          +        +
//	S18             +       +       +          +          +        +
//	S19             +       +       +          +          +        -     pause, calls that fail (that holder)
//	S20             +       +       +          +          +        -
//	S21             +       +       +          +          +        +
//	S22             +       +       +          +          +        -     pause (that node's fetches)
//	S23             +       +       +          +          +        -
//	S24             +       +       +          +          +        -
//	S25 S26         +       +       +          +          +        +
//	S27             n       +       +          +          +        +     clock skew (that sweeper's times)
//	S28             +       +       +          +          +        -     clock skew and pause (that node's pauses)
//	L01             +       +       +          +          +        -
//	L02             +       +       +          +          +        -     corrupt-event, corrupt-message
//	L03             +       -       -          +          +        +
//	L04             +       +       +          +          +        -
//	L05             +       -       -          -          +        -
//	L06             +       +       +          +          +        -     corrupt-message (that child)
//	L08             +       +       +          +          +        +
//	L09             +       n       +          +          +        +
//	L10             +       +       +          +          +        -     corrupt-message (that cancel)
//	L11             +       +       +          +          +        +
//	L12             +       +       +          +          +        +     crashes, pause, calls that fail (that delivery)
//	L13             n       +       +          +          +        +
//	shadow          +       +       +          +          +        +
package properties
