// Package safety checks that nothing forbidden happens. It has the checkers for the S properties. S05, S06, S14, S15,
// S18, S25 and S26, which answers and rows of the store show, are judged by package secondjudge, the turns of S11, S13,
// S17 and S21 by turn.go.
//
//	m.Add(safety.Checks(m.Run)...) // m is a check.Monitor
//
// Checks returns the checkers for a run. Checkers do not depend on each other, and none of them asks the store under
// test what is right.
package safety
