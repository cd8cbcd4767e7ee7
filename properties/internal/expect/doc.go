// Package expect checks a run against the expectations of its scenario: always, never and sometimes.
//
// Checker turns the facts that package track reports into events, with the attributes that a scenario may name.
package expect
