// Package active says which mutant a process is. Mutated sources import it; nothing else of what is mutated may.
//
//	if active.Pick(active.Is(17), a > b, a >= b) { // a mutated condition
package active
