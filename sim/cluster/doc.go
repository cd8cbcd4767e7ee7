// Package cluster is the world of a simulation: it wires the kernel, the in-memory store, virtual nodes of mixed builds,
// clients and faults together, carries out a plan, and emits the trace.
//
//	result, err := cluster.Run(cluster.Config{Plan: plan, Seed: 7, Handlers: register})
//
// A run is one call of Run. It reads no file and no wall clock and starts no goroutine; runs share nothing, so a program
// may carry out many at once. The same plan and seed give the same trace, byte for byte.
//
// A run has phases. In turbulence the schedule is executed and faults happen. In calm the faults have stopped, every core
// node (one whose last step is not stop or remove) is up, and clients send what instances wait for that have nothing else
// coming, unless the plan leaves them unaided, and cancel eternal loops. If then work is stuck because nobody admits it,
// relief has a core node become the build that it waits for, or deletes it, and it is calm again. A run ends when the
// monitor has no open obligation, at the step budget, or when an execution takes far more turns than is normal. A plan
// may have an end of its own (Plan.Until, Plan.Unaided): then nobody helps. Result.Help lists what calm and relief did
// beyond the plan.
//
// A provider call is not a function call: the request travels, takes effect in one atomic instant, and the answer travels
// back. Each leg can be late or lost; a lost one looks like a retryable error after the call deadline. A fetch that finds
// nothing is parked and is tried again, at its node's poll cadence, when the store reports that something may be eligible.
//
// The package does not know what must hold: a Monitor watches observations of the store and records of the world.
package cluster
