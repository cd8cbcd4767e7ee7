// Package safety checks that nothing forbidden happens. It has the checkers for the S properties, and one that compares
// the store with its shadow.
//
//	m.Add(safety.Checks(m.Run)...) // m is a check.Monitor
//
// Checks returns the checkers for a run. Checkers do not depend on each other, and none of them asks the store under
// test what is right.
package safety
