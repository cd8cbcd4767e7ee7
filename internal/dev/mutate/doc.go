// Package mutate creates mutants of Go packages: copies that differ in one small place. A single build contains all of
// its mutants. The environment variable DUROSIM_MUTANT selects the mutant that is active in a process; without it, the
// process behaves like the original (package active).
//
//	packages, err := mutate.Load(root, "example.com/m/a")
//	mutants := mutate.Mutants(packages)
//	overlay, err := mutate.Write(dir, packages, mutants)     // for go build -overlay
//
// A mutant negates a condition, moves a boundary, swaps "and" with "or" or plus with minus, removes a statement, swaps
// two arguments of the same type, or reads a different field of the same type. Write only inserts code into existing
// lines, so compiler messages keep the original line numbers.
//
// Command matrix, in a subdirectory, finds the checks that detect each mutant of durosim. To do so, it runs
// internal/dev/judge.
//
// Existing mutation tools are not suitable. Gremlins, which is maintained, and go-mutesting and its forks compile each
// mutant separately; the gremlins documentation says that large modules take hours. They judge a mutant by the exit
// status of tests. An exit status cannot tell a mutant that no test reaches from one that tests reach but do not
// detect. Here, the digests of a campaign tell the two apart.
package mutate
