// Command matrix tries mutants of durosim and writes what noticed them: docs/kill-matrix.md. It starts from the module's
// root; "make mutants" does.
//
//	go run ./internal/mutate/matrix -every 20 memprovider internal/replay
//
// With -state FILE, results are kept there and a later run goes on where this one ended; they hold for one version of the
// sources. With -table it writes the matrix from them without trying anything. Every judge is run on the original first:
// one that objects to it, or whose digest is not the same twice, is left out and named.
package main
