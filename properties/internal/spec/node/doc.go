// Package node is the specification of a node. Its checker judges nodes against rule S28.
//
//	m.Add(node.New(m.Run)) // m is a check.Monitor
//
// From the answers that a node gets, the checker derives what the node must do: the decision about each delivery, with
// its text and delay; each slot's next call and when it is due; the log lines; and the counters at the end. It reads
// the records of a run, and a node's build, options and registered handlers, but none of the node's internal state. It
// shares no rules with package machine, and takes from it only the names of decisions and the types of emitted values.
//
// Due actions must happen. If a slot makes no further call, if a lock or a session is not renewed, or if an activity
// goes on without its lock, the checker reports this when the node or the run ends. The separate rules for sweepers are
// in this package, too.
//
// The checker does not judge what a turn computes, which S24 does. Nor does it judge the store, or nodes that run a
// released runtime, because their decisions cannot be observed.
package node
