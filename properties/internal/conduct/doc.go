// Package conduct is the specification of a node, and the checker that judges nodes by it: S28.
//
//	m.Add(conduct.New(m.Run)) // m is a check.Monitor
//
// From the answers that a node gets, it derives the decision about each delivery, its text and its delay; the next
// call of each slot, and its time; the log lines; and the counters at the end. It reads the records of a run, and the
// build, the options and the registered handlers of a node, but no internal state of the node. It shares no rule with
// package machine, from which it takes only the names of decisions and the types of emitted values.
//
// Due actions must come: a slot that makes no further call, a lock or a session that is not renewed, and an activity
// that goes on without its lock are reported when the node or the run ends. Sweepers have rules of their own, which
// are here, too.
//
// It does not judge what a turn computes, which S24 does, nor the store, nor nodes that run a released runtime, since
// their decisions cannot be observed.
package conduct
