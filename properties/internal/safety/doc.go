// Package safety checks that nothing forbidden happens: the S properties, and the comparison of the store with its
// shadow.
//
//	m.Add(safety.Checks(m.Run)...) // m is a check.Monitor
//
// Checks returns the checkers of a run. No checker depends on another, and none asks the store under test what is right.
package safety
