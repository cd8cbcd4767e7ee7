// Package workload provides what the nodes of a simulated cluster run by default: the shipped orchestrations and
// activities, and the programs of a plan as handlers.
//
//	r := node.NewRegistry()
//	err := workload.Handlers(r, build)                          // what a build ships
//	err = workload.RegisterPrograms(r, p.Programs)              // what every node of a plan has
//	for _, o := range workload.Orchestrations() { ... }         // the shipped orchestrations, with their usual ends
//
// A shipped orchestration checks that it has lost nothing and fails if it has, so its end is evidence.
package workload
