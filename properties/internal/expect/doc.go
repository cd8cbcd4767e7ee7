// Package expect checks a run against the expectations of its scenario: always, never and sometimes.
//
//	m.Add(expect.New(m.Run, state, scenario.Expect)) // m is a check.Monitor
//
// Checker turns the facts that package track reports into events, with the attributes that a scenario may name.
package expect
