// Package active determines which mutant is active in this process. It is imported by mutated sources. Nothing else in
// a mutated package may import it.
//
//	if active.Pick(active.Is(17), a > b, a >= b) { // a mutated condition
package active
