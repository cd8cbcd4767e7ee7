// Package properties checks what must be true of a simulated cluster:
//
//	monitor := properties.New(world, properties.Options{})
//
// It has the checkers that watch a run, the coverage points that a campaign should reach, and the expectations that a
// scenario adds. Most users need only durosim.Test. Package gen draws plans from a seed.
//
// A Monitor watches one run. It receives every observation of the store and every record of the world, builds a model
// of the store from the observations alone, and passes both to each checker. Checkers work online: a violation carries
// the step and the virtual time at which it happened. Its message says what was expected, what was seen, and what the
// evidence is (caller with build and incarnation, token, message, event, counts).
//
//	cfg.Monitor = func(w *cluster.World) cluster.Monitor {
//		return properties.New(w, properties.Options{})
//	}
//
// # Who judges
//
// Named rules (S01 and on) watch every seed: they judge filters, attempt counts, the turns and locks of nodes, and
// whether a fetch finds what is eligible. The second judge is the specification of a provider (package oracle) beside
// the store: it judges each answer and, after each call, the rows. It watches every tenth seed of simrun run, every
// seed with --self-check or with planted bugs, and every run over a store that is not durosim's own. What it objects to
// violates the property whose clause or column it is; S05, S06, S14, S15, S18, S25 and S26 are reported by it alone.
// What can blame nobody but durosim is in internal/dev/selfcheck. Liveness (L01 and on) is judged at the end of each
// phase, against a bound. Expectations are the scenario's own sentences, and outcome says whether each instance ended
// as planned. A user is shown the first three violations of each property and cause, with node, time and evidence, and
// the smallest plan that shows the first of all. docs/checkers.md has what only each of these judges finds.
//
// # What a monitor promises
//
// A monitor does not influence the run: a seed gives the same run with and without one. It trusts no answer: pins,
// counts, locks and batches come from the model. It raises no false alarm about anything that
// docs/contract/provider.md#p10 leaves free. A call whose answer is lost still counts, since it took effect, and so
// does a call by a node that has crashed in the meantime. Clients and probes may do everything that the contract allows
// a provider's caller to do. For that reason, the properties about what a runtime commits (S08, S09, S10, the rules of
// S12, S13, S23) judge only the acks of nodes, and they use the execution's current pin, no matter who set it. Liveness
// does not count the time during which a probe holds work back.
//
// There are limits. Each property reports only its first three violations of each cause in a run. Rules can judge only
// what the store observes, and the second judge what callers are answered and which rows the store has.
//
// Nodes' clocks may differ, and a store may use its callers' clocks. With such a store, properties that compare times
// of different callers are judged only if the clocks are at most a second apart, and S22 only if the clocks agree;
// NotJudged names the properties that are not judged. A store with its own clock compares only times of that clock, so
// every property is judged.
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
//	S08 terminal-once              S16 worker-routing        S25 lease-whole
//	S26 reads-true                 S27 strategy-kept         S29 output-kept
//	S30 schema-kept
//
// 1. S01: if the filter excludes an instance's current pin, a filtered fetch does not lock, mark or count anything that
// belongs to the instance. Taking a lock and releasing it within the same call is a violation, too. The pin is that of
// the current execution; it is compared as a numeric triple with both ends of the first range. An instance without a
// row has no pin.
//
// 2. S02: such a fetch does not decode any event of that instance either, whether or not the event is cached.
//
// 3. S03: work that is unpinned, visible and unlocked and has a context is offered to every filter except the empty
// one, which gets nothing. A fetch that dropped orphans or undid a lock may return nothing (F4).
//
// 4. S04: at the end of each call, the attempt counts are compared with those at its start. A delivery adds one to the
// count of each message in its batch. An abandon with ignore_attempt subtracts one from each count in its batch, but
// never goes below zero. No other call changes a count. The caller gets the highest count in the batch.
//
// 5. S05: no caller takes a live lock. An ack or a renewal succeeds only with a live lock's token. A fetch that
// delivers nothing leaves no lock behind. A lock expires at the instant that it names; a renewal extends it from the
// instant of the renewal. An abandon needs the newest lock's token, live or expired.
//
// 6. S06: a successful ack shows every one of its steps; a failed ack, abandon or renewal shows none. A change that is
// undone within the same call does not count as a change.
//
// 7. S07: events are never overwritten. Only administration removes them, or a failing call that removes what it has
// appended itself. An ack does not decode events that an earlier call appended.
//
// 8. S08: a terminal status never changes, and ContinuedAsNew is terminal. A history has at most one terminal event.
//
// 9. S09: the first turn sets the pin, because the ack asks for it, to the build of the node that commits the turn.
// Poisoning an execution that never began also pins the execution that it begins. Poisoning a start that cannot be
// decoded begins no execution.
//
// 10. S10: the checker uses the filter with which the node fetched the batch, or the node's range if it fetched without
// a filter. First turns, poison and acks without events are exempt.
//
// 11. S11: each execution is replayed under the right rules, on every build in the run that reads its kinds, has its
// handler in its latest registry, and was used by a node that admitted its pin, while the execution ran. An ack carries
// out every detached start and every cancellation that it records, and cancels only what was started. It is also a
// violation if a node calls a turn nondeterministic, since shipped code is deterministic. Damaged histories are exempt,
// and so is the end of an execution that was ended from outside.
//
// 12. S12: a message leaves its queue only through the ack of its delivery, a cancellation that names it, a deletion,
// or as an orphan. It is an orphan only while no start for its instance is queued. Each message that a committed turn
// consumed has either left an event or appears in the node's note with the rule that dropped it. A node never
// acknowledges a batch that it decided to hand back.
//
// 13. S13: a completion has a matching schedule in the same execution, is that schedule's only completion, and comes
// from a message in the batch that names the execution.
//
// 14. S14: a deletion removes the whole instance (worker rows may stay if their tokens are dead: F28). Without force,
// it removes no running instance. It orphans no child. Tokens handed out before the deletion are dead after it. A prune
// removes only executions that are neither current nor running. An instance that is started again under the same name
// is a different instance.
//
// 15. S15: a row does not become visible before the time that its abandon, enqueue or timer asked for, and it is not
// delivered before it is visible.
//
// 16. S16: a store may shorten a session's lock at a refresh (F26), count
// a former holder's late ack as activity (F27), and keep sessions that a cleanup could remove. A node's session cap is
// judged by the activities that run.
//
// 17. S17: the state follows from the events in acks that took effect. A snapshot with history_error may hold anything
// (F13), and a tombstone may have any time (F19). Queue messages arrive in the order of their batch, and a
// continue-as-new carries messages over according to the number of dequeues, no matter which of them read a message.
//
// 18. S18: when a history or a message cannot be decoded, the fetch delivers with history_error set. Without
// history_error the history is complete, and the caller's build reads all its kinds.
//
// 19. S19: judged when somebody else takes an expired lock. The previous holder is excused if it was down or frozen, if
// one of its fetches or abandons failed after it took the lock, or if a renewal or an ack failed too late for another
// try. A lock that is too short for the contract's renewal interval (at most 1 s) is exempt. A session is judged when
// its owner renews or acknowledges one of its activities.
//
// 20. S20: judged when an ack ends an execution of an instance that runs one of the plan's programs, whether as a root,
// as a child or detached. The program's tree determines the allowed ends: any branch of a select may win, and an event
// has data that some client sent. Poison is left to L01 and L05. A cancel is possible if the plan or a parent may have
// sent one. An instance that was deleted and begins again is not judged: a child from before may answer it.
//
// 21. S21: judged when an ack sends an activity.
//
// 22. S22: the checker derives eligibility from the observations and does not ask the store, so it notices rows that
// the index has lost. A fetch drops orphaned queue messages. If damage makes it uncertain what an instance runs, S22
// requires nothing.
//
// 23. S23: unpinned executions are exempt, and so are executions pinned to a build that is not in the run.
//
// 25. S25: judged when a fetch or a renewal is answered, by the time of the call. The store is not responsible for an
// answer that is delayed on the way back.
//
// 26. S26: judged where clients and probes read. A probe that looks reads the list of instances and each instance's
// history, statistics and keys.
//
// 27. S27: for strategies other than filter. Work that a node cannot run is bounced with growing delays, or is ended by
// a sweeper or as a dead letter. Ending it requires a cause, and the work must have been blocked for long enough.
// The dead-letter policy takes nothing that a recent fetch admits.
//
// 29. S29, class plan: as S11, for code of another build than the one that ended the execution, if it asks for the same
// and ends in the same way, with another output or error text. No runtime replays what has ended.
//
// 30. S30: judged where builds of the plan have a schema or wait for an activation, when a migration begins or ends, a
// node starts or is refused, a build is activated, a call takes effect, and at the end. The contract of a provider says
// nothing of schemas and activations; what a migration does to rows, the other rules see.
//
// # Liveness
//
//	L01 poison-ends       L03 nobody-compatible-waits  L05 no-false-poison  L08 locks-recover      L10 cancel-arrives
//	L02 healthy-finishes  L04 drain-ends               L06 parent-told      L09 upgrade-converges  L11 work-served
//	L12 poison-acts       L13 blocked-ends
//
// Each has a bound in store time, which is computed from the nodes' options and from the actual backoffs; a violation's
// message shows the sum with its terms. Obligations are judged at the end of each phase. The time that work waits in line
// is counted from when the line in front of it last moved.
//
// L02 is silent about an instance of the plan that goes on by continuing as new, unless it runs a program: whether that
// should end is for the plan to say (outcome). Nor does it judge the children that the dead-letter policy left alone when
// it ended their parent. Outcome accepts a failure of code in which a fault made an activity panic, and any end but
// completion and cancellation of work with damaged bytes.
//
// L12 is judged even while faults go on. It excuses a delivery above max_attempts if its holder crashed or froze after
// it took the lock, or if one of the holder's calls then met a fault other than a wait before a fetch or after an ack.
// A delivery to a probe does not count, since probes do not poison, nor one with a lock that an answer and an ack may
// outlast without any fault.
//
// Some violations cannot be repaired later, so they are reported at once:
//
//   - L01: a message is handed back because of its pin more than max_attempts times.
//   - L06: an ack ends a child without sending a message to the parent that scheduled it, or a child's continue-as-new
//     does not name the parent. A child whose start was damaged is exempt, since only the start named the parent.
//   - L08: an expired lock is revived.
//   - L10: a node consumes a cancel, but the instance goes on.
//
// L09 covers a pin if it belongs to a build that some node in the run had, and if the highest build's own range
// includes it. It applies while all nodes run the highest build with that range.
//
// L11 has class plan: a tag that no node serves does not break the contract; the activity just waits forever.
//
// # Where they hold
//
// "+" means that the property holds. "-" means that it does not hold, and is either not judged or only counted. "n"
// means that it holds trivially: nodes send no filter, or, for S27 and L13, the column is filter and these two judge
// the other strategies. The last column names the faults that suspend a property. Under the profile duroxide-0.1.26
// every property is judged, so that a campaign shows what the profile's switches cost (docs/findings.md); a "-" in that
// column means that one of the switches breaks the property.
//
// Under the strategy exact they hold as under filter, and under stall as under filter, too, except that S01 and S02 hold
// trivially, S27 is judged, and L03 and L05 do not hold; a bound (L01, L02, L04, L08 to L10) is not judged for work that a
// live node has to give back, since it is chance which node fetches it first.
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
//	S25 S26         +       +       +          +          +        +
//	S27             n       +       +          +          +        +     clock skew (that sweeper's times)
//	S29             +       +       +          +          +        +     corrupt-event (that history)
//	S30             +       +       +          +          +        +
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
