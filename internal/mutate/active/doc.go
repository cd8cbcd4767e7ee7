// Package active determines which mutant a process is. Mutated sources import it. Nothing else in a mutated package may
// import it.
//
//	if active.Pick(active.Is(17), a > b, a >= b) { // a mutated condition
package active
