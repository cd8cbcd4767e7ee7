// Package turn is the specification of a turn: what a node may record, send, cancel, carry and report, given its input.
// It judges the turns of any runtime, recorded ones too:
//
//	for _, wrong := range turn.Check(turn.Turn{History: history, Batch: batch, Ack: ack, ...}) { ... }
//	err := turn.CheckTurn(history, batch, delta)
//
// It knows no code: the code decides what an orchestration schedules. All else follows from history and batch, and is
// computed here a second time, from docs/contract/runtime.md#r7 and docs/contract-decisions.md. No code is shared with
// the replay engine.
//
// A turn's delta has three parts, in this order. Arrivals: the start on a first turn, and an event for each message of
// the batch unless a rule drops it. The code's own events: schedules, changes of state, breadcrumbs of futures that it
// dropped. The end, if there is one: breadcrumbs of the open waits, the terminal event, cancellations of the activities
// in flight. Messages, work, withdrawals and metadata follow from these, exactly.
//
// Not judged, since it takes the code to judge them: whether it schedules the right things, whether a completion reaches
// the right future, and which of several queue messages it has taken (a bound is checked).
package turn
