// Package realnode starts released duroxide runtimes as nodes of a simulated cluster, in host programs. Users reach it
// through the public package sim/realnode.
//
//	hosts := realnode.New(os.Getenv(realnode.Environment))
//	result, err := cluster.Run(cluster.Config{Plan: plan, Seed: 1, Releases: hosts})
//
// A host is a Rust program, built from host/ with one release of duroxide. Its node has no time, randomness or store of
// its own: the clock moves only on command, and the host writes every provider call and every activity as a line and
// waits for the answer. So a node of a released runtime, like a modelled node, is a function of its configuration and
// its inputs, and the same seed gives the same trace.
//
// # The commands
//
// A command is one line with a JSON object, and so is its answer. The answer has the field "error" if the command
// failed. A host has one node; the node crashes with its host:
//
//	{"command":"describe"}                                  {"protocol":3,"release":"0.1.32"}
//	{"command":"start","now_ms":T,"seed":S,"options":{...},
//	 "orchestrations":[{"name":P,"version":V,"body":[...]}],"activities":[A,...]}
//	{"command":"run","until_ms":T}                 what the node did, see below
//	{"command":"run","until_ms":T,"call":C,"answer":{"result":...}}
//	{"command":"shutdown","grace_ms":G}            {}
//
// Run moves the node's clock to T, passes it the answer to call C if there is one, and lets it run until every task
// waits. It answers {"now_ms", "next_ms": when the next timer is due, or null, "calls": [{"id", "method", "params"}],
// "dropped": ids of calls that no longer wait for an answer, "log", "stopped"}. Methods and params are those of
// docs/oracle-protocol.md; the method run_activity asks to run an activity. An answer is {"result"}, {"error":
// {"operation", "message", "retryable"}}, or for run_activity {"result"}, {"failure"} or {"panic"}.
//
// This package reads the wall clock only to time out a host that does not answer.
package realnode
