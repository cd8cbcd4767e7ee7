// Package slab allocates values of one type and takes all of them back at once. It serves runs that follow one another:
// each run reuses the memory of the previous run, so that it allocates nothing and its memory stays in the processor's
// caches.
//
//	var rows slab.Slab[row]
//	r := rows.New() // in use until rows.Reset()
//
// In return, nobody may use a slab's values after its Reset. The owner of a Slab documents when it resets the Slab
// (cluster.Memory: when the next run begins).
package slab
