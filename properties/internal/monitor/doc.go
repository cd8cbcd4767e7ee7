// Package monitor puts the checkers of one run together: Monitor is what a run is watched by.
//
// The order in which checkers see things is set here, and nowhere else.
package monitor
