// Package safety checks that nothing happens that must not: the S properties, and the comparison of the store with its
// shadow.
//
//	m.Add(safety.Checks(m.Run)...) // m is a check.Monitor
//
// Checks returns the checkers of a run. None knows of another, and none asks the store under test for what is right.
package safety
