// Package replay computes one turn of an orchestration. A turn is a pure function from history, messages, handler,
// build and time to events, work items, metadata and cancellations (docs/contract/runtime.md#r7):
//
//	out, err := replay.Turn(replay.Input{Build: build, Instance: "order-1", ExecutionID: 1, Handler: handler,
//		Start: &replay.Start{Name: "Order", Version: "1.0.0"}, Messages: batch, NowMs: now})
//
// A turn runs in stages. Prep turns each message into an event or drops it under a named rule. The walk then runs the
// code over the history and the new events. Before it applies each event, it polls the code if the code can make
// progress. A schedule event must match the oldest unmatched action that the code emitted (match.go). A completion names its
// schedule by source event id, and resolves that schedule's future (walk.go). Actions that the code emits beyond the
// end of the history become new events, which the walk applies in the same way, so that a later replay takes the same
// steps. Finally, finish decides the result and creates the work items. What a continue-as-new carries over is in queue.go,
// and which kept execution a turn may go on from in kept.go.
//
// Verify replays a whole history against the code, including a history that has ended.
//
// Guarantees: Turn reads only its input and never modifies it. Equal inputs give equal outputs, provided the handler is
// deterministic. No coroutine or goroutine outlives the call, unless Input.Keep leaves the code suspended or the handler
// blocks on something other than its context. A panic or Goexit in the handler becomes a Failed result. An error from
// Turn means that the caller has a bug.
//
// Limits: code that loops forever is stopped if the loop calls its context; if not, the turn hangs. A turn also limits
// the numbers of dequeues and events that it processes.
//
// Terms: the baseline is the stored history. The delta is the list of events that the turn adds. A position is an index
// into the baseline followed by the delta. A breadcrumb is an event that records that a schedule is no longer wanted.
package replay
