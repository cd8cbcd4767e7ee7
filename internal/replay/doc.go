// Package replay computes one turn of an orchestration as a pure function: history, messages, handler, build and time
// in; events, work items, metadata and cancellations out (docs/contract/runtime.md#r7):
//
//	out, err := replay.Turn(replay.Input{Build: build, Instance: "order-1", ExecutionID: 1, Handler: handler,
//		Start: &replay.Start{Name: "Order", Version: "1.0.0"}, Messages: batch, NowMs: now})
//
// A turn has stages. Prep turns messages into events or drops them by a named rule. The walk runs the code over history
// and new events: before each event the code is polled if it can go on, then the event is applied. A schedule event
// must match the oldest unmatched action that the code emitted. A completion resolves the future of its schedule, found
// by source event id (walk.go). Actions that the code emits beyond the history become new events, which are applied in
// just the same way, so that a later replay takes the same steps. Finish decides the result and makes the items.
//
// Verify replays a whole history, even an ended one, against the code.
//
// Guarantees: Turn reads nothing but its input and changes none of it; equal inputs give equal outputs, if the handler
// is deterministic; no coroutine and no goroutine outlives the call, unless the handler blocks by other means than its
// context. A handler's panic or Goexit is a Failed result. The error of Turn means a broken caller.
//
// Limits: code that loops forever is ended if it calls its context in the loop, and hangs the turn if it does not. The
// number of dequeues and events that a turn may go on with by itself is bounded.
//
// Terms: the baseline is the stored history; the delta is the events that the turn adds. A position is an index into
// the two concatenated. A breadcrumb is an event that records that a schedule is no longer wanted.
package replay
