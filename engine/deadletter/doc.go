// Package deadletter wraps a provider to end work that no node has been able to fetch for a configurable time:
//
//	queue := deadletter.New(deadletter.Options{After: 30 * time.Second, Now: clock})
//	handle := queue.Watch(provider) // for each caller
//	queue.Sweep(ctx, provider)      // periodically
//
// This is option B in the first draft of capability filtering. It is not part of the contract; docs/strategies.md shows
// its costs. A Queue records the filters of the fetches that pass through its handles. Sweep fetches queued work that
// none of these filters admits, and abandons it unchanged until it has been blocked for Options.After. Then Sweep
// commits a failure: the execution is Failed with a poison error that names the cause, its messages are kept as a
// Message, and its parent receives an answer, as do parents of starts among the messages. The provider knows nothing
// about orchestrations, so an ended execution's activities and children continue.
package deadletter
