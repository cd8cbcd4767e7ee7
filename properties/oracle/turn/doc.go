// Package turn is the specification of a turn: what a node may record, send, cancel, carry over and report, given its
// input. It judges the turns of any runtime, including recorded ones:
//
//	for _, wrong := range turn.Check(turn.Turn{History: history, Batch: batch, Ack: ack, ...}) { ... }
//	err := turn.CheckTurn(history, batch, delta)
//
// It does not know the code, which decides what an orchestration schedules. Everything else follows from history and
// batch. The package computes it independently, from docs/contract/runtime.md#r7 and docs/contract-decisions.md, and
// shares no code with the replay engine.
//
// A turn's delta has three parts, in this order. Arrivals: the start on a first turn, and an event for each message of
// the batch that no rule drops. The code's own events: schedules, changes of state, breadcrumbs of futures that it
// dropped. The end, if there is one: breadcrumbs of the open waits, the terminal event, cancellations of the activities
// in flight. These determine the messages, the work, the withdrawals and the metadata.
//
// Without the code, the package cannot judge whether the code schedules the right things, whether a completion reaches
// the right future, and which of several queue messages the code has taken (it checks a bound).
package turn
