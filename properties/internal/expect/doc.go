// Package expect checks a run against the expectations of its scenario: always, never and sometimes.
//
// Checker makes events of the facts that package track tells it, with the attributes that a scenario may name.
package expect
