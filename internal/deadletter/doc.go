// Package deadletter wraps a provider so that work that no node may fetch ends after a while:
//
//	box := deadletter.New(deadletter.Options{After: 30 * time.Second, Now: clock})
//	handle := box.Watch(provider) // for each caller
//	box.Sweep(ctx, provider)      // periodically
//
// It is option B of the first draft of capability filtering; the contract does not have it (docs/strategies.md shows
// its costs). A Box records the filters of the fetches that pass through its handles. Sweep fetches queued work outside
// all of these filters and abandons it unchanged until it has been blocked for long enough. Then it commits a failure:
// the execution is Failed with a poison error that names the cause, its messages are kept as a Letter, and its parent
// gets an answer. The provider does not know orchestrations, so activities and children of an ended execution continue.
package deadletter
