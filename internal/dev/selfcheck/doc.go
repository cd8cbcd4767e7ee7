// Package selfcheck checks what only durosim itself can get wrong. No code of a user can violate it, so it is no part of
// what a user runs, and its IDs are not in properties.Catalogue:
//
//   - S28: a node decides, requests, logs and counts what the specification of a node prescribes, given the answers that
//     it got.
//   - shadow: the store's account of its calls is what their callers sent and got, its rows are what it has told, and
//     what they give it is what its text reads as. If not, no verdict on the run counts.
//
// A run has them beside the properties:
//
//	durosim.Run{Monitor: selfcheck.Watch}.Configure(&cfg, properties.Options{})
//
// # S28
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
// Which decision a delivery calls for, poison and its attempts among them, is in decide.go; poison.go judges the error and the
// ack of what was poisoned. The times that a node must keep are in rules.go, held against it in renewal.go and overdue.go.
// What a node may keep between turns is in holding.go.
//
// The checker does not judge what a turn computes, which S24 does (turns.go; altered.go replays histories that say
// otherwise). Nor does it judge the store, or nodes that run a released runtime, because their decisions cannot be observed.
package selfcheck
