// Package mutate makes mutants of Go packages: copies that differ in one small place. A build contains all its mutants.
// The environment variable DUROSIM_MUTANT selects the mutant of a process; without it, the process behaves like the
// original (package active).
//
//	packages, err := mutate.Load(root, "example.com/m/a")
//	mutants := mutate.Mutants(packages)
//	overlay, err := mutate.Write(dir, packages, mutants)     // for go build -overlay
//
// A mutant negates a condition, moves a boundary, swaps "and" with "or" or plus with minus, removes a statement, swaps
// two arguments of the same type, or reads another field of the same type. Write only adds code to existing lines, so
// that compiler messages have the line numbers of the original.
//
// Command matrix, in a subdirectory, determines which check detects each mutant of durosim. It runs
// properties/internal/judge for this.
//
// Existing mutation tools do not fit. Gremlins, which is maintained, and go-mutesting and its forks compile each mutant
// separately (the documentation of gremlins says that large modules take hours). They judge a mutant by the exit status
// of tests, so they cannot distinguish a mutant that no test reaches from one that tests reach but do not detect. Here
// the digests of a campaign distinguish the two.
package mutate
