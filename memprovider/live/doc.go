// Package live is memprovider for ordinary programs: the same store on the wall clock, safe for concurrent use, with
// fetches that wait for work.
//
//	store := live.Open(memprovider.Options{})
//	defer store.Close()
//	provider := store.Handle(build.Codec, memprovider.Caller{})
//	fetched, err := provider.FetchOrchestrationItem(ctx, 5*time.Second, 30*time.Second, nil)
//
// # Guarantees
//
// Calls are serialised: each is one step of the store, by the rules that memprovider documents. The store's time is the
// number of milliseconds since the Unix epoch at Open plus the monotonic time since then, so it never goes back.
//
// A fetch with a poll timeout waits at most that long for something to deliver. It looks again when the store changes
// and when something becomes eligible as time passes: a delay or a timer is due, a lock or a session expires. A fetch
// whose context ends while it waits fails with a retryable error that wraps the context's error, and holds no lock; a
// fetch that finds something first delivers it. Every other call fails in the same way if its context has ended before
// the call begins, and ignores the context after that.
//
// After Close every call fails with a permanent error, including fetches that are waiting.
//
// # Limits
//
// Nothing survives the process. A change of the store wakes every waiting fetch; those that find nothing keep waiting.
// Observations are delivered under the store's lock: a sink must not call the store.
package live
