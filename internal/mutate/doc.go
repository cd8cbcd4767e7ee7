// Package mutate makes mutants of Go packages: copies that differ in one small place. All mutants of a build are compiled
// at once; the environment variable DUROSIM_MUTANT says which one a process is, and without it the process behaves as the
// original (package active).
//
//	packages, err := mutate.Load(root, "example.com/m/a")
//	mutants := mutate.Mutants(packages)
//	overlay, err := mutate.Write(dir, packages, mutants)     // for go build -overlay
//
// A mutant negates a condition, moves a boundary, takes "and" for "or" or plus for minus, leaves a statement out, swaps
// two arguments of one type, or reads another field of one type. Sources are only ever added to, on their own lines, so
// that the compiler's messages name the lines of the original.
//
// Command matrix, below, finds out what notices each mutant of durosim; for that it starts properties/internal/judge.
//
// The mutation tools that exist do not fit: gremlins, which is maintained, and go-mutesting and its forks compile each
// mutant apart (gremlins says of itself that large modules take hours) and judge it by the exit status of tests, so that a
// mutant which nothing reaches looks like one that something reaches and nobody minds. Here a campaign's digests tell the
// two apart.
package mutate
