// Package memprovider is the simulator's in-memory provider. All nodes share one Store, and each caller gets a handle
// with its build's codec. A handle implements engine.Provider and engine.ProviderAdmin according to
// docs/contract/provider.md, but the calls of a store must not overlap: package memprovider/live is for ordinary programs.
//
//	store := memprovider.New(memprovider.Options{StartMs: 1_000})
//	node := store.Handle(build.Codec, memprovider.Caller{Node: 1, Incarnation: 1})
//	err := node.EnqueueForOrchestrator(ctx, engine.StartItem{Instance: "order-1", Orchestration: "Order"}, 0)
//	store.SetNow(2_000)
//	fetched, err := node.FetchOrchestrationItem(ctx, 5*time.Second, 0, filter)
//
// # Guarantees
//
// The store's state depends only on the calls made and the times set: it reads no clock, draws no random numbers,
// starts no goroutines, and ranges over no map. Tokens are "o" or "w" followed by a counter shared by both queues.
// Rules that a store may break are values in Rules, such as the order of filter, lock, count and
// decode in a fetch, or a message's attempt count after an abandon.
//
// All state changes go through primitives (mutate.go, mutatehistory.go, and the setters in session.go, kv.go and
// customstatus.go), and each primitive emits an observation of its change. Fetch, ack and the bugs planted in them
// cannot change state in any other way. An ack that fails midway is rolled back by the same primitives in reverse
// order, with Undo set. Snapshot returns the state that the observations describe.
//
// Stored bytes are authoritative and never modified. Events and messages are decoded at most once per codec name, and
// failures are cached as well. A handle does not decode what it has written itself; Options.Recheck verifies that this
// is safe.
//
// A fetch examines one candidate for each distinct pin (or tag), no matter how many instances, sessions or owners
// precede it: index.pick and workIndex.pick apply the filter and choose (index.go, workindex.go), the rest of a fetch is in
// orchestration.go and work.go. The eligibility queries NextOrchestration and NextWork share their code with the fetches.
//
// # Choices where the contract is free
//
//   - F1: a fetch takes the instance with the oldest visible message (smallest position) among those it can deliver.
//   - F3: polls never wait. Contexts are ignored.
//   - F4: a fetch skips orphans and instances without context, which are never locked or counted. It drops orphans that
//     precede what it takes. A queue message is not an orphan while a start for its instance is queued, visible or not.
//   - F6: queue depths count the messages that no live lock holds.
//   - F7: a duplicate append is refused. F17: an item in the wrong queue is refused; an ack that lists one fails as a
//     whole.
//   - F8, F9: an abandon with an expired token that was not taken over succeeds; delay and decrement affect exactly the
//     messages that the token marked.
//   - F11: lists are in the order in which the store first heard of the instances, trees start at the root, and a bulk
//     limit takes the first ones.
//   - F13: an item with a history error has the same key-value snapshot that it would have without the error.
//   - F14: without an instances row, an instance whose latest execution has a start event reports that execution,
//     with the event's name and version. X4: a row that an ack creates has the acked execution as its current one.
//   - F15: a deletion counts the instances rows that it removed; unknown and repeated ids add nothing.
//   - F16: without an execution row the status is Unknown. F20: an ack that gives only a name, or only a version,
//     creates no instances row. F21: a missing parent is not an error.
//   - F23: versions compare as triples. F25: a redelivered activity keeps its position.
//   - F18: setting any status, even Running, sets the completion time. F19: tombstones have time 0, and the
//     statistics count bytes. F22: a whole bulk call is one step.
//   - F26: an owner's refresh resets the end of the session, even to an earlier time. F27: an ack or renewal counts as
//     activity of the session only while the session belongs to the owner that fetched the activity. F28: a deleted
//     instance's activities are deleted with it.
//   - Execution id 0 and event id 0 are refused.
//   - A message that the codec cannot decode sets HistoryError; if it is the only start of a new instance, the item has
//     no orchestration name. A fetch skips an activity that the codec cannot decode; when nothing else is ready, the
//     fetch fails permanently and locks nothing.
//
// # Limits
//
// Throughout its lifetime, the store keeps one word for every message and token, and a record for every instance name,
// owner and tag.
package memprovider
