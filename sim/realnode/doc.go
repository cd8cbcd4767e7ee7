// Package realnode runs released duroxide runtimes as nodes of a simulated cluster.
//
//	hosts := realnode.New(os.Getenv(realnode.Environment))
//	result, err := cluster.Run(cluster.Config{Plan: plan, Seed: 1, Releases: hosts})
//
// A host is a program in Rust, built from host/ with one release of duroxide in it. Its nodes have no time, randomness or
// store of their own: the clock moves when it is told to, and every call of the provider and every activity comes out as
// a line and waits for its answer. So a node of a released runtime is a function of its configuration and its inputs, as
// a modelled node is, and the same seed gives the same trace.
//
// # The commands
//
// One JSON object a line, answered by one line, an object with the field "error" if something is wrong:
//
//	{"command":"describe"}                                  {"protocol":1,"release":"0.1.32"}
//	{"command":"start","node":N,"now_ms":T,"seed":S,"options":{...},
//	 "orchestrations":[{"name":P,"version":V,"body":[...]}],"activities":[A,...]}
//	{"command":"run","node":N,"until_ms":T}                 what the node did, see below
//	{"command":"run","node":N,"until_ms":T,"call":C,"answer":{"result":...}}
//	{"command":"shutdown","node":N,"grace_ms":G}            {}
//	{"command":"crash","node":N}                            {}
//
// Run moves the node's clock to T, hands it the answer to call C if there is one, and lets it run until every task waits.
// It answers {"now_ms", "next_ms": when the next timer is due, or null, "calls": [{"id", "method", "params"}], "dropped":
// ids of calls for whose answer nobody waits any more, "log", "stopped"}. Methods and params are those of
// docs/oracle-protocol.md; the method run_activity asks for an activity to be run. An answer is {"result"}, {"error":
// {"operation", "message", "retryable"}}, or for run_activity {"result"}, {"failure"} or {"panic"}.
//
// The wall clock is read here only to give up on a host that does not answer.
package realnode
