// Command matrix tries mutants of durosim and writes docs/kill-matrix.md, which lists the checks that detected them.
// Run it in the module's root directory, as "make mutants" does.
//
//	go run ./internal/mutate/matrix -every 20 memprovider internal/replay
//
// With -state FILE, the command stores its results in FILE, and a later run resumes from there; the results are valid
// for one version of the sources. With -table it writes the matrix from the results without trying anything. The
// command first runs every judge on the original. It skips and reports a judge that objects to the original or produces
// two different digests.
package main
