// Package monitor puts the checkers of one run together: a run is watched by a Monitor.
//
// The order in which checkers see things is set here, and nowhere else.
package monitor
