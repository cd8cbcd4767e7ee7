// Package slab allocates values of one type and reclaims all of them at once. It is meant for successive runs: each run
// reuses the previous run's memory, so it allocates nothing and its memory stays in the processor's caches.
//
//	var rows slab.Slab[row]
//	r := rows.New() // in use until rows.Reset()
//
// In return, a slab's values must not be used after a Reset. The owner of a Slab documents when it resets the Slab;
// cluster.Memory does so when the next run begins.
package slab
