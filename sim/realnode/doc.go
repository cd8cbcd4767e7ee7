// Package realnode runs released duroxide runtimes as nodes of a simulated cluster, by means of host programs
// (docs/real-nodes.md):
//
//	result, err := cluster.Run(cluster.Config{Plan: plan, Seed: 1, Releases: realnode.Releases()})
//
// Each release needs a host program, which `simrun hosts build` builds with cargo. If a plan uses a release whose host
// program is missing, Run fails with an error that says how to build it.
//
// A host is a Rust program, built from host/ with one release of duroxide. Its node has no time, randomness or store of
// its own. The clock moves only on command, and the host writes every provider call and every activity as a line and
// waits for the answer. A node that runs a released runtime is therefore a function of its configuration and its
// inputs, just like a modelled node, and the same seed gives the same trace.
//
// # The commands
//
// A command is one line containing a JSON object, and so is its answer. If the command failed, the answer has the field
// "error". A host has a single node, which crashes when the host does:
//
//	{"command":"describe"}                                  {"protocol":4,"release":"0.1.32"}
//	{"command":"start","now_ms":T,"seed":S,"options":{...},
//	 "orchestrations":[{"name":P,"version":V,"body":[...]}],"activities":[A,...]}
//	{"command":"run","until_ms":T}                 what the node did, see below
//	{"command":"run","until_ms":T,"call":C,"answer":{"result":...}}
//	{"command":"shutdown","grace_ms":G}            {}
//
// Run moves the node's clock to T, passes the node the answer to call C if one is given, and lets it run until every
// task is waiting. The answer is {"now_ms", "next_ms": when the next timer is due, or null, "calls": [{"id", "method",
// "params"}], "dropped": ids of calls that no longer wait for an answer, "log", "stopped"}. Methods and params are
// those of docs/oracle-protocol.md. The additional method run_activity asks for an activity to be run. The answer to a
// call is {"result"} or {"error": {"code", "message", "operation"}}; for run_activity it is {"result"}, {"failure"} or
// {"panic"}.
//
// This package reads the wall clock only to time out a host that does not answer.
package realnode
