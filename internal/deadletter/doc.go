// Package deadletter wraps a provider so that work which no node may fetch ends after a while:
//
//	box := deadletter.New(deadletter.Options{After: 30 * time.Second, Now: clock})
//	handle := box.Watch(provider) // for each caller
//	box.Sweep(ctx, provider)      // now and then
//
// It is option B of the first draft of capability filtering; the contract has no such thing (docs/strategies.md says what
// it costs). A Box notes the filters of the fetches that pass through its handles. Sweep fetches what is queued outside all of
// these, hands it back untouched until it has been blocked for long enough, and then commits a failure: the execution is
// Failed with a poison error that names the cause, its messages are kept as a Letter, and its parent is told. The provider
// knows no orchestration: activities and children of what it ends go on.
package deadletter
