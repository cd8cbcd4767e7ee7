// Package orch is the API for orchestration code: a Context, futures, and ways to combine them. An orchestration is an
// ordinary function, a Handler:
//
//	func refund(ctx *orch.Context, input string) (string, error) {
//		return ctx.ScheduleActivity("PayBack", input).Await()
//	}
//
// The code is run again from its start in every turn, and what it asked for in earlier turns is answered from its
// history, so it must be deterministic: no clock, no randomness, no goroutine, no variable shared with other runs. Each
// schedule call takes effect when it is called, awaited or not, and returns a Future. Await, Select and Join suspend
// the code until the results are known; in the turns in between the code does not run.
//
// A future is dropped when it loses a Select, when Drop is called, or when the orchestration returns before it has a
// result. Dropping cancels: an activity's work is withdrawn, a child orchestration is cancelled, a wait no longer takes
// part in the delivery of events. Dropping a timer changes nothing: it still fires, and the firing is ignored.
//
// An instance has state that outlives a turn and that clients can read: a custom status and keys with values. Code
// immediately reads back what it has written; a custom status and the keys stay when the instance continues as new. A
// status of more than 262144 bytes, a value of more than 16384 bytes, more than 100 keys or a tag of more than 256
// bytes fails the execution at the end of the turn that writes it.
//
// Limits: a Context and its futures are valid only inside the turn that made them and on the coroutine that runs it.
// Calls from another goroutine have no effect and fail the orchestration; calls from another orchestration or an
// activity panic. When a turn ends, suspended code is torn down by a panic that no code should recover; deferred calls
// run, and any call of a Context among them panics again.
package orch
