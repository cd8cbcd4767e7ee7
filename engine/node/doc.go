// Package node is what an author gives the nodes of a cluster: the [Registry] of orchestrations and activities. To
// register handlers:
//
//	r := node.NewRegistry()
//	err := errors.Join(r.Register("Refund", engine.V(1, 0, 0), refund), r.RegisterActivity("PayBack", payBack))
//
// [Options] are a node's settings, by the names of the contract: concurrency, lock times, back-off, the range of versions
// that it replays. Package internal/machine runs a node with them.
//
// # Limits
//
// An activity's context has no client and no cancel state: activity code runs only once its time is up, too late for
// both.
package node
