// Package workload provides the default handlers of simulated nodes: the shipped orchestrations and activities, and a
// plan's programs.
//
//	r := node.NewRegistry()
//	err := workload.Handlers(r, build)                          // what a build ships
//	err = workload.RegisterPrograms(r, p.Programs)              // what every node of a plan has
//	for _, o := range workload.Orchestrations() { ... }         // the shipped orchestrations, with their usual ends
//
// A shipped orchestration checks that it has lost nothing and fails if it has, so the way it ends is evidence.
package workload
