// Package properties holds what must be true of a simulated cluster: checkers that watch a run, the coverage points that
// a campaign should reach, and the expectations that a scenario adds. In your own test:
//
//	properties.Test(t, properties.Config{Scenario: "plans/upgrade.txt", Seeds: 50, Handlers: register})
//
// Most users need only Test: it runs a scenario over seeds in go test, with the user's builds and handlers, and
// reports a failure as the smallest plan that shows it. Shrink finds that plan (see package shrink). Config.EachRun
// adds invariants and monitors of the user's own. Package gen draws plans from a seed.
//
// A Monitor watches one run. It receives every observation of the store and every record of the world, builds a model
// of the store from the observations alone, and passes both to each checker. Checkers are online: a violation carries
// the step and the virtual time at which it happened, and its message gives what was expected, what was seen, and the
// evidence (caller with build and incarnation, token, message, event, counts).
//
//	cfg.Monitor = func(w *cluster.World) cluster.Monitor {
//		return properties.New(w, properties.Options{})
//	}
//
// # What a monitor promises
//
// It does not influence the run: with and without a monitor, a seed gives the same run. It trusts no answer: pins,
// counts, locks and batches come from the model. It raises no false alarm about anything that
// docs/contract/provider.md#p10 leaves free. A call whose answer is lost counts, since it took effect; so does a call
// of a node that crashed meanwhile. Clients and probes may do everything that the contract allows the caller of a
// provider. So the properties about what a runtime commits (S08, S09, S10, S12's rules, S13, S23) judge the acks of
// nodes only, by the pin that the execution has at that time, whoever set it. Liveness does not count the time during
// which a probe holds work back.
//
// At the end of a run the model is compared with the store, bytes included. A difference is reported as "shadow",
// class internal: the observations are incomplete, and no verdict of that run counts. The same holds for a call about
// which store and caller disagree: whether it was made, by whom, with which arguments, and how it ended.
//
// Limits: each property reports its first three violations of a run. A monitor can judge only what the store
// observes. Among the reads of clients, these are the custom status, single keys, and the answers to probes that
// look.
//
// The clocks of nodes may differ, and a store may use the clocks of its callers. With such a store, properties that
// compare the times of different callers are judged if the clocks are at most a second apart, and S22 only if they
// agree; NotJudged names the properties that are not judged. A store with a clock of its own compares times of that
// clock only, and every property is judged.
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
// 1. S01: a filtered fetch locks, marks and counts nothing of an instance whose current pin the filter excludes.
// Taking a lock and giving it back in the same call is a violation, too. The pin is that of the current execution; it
// is compared as a numeric triple with both ends of the first range. An instance without a row has no pin.
//
// 2. S02: such a fetch decodes no event of that instance either, cached or not.
//
// 3. S03: unpinned work that is visible, unlocked and has a context is offered to every filter but the empty one,
// which gets nothing. A fetch that dropped orphans or undid a lock may return nothing (F4).
//
// 4. S04: at the end of each call the counts are compared with those at its beginning. A delivery raises the count of
// each message of its batch by one and changes no other, an abandon with ignore_attempt lowers each count of its
// batch by one and not below zero, and all other calls change none. The count that the caller gets is the maximum
// over the batch.
//
// 5. S05: no caller takes a live lock; an ack and a renewal succeed only with the token of a live lock; a fetch that
// delivers nothing leaves no lock. A lock ends at the instant that it names; a renewal extends it from the instant of
// the renewal. An abandon needs the token of the newest lock, live or expired.
//
// 6. S06: a successful ack shows each of its steps; a failed ack, abandon or renewal shows none. A change that is
// undone within the call counts as not made.
//
// 7. S07: events are never overwritten. They are removed only by administration, or by the call that appended them if
// that call fails. An ack decodes no event that an earlier call appended.
//
// 8. S08: a terminal status, ContinuedAsNew included, never changes, and a history has one terminal event.
//
// 9. S09: a pin is set with the first turn, to the build of the node that committed it, because the ack asked for it.
// Poison of an execution that never began pins the execution that it begins; poison of a start that cannot be decoded
// begins no execution.
//
// 10. S10: the checker uses the filter with which the node fetched the batch, or the range of the node if it fetched
// without a filter. First turns, poison and acks without events are exempt.
//
// 11. S11: each execution is replayed by the right rules, on every build of the run that reads the kinds, that has
// the handler in its last registry, and of which a node admitted the pin. An ack carries out every detached start and
// every cancellation that it records, and cancels only what was started. A turn that a node calls nondeterministic is
// a violation, since shipped code is deterministic. A damaged history is exempt, and so is the end of an execution
// that was ended from outside.
//
// 12. S12: a message leaves its queue only through the ack of its delivery, a cancellation that names it, a deletion,
// or as an orphan, and a message is an orphan only while no start for its instance is queued. Each message that a
// committed turn consumed has left an event or appears in the node's note with the rule that dropped it. A node
// acknowledges no batch that it decided to hand back.
//
// 13. S13: a completion has a schedule of its kind in the same execution, is the only completion of that schedule,
// and comes from a message of the batch that names the execution.
//
// 14. S14: a deletion removes the whole instance (worker rows may stay if their tokens are dead: F28), removes no
// running instance without force, and orphans no child. After it, tokens that were given out before are dead. A prune
// removes only executions that are neither current nor running. An instance that is started again under the same name
// is a different instance.
//
// 15. S15: a row does not become visible before the time that its abandon, enqueue or timer asked for, and is not
// delivered before it is visible.
//
// 16. S16: the checker derives sessions from the calls. A store is free to shorten the lock of a session at a refresh
// (F26), to count the late ack of a former holder as activity (F27), and to keep sessions that a cleanup could
// remove. The cap of a node is judged by the activities that run.
//
// 17. S17: the checker derives the state from the events of acks that took effect. A snapshot with history_error may
// hold anything (F13), and a tombstone any time (F19). Queue messages arrive in the order of their batch. A
// continue-as-new carries messages over by the number of dequeues, whichever of them read a message.
//
// 18. S18: when a history or a message could not be decoded, the fetch ends with a delivery that has history_error.
// Without history_error the history is complete, and all its kinds are ones that the caller's build reads.
//
// 19. S19: judged when somebody else takes a lock that ran out. The holder is excused if it was down or frozen, if a
// fetch or an abandon of it failed after it took the lock, or if a renewal or an ack failed too late for another try.
// A lock that is too short (at most 1 s) for the contract's renewal interval is exempt. A session is judged when its
// owner renews or acknowledges an activity of it.
//
// 20. S20: judged when an ack ends an execution of an instance that runs a program of the plan, as root, as child or
// detached. The allowed ends come from the tree of the program: any branch of a select may win, and an event has data
// that some client sent. Poison is left to L01 and L05. A cancel is possible where the plan or a parent may have sent
// one.
//
// 21. S21: judged when a node begins to run an activity.
//
// 22. S22: the checker derives eligibility from the observations and does not ask the store, so it notices rows that
// are lost from the index. A fetch drops orphaned queue messages. If damage makes it uncertain what an instance runs,
// S22 requires nothing.
//
// 23. S23: unpinned executions are exempt, and so are pins of builds that the run does not have.
//
// 24. S24: the specification of a turn (package properties/oracle/turn) judges every ack of a node, from the history
// and the batch that the node received, damaged or not. It shares no code with the replay engine and does not know
// the orchestrations: a turn may make any schedules, but they determine everything else. An ack that poisons an
// execution that has not begun or cannot be decoded is left to S12.
//
// 25. S25: judged at the answer to a fetch or a renewal, by the time of the call. The store is not responsible for an
// answer that is delayed on the way back.
//
// 26. S26: judged where probes look. Like a client, a probe reads the list of instances and the history, statistics
// and keys of each.
//
// 27. S27: for strategies other than filter. Work that a node cannot run is bounced with growing delays, or ended by
// a sweeper or as a dead letter, with a cause, and only after it has been blocked for long enough.
//
// 28. S28: a node decides, requests, logs and counts what the specification of a node prescribes, given the answers
// that it got. A decision is judged when the node notes it; an action that is due is judged when its time has passed.
//
// # Liveness
//
//	L01 poison-ends       L03 nobody-compatible-waits  L05 no-false-poison  L08 locks-recover      L10 cancel-arrives
//	L02 healthy-finishes  L04 drain-ends               L06 parent-told      L09 upgrade-converges  L11 work-served
//	L12 poison-acts       L13 blocked-ends
//
// Each has a bound in store time that is computed from the options of the nodes and from the actual backoffs; the
// message of a violation shows the sum with its terms. Obligations are judged at the end of each phase.
//
// L12 is judged while faults go on, too. It excuses a delivery above max_attempts if its holder crashed, froze, or
// had a fault in one of its calls after it took the lock, other than a wait before a fetch or after an ack. A
// delivery to a probe does not count, since probes do not poison.
//
// Some violations cannot be repaired later and are reported at once: an ack that ends a child without a message to
// the parent that scheduled it, and a continue-as-new of a child that does not name the parent (L06; a child whose
// start was damaged is exempt, since only the start named the parent), a message that is handed back because of its
// pin more often than max_attempts (L01), a lock that is revived after it expired (L08), and a cancel that a node
// consumed although the instance goes on (L10). L09 covers pins of builds that some node of the run had, if the
// highest build's own range holds them, while all nodes run that build with that range.
//
// L11 is of class plan: a tag that no node serves breaks no contract; the activity waits for ever.
//
// # Where they hold
//
// "+" means that the property holds; "-" that it does not hold, and is not judged or only counted; "n" that it holds
// trivially, because nodes send no filter, or under filter, for S27 and L13, because these judge the other
// strategies. The last column names the faults that suspend a property. Under the profile duroxide-0.1.26 every
// property is judged, so that a campaign shows the cost of its switches (docs/findings.md); a "-" in its column means
// that a switch breaks the property.
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
