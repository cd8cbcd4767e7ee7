// Package monitor combines the checkers of a run into a Monitor, which watches the run.
//
//	m := monitor.New(world, monitor.Options{Expectations: s.Expect}) // a cluster.Monitor
//
// It alone determines the order in which checkers see what happens.
package monitor
