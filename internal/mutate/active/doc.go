// Package active says which mutant a process is. Mutated sources import it; nothing else of what is mutated may.
package active
