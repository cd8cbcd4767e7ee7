// Package turn is the specification of a turn: given its input, what a node may record, send, cancel, carry over and
// report:
//
//	for _, wrong := range checker.CheckAck(&turn.Turn{History: history, Batch: batch, Ack: ack, ...}) { ... }
//
// The package does not know the code of an orchestration, which decides what to schedule. Everything else follows from
// the history and the batch, which is what CheckAck judges, and from the calls that the code made and the results that it
// got, which is what CheckCode judges. The package derives it independently, from docs/contract/runtime.md#r7 and
// docs/contract-decisions.md, and shares no code with the replay engine.
//
// A turn's delta has three parts, in this order:
//
//   - Arrivals: on a first turn the start, then an event for each message in the batch unless a rule drops the message.
//   - The code's own events: schedules, state changes, and breadcrumbs for futures that it dropped.
//   - The end, if the execution ends: breadcrumbs for the waits still open, the terminal event, and cancellations for
//     the activities still running.
//
// Together these determine the messages, the work, the withdrawals and the metadata.
//
// Which event a request of the code matches is in calls.go, and what a mismatch says in disagree.go; code.go judges the
// code's own events by history and batch alone.
//
// What holds of released nodes, too, is judged in properties/internal/safety/turn.go: deeds (S11), completions (S13),
// the queue and what the next execution gets (S17), and work (S21).
//
// CheckAck cannot judge whether the right things are scheduled or whether a completion reaches the right future. Nor can
// it judge which of several queue messages the code has taken; it only checks a bound.
package turn
