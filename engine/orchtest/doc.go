// Package orchtest tests a single orchestration. Activities and children are mocked and time is skipped; the test
// raises events and inspects results, calls, status and history.
//
//	env := orchtest.New(t, refund)
//	env.Activity("PayBack").Returns("paid back 30 euros")
//	if got := env.Run("30 euros"); got != "paid back 30 euros" { ... }
//
// The code runs turn by turn on the same engine that nodes use (package replay). Each turn is computed twice, and each
// execution is replayed as a whole when it ends, so a handler that is not deterministic fails the test.
//
// CheckHistories replays recorded histories against new code. Run this check before each deployment.
//
// Limits: there is one instance and no provider, node or fault; durosim.Test has these. Sessions and tags of
// activities are ignored.
package orchtest
