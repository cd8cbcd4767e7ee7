// Package live is memprovider for ordinary programs: the same store behind a mutex, with the wall clock, for any number of
// goroutines, and with fetches that wait for work.
//
//	store := live.Open(memprovider.Options{})
//	defer store.Close()
//	provider := store.Handle(build.Codec, engine.Caller{})
//	fetched, err := provider.FetchOrchestrationItem(ctx, 5*time.Second, 30*time.Second, nil)
//
// # Guarantees
//
// Calls are serialised: each is one step of the store, by the rules that memprovider documents. The store's time is the
// number of milliseconds since the Unix epoch at Open plus the monotonic time since then, so it never goes back.
//
// A fetch with a poll timeout waits until something can be delivered to it, at most that long. It looks again when the
// store changed and when time alone makes something eligible: a delay or a timer that is due, a lock or a session that ran
// out. A fetch whose context ends while it waits fails with a retryable error that wraps the context's, and holds nothing;
// one that finds something first delivers it. Every other call is refused in the same way if its context has ended before
// it begins, and takes no notice of it after that.
//
// After Close every call fails with a permanent error, those that wait included.
//
// # Limits
//
// Nothing survives the process. A change of the store wakes every waiting fetch, and those that find nothing wait on.
// Observations are delivered under the store's lock: a sink must not call the store.
package live
