// Package node configures the nodes of a cluster. A [Registry] holds an author's orchestrations and activities. To
// register handlers:
//
//	r := node.NewRegistry()
//	err := errors.Join(r.Register("Refund", engine.V(1, 0, 0), refund), r.RegisterActivity("PayBack", payBack))
//
// [Options] are a node's settings, named as in the contract: concurrency, lock times, backoff, the range of versions
// that it replays. Package internal/machine runs a node with them.
//
// # Limits
//
// An activity's context has no client and no cancel state: activity code runs only at the end of the activity's
// duration, too late to use either.
package node
