// Package orchtest tests one orchestration: its activities and children are mocked, time is skipped, and the test
// raises events and inspects its result, calls, status and history.
//
//	env := orchtest.New(t, refund)
//	env.Activity("PayBack").Returns("paid back 30 euros")
//	if got := env.Run("30 euros"); got != "paid back 30 euros" { ... }
//
// The code runs turn by turn on the engine that nodes use (package replay). Each turn is computed twice, and each
// execution is replayed as a whole when it ends, so a handler that is not deterministic fails the test.
//
// CheckHistories replays recorded histories against new code: the check to run before each deployment.
//
// Limits: there is one instance, and no provider, no node and no fault; properties.Test has these. An activity with a
// session or a tag runs like any other.
package orchtest
