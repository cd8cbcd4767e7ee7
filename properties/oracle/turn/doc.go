// Package turn is the specification of a turn: what a node may record, send, cancel, carry and say, given what it was
// handed. It judges the turns of any runtime, recorded ones too:
//
//	for _, wrong := range turn.Check(turn.Turn{History: history, Batch: batch, Ack: ack, ...}) { ... }
//	err := turn.CheckTurn(history, batch, delta)
//
// It knows no code: what an orchestration schedules is its own affair. All else follows from history and batch, and is
// computed here a second time, from docs/contract/runtime.md#r7 and docs/contract-decisions.md. No code is shared with the
// replay engine.
//
// A turn's delta has four parts, in this order. Arrivals: the start on a first turn, and an event for each message of the
// batch, or none by a rule. The code's own events: schedules, changes of state, breadcrumbs of futures that it dropped. The
// end, if there is one: breadcrumbs of the waits that are open, the terminal event, cancellations of the activities in
// flight. Messages, work, withdrawals and metadata follow from these, exactly.
//
// Not judged, since it needs the code: whether it schedules the right things, whether a completion reaches the right
// future, and which of several queue messages it has taken (a bound is checked).
package turn
