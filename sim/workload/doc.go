// Package workload provides what the nodes of a simulated cluster run by default: the shipped orchestrations and
// activities, and the programs of a plan as handlers.
//
//	r := node.NewRegistry()
//	err := workload.Handlers(r, build)                          // what a build ships
//	err = workload.RegisterPrograms(r, p.Programs)              // what every node of a plan has
//	for _, o := range workload.Orchestrations() { ... }         // what there is, with its usual end
//
// A shipped orchestration counts what it must still have and fails if any of it is gone, so its end is evidence.
package workload
