// Package monitor combines the checkers of a run into a Monitor, which watches the run.
//
// It alone determines the order in which checkers see what happens.
package monitor
