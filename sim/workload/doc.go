// Package workload provides the default handlers of simulated nodes: the shipped orchestrations and activities, and the
// programs of a plan.
//
//	r := node.NewRegistry()
//	err := workload.Handlers(r, build)                          // what a build ships
//	err = workload.RegisterPrograms(r, p.Programs)              // what every node of a plan has
//	for _, o := range workload.Orchestrations() { ... }         // the shipped orchestrations, with their usual ends
//
// A shipped orchestration checks that it has lost nothing, and fails otherwise. Its end is therefore evidence.
package workload
