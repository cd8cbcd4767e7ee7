// Package live provides memprovider's store to ordinary programs: it uses the wall clock, is safe for concurrent use,
// and has fetches that wait for work.
//
//	store := live.Open(memprovider.Options{})
//	defer store.Close()
//	provider := store.Handle(build.Codec, memprovider.Caller{})
//	fetched, err := provider.FetchOrchestrationItem(ctx, 5*time.Second, 30*time.Second, nil)
//
// # Guarantees
//
// Calls are serialized: each is one step of the store, under the rules that memprovider documents. The store's time is
// the number of milliseconds since the Unix epoch at Open plus the monotonic time since then, so it never goes back.
//
// A fetch with a poll timeout waits at most that long for something to deliver. It retries when the store changes and
// when something becomes eligible as time passes: a delay ends, a timer is due, or a lock or session expires. If the
// context ends while a fetch is waiting, the fetch fails with a retryable error that wraps the context's error, and
// holds no lock; if the fetch finds something first, it delivers that. Every other call fails in the same way if its
// context has ended before the call begins, and ignores the context after that.
//
// After Close, every call fails with a permanent error, including fetches that are waiting.
//
// # Limits
//
// Nothing outlives the process. Each change of the store wakes all waiting fetches, and those that find nothing go back
// to waiting. Observations are delivered while the store's lock is held, so a sink must not call the store.
package live
