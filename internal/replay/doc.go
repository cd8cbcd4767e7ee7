// Package replay computes one turn of an orchestration as a pure function. The input is history, messages, handler,
// build and time; the output is events, work items, metadata and cancellations (docs/contract/runtime.md#r7):
//
//	out, err := replay.Turn(replay.Input{Build: build, Instance: "order-1", ExecutionID: 1, Handler: handler,
//		Start: &replay.Start{Name: "Order", Version: "1.0.0"}, Messages: batch, NowMs: now})
//
// A turn has stages. Prep turns messages into events or drops them by a named rule. The walk runs the code over the
// history and the new events: before it applies an event, it polls the code if the code can go on. A schedule event
// must match the oldest unmatched action that the code emitted. A completion resolves the future of its schedule, found
// by source event id (walk.go). Actions that the code emits beyond the history become new events. The walk applies
// these in the same way, so that a later replay takes the same steps. Finish decides the result and creates the work
// items.
//
// Verify replays a whole history, even one that has ended, against the code.
//
// Guarantees: Turn reads only its input and does not change it. Equal inputs give equal outputs if the handler is
// deterministic. No coroutine and no goroutine outlives the call, unless the handler blocks by other means than its
// context. A panic or Goexit in the handler gives a Failed result. An error from Turn means that the caller is broken.
//
// Limits: if code loops forever, the turn ends it when it calls its context in the loop, and hangs otherwise. A turn
// bounds the number of dequeues and events with which it goes on by itself.
//
// Terms: the baseline is the stored history. The delta is the events that the turn adds. A position is an index into
// the baseline followed by the delta. A breadcrumb is an event that records that a schedule is no longer wanted.
package replay
