// Package replay computes one turn of an orchestration as a pure function: history, messages, handler, build and time
// in; events, work items, metadata and cancellations out (docs/contract/runtime.md#r7):
//
//	out, err := replay.Turn(replay.Input{Build: build, Instance: "order-1", ExecutionID: 1, Handler: handler,
//		Start: &replay.Start{Name: "Order", Version: "1.0.0"}, Messages: batch, NowMs: now})
//
// A turn has stages. Prep turns messages into events or drops them by a named rule. The walk runs the code over
// history and new events: before each event the code is polled if it can go on, then the event is applied. A schedule
// event must match the oldest action that the code emitted and was not matched yet. What the code emits beyond the
// history becomes new events, which are applied in just the same way, so that a later replay takes the same steps.
// Finish decides the result and makes the items.
//
// Verify replays a whole history, an ended one too, against the code.
//
// Guarantees: Turn reads nothing but its input and changes none of it; equal inputs give equal outputs, if the handler
// is deterministic; no coroutine and no goroutine outlives the call, unless the handler blocks by other means than its
// context. A handler's panic or Goexit is a Failed result. The error of Turn means a broken caller.
//
// Limits: code that loops for ever is ended if it calls its context in the loop, and hangs the turn if it does not. The
// number of dequeues and events that a turn may go on with by itself is bounded.
//
// Terms: the baseline is what is stored, the delta what the turn adds. A position is an index into both, one after the
// other. A breadcrumb is an event that records that a schedule is no longer wanted.
package replay
