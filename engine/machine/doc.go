// Package machine runs a node. A [Node] is a state machine over plain data. It implements the loops that fetch work
// from a provider, run it, and acknowledge it. To drive a node:
//
//	n, err := machine.New(machine.Config{Name: "a", Build: build, Registry: registry, Options: node.DefaultOptions()})
//	effects := n.Step(&machine.Start{NowMs: now}) // carry these out; their answers are further inputs
//
// A Node never makes a call itself. [Node.Step] takes one [Input], such as an answer or a timer that has fired, and
// returns the [Effect]s that the node requests, in order. The driver carries them out. It decides how long they take,
// whether they get lost, and when the node crashes. A crashed node must not be stepped again; its next incarnation is a
// new Node. The node never reads a clock, because every input carries the time on the node's clock, in milliseconds.
//
// # The driver's duties
//
//   - [Start] comes first, and at most once. [Drain] may come at any time.
//   - The driver answers each [ProviderCall] exactly once, with the store's answer or, after the Deadline, with a
//     retryable error. A fetch has no deadline, because it may stay parked indefinitely. But its request or answer can
//     still get lost. The driver must then answer with a retryable error; otherwise the slot never fetches again. The
//     node treats this like any other failed fetch, so work locked by the lost fetch stays locked until the lock
//     expires.
//   - A fetch that finds nothing may stay parked without an answer as long as nothing changes. If the driver answers
//     that the fetch found nothing, the node polls again once dispatcher_min_poll_interval has passed since the fetch.
//   - Each timer gets one [Wake] and each job gets one [Finished], unless the node has cancelled it.
//   - The node ignores a late answer, wake or finish for a request that it has forgotten. It panics if it never made
//     the request.
//   - After [Stopped], the driver owes the node nothing more.
//
// # The node's guarantees
//
// Equal inputs give equal effects. A Node never modifies the slices in its inputs, and never returns a slice that it
// keeps. It computes a turn with [replay.Turn] as soon as it receives the batch, and commits the turn when the job has
// finished. A slot holds at most one batch or one activity at a time. A node renews a lock from the moment the work is
// delivered until the ack's last answer arrives. An ack that fails with a retryable error is resent unchanged. A failed
// ack never makes the orchestration fail.
//
// Which executions a node keeps between turns, and for how many, is in kept.go. Poison is found in poison.go for batches and in work.go for activities; the delays of renewals, retries and backoffs are in
// backoff.go. A history or message that the node's build does not know is DecideHistoryError.
//
// [Decision] lists what a node can decide about a fetched batch, in the order of the tests. [Rules] holds the rules
// that planted bugs replace; the table of these bugs is in package faults.
package machine
