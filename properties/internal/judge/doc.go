// Command judge runs every judge of durosim on its own process, which may be a mutant. The judges are the conformance
// cases, the provider's specification over random calls, and a few seeds of each built-in scenario, also with full
// faults:
//
//	go run ./properties/internal/judge -only oracle
//
// It prints a line for each judge: its name, the digest of the behavior, seeds, seconds, the objection, if any, and the
// mutants reached. It stops at the first objection unless -all is given. Goroutines that a campaign leaves behind are
// an objection, too.
//
// The monitors are compiled from the same sources, so a checker that uses a mutated package judges itself.
package main
