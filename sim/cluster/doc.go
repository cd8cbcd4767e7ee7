// Package cluster runs a simulated cluster: it connects the kernel, the in-memory store, virtual nodes of mixed builds,
// clients and faults, carries out a plan, and emits the trace.
//
//	result, err := cluster.Run(cluster.Config{Plan: plan, Seed: 7, Handlers: register})
//
// A run is one call of Run. It reads no file and no wall clock and starts no goroutine; runs share nothing, so a program
// may carry out many at once. The same plan and seed give the same trace, byte for byte.
//
// A run has phases. In turbulence the schedule is executed and faults happen. In calm the faults have stopped and every
// core node (one whose last step is not stop or remove) is up. Clients cancel eternal loops, and send instances that
// can make no other progress what they wait for, unless the plan leaves them unaided. If work is still stuck because no
// node admits it, relief turns a core node into the build that the work waits for, or deletes the work, and calm begins
// again. A run ends when the monitor has no open obligation, at the step budget, or when an execution takes far more
// turns than is normal. A plan may set its own end (Plan.Until, Plan.Unaided); then there is no calm or relief.
// Result.Help lists what calm and relief did beyond the plan.
//
// A provider call is not a function call: the request travels, takes effect in one atomic instant, and the answer travels
// back. Each leg can be late or lost; to the caller, a lost leg is a retryable error after the call deadline. A fetch
// that finds nothing is parked. It is retried, at its node's polling interval, when the store reports that something
// may be eligible.
//
// The package does not know the properties: a Monitor checks them on the store's observations and the world's records.
package cluster
