// Package cluster runs a simulated cluster. It connects the kernel, the in-memory store, virtual nodes of mixed builds,
// clients and faults, carries out a plan, and writes the trace.
//
//	result, err := cluster.Run(cluster.Config{Plan: plan, Seed: 7, Handlers: register})
//
// A run is one call of Run. It reads no files and no wall clock and starts no goroutines. Runs share nothing, so a
// program may perform many of them concurrently. The same plan and seed give the same trace, byte for byte.
//
// A run has phases. In the fault phase, the schedule is executed and faults happen. In recovery, faults have stopped
// and every core node is up (a core node is one whose last step is not stop or remove). Clients cancel eternal loops,
// and send instances that cannot progress in any other way what they are waiting for, unless the plan leaves them
// unaided. If work is still stuck because no node admits it, rescue either restarts a core node as the build that the
// work is waiting for or deletes the work, and recovery begins again. A run ends when the monitor has no open
// obligation, when the step budget is used up, or when an execution takes far more turns than normal. A plan may set
// its own end (Plan.Until, Plan.Unaided), and then there is no recovery or rescue. Result.Help lists what recovery and
// rescue did beyond the plan. The phases follow one another in phases.go; raise.go has what recovery sends and to whom,
// rescue.go what rescue starts, narrows back or deletes, and help.go when an unaided run is settled.
//
// A provider call is not a function call: the request travels to the store, takes effect in one atomic instant, and the
// answer travels back. Each leg can be late or lost. To the caller, a lost leg looks like a retryable error after the
// call deadline. A fetch that finds nothing is parked. When the store reports that something may be eligible, the fetch
// is retried at its node's polling interval.
//
// The package does not know the properties. A Monitor checks them on the store's observations and the world's records.
package cluster
