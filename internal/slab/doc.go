// Package slab hands out memory for values of one type and takes all of it back at once, for runs that follow one another:
// the next run is given what the one before used, so that it allocates nothing and its memory stays in the processor's
// caches.
//
//	var rows slab.Slab[row]
//	r := rows.New() // in use until rows.Reset()
//
// The price is that nobody may use what a Slab handed out after its Reset. Whoever owns a Slab documents when
// that is (cluster.Memory: when the next run begins).
package slab
