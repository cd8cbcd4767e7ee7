// Package node has what an author registers, a [Registry] of orchestrations and activities, and the runtime node that runs
// them. To ship handlers:
//
//	r := node.NewRegistry()
//	err := errors.Join(r.Register("Refund", engine.V(1, 0, 0), refund), r.RegisterActivity("PayBack", payBack))
//
// A [Node] is a state machine over plain data: the loops that fetch work from a provider, run it and give it back.
//
// A Node never calls anybody. [Node.Step] takes one [Input] (an answer, a timer, a job that has taken its time) and
// returns the [Call]s that it wants made, in order. Whoever drives it carries them out and decides how long they take,
// whether they are lost, and when the node dies: a crashed node is stepped no more, and its next incarnation is a new Node. The node reads no clock; every input carries the node's clock in milliseconds.
//
// # What a driver owes
//
//   - [Start] comes first, and at most once. [Drain] may come at any time.
//   - Each [ProviderCall] is answered once, with the store's answer or with a retryable error once its Deadline has
//     passed. A fetch has no deadline, since it may stay parked for ever; but its request or its answer may be lost like
//     any other, and then the driver must tell the node of a retryable error, or the slot fetches no more. A node that
//     is told so behaves as after any failed fetch, so what was found meanwhile is held until its lock runs out.
//   - A fetch that finds nothing may stay parked, unanswered, as long as nothing changes. If it is answered with
//     nothing, the node polls again when dispatcher_min_poll_interval has passed since it asked.
//   - Each timer that is neither cancelled nor fired is woken once, and each job that is not cancelled finishes once.
//   - A late answer, wake or finish of something that the node has forgotten is ignored; one that it never asked for is
//     a panic.
//   - After [Stopped] nothing more is due.
//
// # What a node promises
//
// The same inputs give the same calls. A Node keeps no slice of its inputs that it would change, and gives out none that
// it keeps. A turn is computed when its batch is delivered, by [replay.Turn], and committed when its job has finished;
// one slot holds one batch or one activity at a time. A held lock is renewed from delivery to the last answer of its ack.
// An ack that fails retryably is sent again, unchanged; an orchestration is never failed because its ack failed.
//
// The decisions on a fetched batch are listed at [Decision], in the order in which they are tested; the rules that can be
// got wrong are in [Rules], the ways to get them wrong in [Bugs].
//
// # Limits
//
// An activity's context has no client and no cancel state: code that has run is past both.
package node
