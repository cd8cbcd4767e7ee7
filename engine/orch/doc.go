// Package orch is the API for orchestration code: a Context, futures, and ways to combine them. An orchestration is an
// ordinary function, a Handler:
//
//	func refund(ctx *orch.Context, input string) (string, error) {
//		return ctx.ScheduleActivity("PayBack", input).Await()
//	}
//
// In every turn the code runs again from the start, and its history answers what it asked for in earlier turns. So it
// must be deterministic: no clock, no randomness, no goroutines, no variables shared with other runs. A schedule call
// takes effect immediately, awaited or not, and returns a Future. Await, Select and Join suspend the code until the
// results are known; the code does not run in the turns in between.
//
// A future is dropped when it loses a Select, when Drop is called, or when the orchestration returns before the future
// has a result. Dropping a future cancels the operation: an activity's work is withdrawn, a child orchestration is
// cancelled, and a wait no longer receives events. Dropping a timer has no effect: it still fires, and the firing is
// ignored.
//
// An instance has state that outlives a turn and that clients can read: a custom status and key-value pairs. Code
// immediately reads back what it has written, and both survive a continue-as-new. A status of more than 262144 bytes, a
// value of more than 16384 bytes, more than 100 keys, or a tag of more than 256 bytes fails the execution at the end of
// the turn that writes it.
//
// Limits: a Context and its futures are valid only during the turn that made them and on the coroutine that runs it.
// Calls from another goroutine have no effect and fail the orchestration; calls from another orchestration or from an
// activity panic. At the end of a turn, suspended code is torn down by a panic, which code must not recover. Deferred
// functions run, but if one of them calls a Context method, it panics again.
package orch
