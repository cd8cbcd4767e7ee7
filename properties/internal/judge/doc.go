// Command judge asks every judge of durosim about the process that it runs in, which may be a mutant: the conformance
// cases, the provider's specification over random calls, and a few seeds of each built-in scenario, also with full faults:
//
//	go run ./properties/internal/judge -only oracle
//
// It prints a line for each: its name, the digest of what happened, seeds, seconds, the objection, if any, and the mutants
// reached; it stops at the first objection unless -all is given. It objects to goroutines that a campaign leaves behind, too.
//
// The monitors are compiled from the same sources: where a checker uses a package that is mutated, it judges itself.
package main
