// Package orchtest tests one orchestration: its activities and children are mocked, time is skipped, events are raised, and
// its end, calls, status and history can be looked at.
//
//	env := orchtest.New(t, refund)
//	env.Activity("PayBack").Returns("paid back 30 euros")
//	if got := env.Run("30 euros"); got != "paid back 30 euros" { ... }
//
// The code runs on the engine that runs it in production (package replay), turn by turn. Each turn is computed twice, and
// each execution is replayed as a whole when it ends, so a handler that is not deterministic fails the test.
//
// CheckHistories replays recorded histories against new code: the check to run before each deployment.
//
// Limits: there is one instance, and no provider, no node and no fault; properties.Test has these. An activity of a session
// or with a tag runs like any other.
package orchtest
