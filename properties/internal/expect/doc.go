// Package expect checks a run against its scenario's expectations: always, never and sometimes.
//
//	m.Add(expect.New(m.Run, state, scenario.Expect)) // m is a check.Monitor
//
// A Checker turns the facts that package track reports into events with the attributes that a scenario may name.
package expect
