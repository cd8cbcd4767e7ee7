// Package monitor combines a run's checkers into a Monitor, which watches the run.
//
//	m := monitor.New(world, monitor.Options{Expectations: s.Expect}) // a cluster.Monitor
//
// No other package decides the order in which checkers see what happens.
package monitor
