// Package node configures the nodes of a cluster. A [Registry] holds the author's orchestrations and activities. To
// register handlers:
//
//	r := node.NewRegistry()
//	err := errors.Join(r.Register("Refund", engine.V(1, 0, 0), refund), r.RegisterActivity("PayBack", payBack))
//
// [Options] are a node's settings, named as in the contract: concurrency, lock timeouts, backoff, and the range of
// versions that the node replays. Package engine/machine runs a node with these settings.
//
// # Limits
//
// An activity's context has no client and cannot tell whether the activity was cancelled, because activity code runs
// only when the activity's duration has elapsed, too late to use either.
package node
