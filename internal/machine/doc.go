// Package machine runs a node. A [Node] is a state machine over plain data: it implements the loops that fetch work
// from a provider, run it and acknowledge it. To drive a node:
//
//	n, err := machine.New(machine.Config{Name: "a", Build: build, Registry: registry, Options: node.DefaultOptions()})
//	effects := n.Step(&machine.Start{NowMs: now}) // to be carried out; their answers are further inputs
//
// A Node never makes a call itself. [Node.Step] takes one [Input] (an answer, a timer, a job whose time is up) and
// returns the [Effect]s that the node asks for, in order. The driver carries them out and decides how long they take,
// whether they get lost, and when the node dies: the driver never steps a crashed node again, and its next incarnation
// is a new Node. The node reads no clock; every input carries the node's clock in milliseconds.
//
// # The driver's duties
//
//   - [Start] comes first, and at most once. [Drain] may come at any time.
//   - The driver answers each [ProviderCall] once, with the store's answer or, after the Deadline, with a retryable
//     error. A fetch has no deadline, since it may stay parked forever; but its request or its answer may get lost like
//     any other. Then the driver must answer with a retryable error, or the slot never fetches again. The node treats
//     this like any failed fetch, so work that the lost fetch found stays locked until its lock expires.
//   - A fetch that finds nothing may stay parked, without an answer, as long as nothing changes. If the driver answers
//     that it found nothing, the node polls again when dispatcher_min_poll_interval has passed since the fetch.
//   - Each timer gets one [Wake] unless it is cancelled, and each job gets one [Finished] unless it is cancelled.
//   - The node ignores a late answer, wake or finish for a request that it has forgotten. It panics if it never made
//     the request.
//   - After [Stopped] the driver owes the node nothing more.
//
// # The node's guarantees
//
// Equal inputs give equal effects. A Node never changes the slices of its inputs, and never returns a slice that it
// keeps. It computes a turn with [replay.Turn] when it receives the batch, and commits the turn when the job has
// finished. A slot holds at most one batch or one activity at a time. A node renews a held lock from delivery to the
// last answer of its ack. It resends an ack that fails with a retryable error unchanged. An orchestration never fails
// because its ack failed.
//
// [Decision] lists the decisions on a fetched batch, in the order of their tests. [Rules] holds the rules that planted
// bugs replace; package faults has the table of these bugs.
package machine
