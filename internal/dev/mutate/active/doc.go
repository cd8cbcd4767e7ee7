// Package active determines which mutant is active in this process. Only the sources that contain mutants may import
// it.
//
//	if active.Pick(active.Is(17), a > b, a >= b) { // a mutated condition
package active
