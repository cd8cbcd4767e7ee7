// Package matrix tries mutants of durosim and writes docs/kill-matrix.md, which lists the checks that detected them.
//
//	go -C internal/dev run ./simdev mutants -sample 20 memprovider engine/replay
//
// With -state FILE, it stores its results in FILE, and a later run resumes from there. The results are valid only for
// the same version of the sources. With -table, it writes the matrix from stored results without trying any mutants.
// It first runs every judge on the original. If a judge objects to the original, or gives two different
// digests for it, it reports that judge and does not use it.
package matrix
