// Package arena allocates values of one type and reclaims all of them at once. It is meant for successive runs: each run
// reuses the previous run's memory, so it allocates nothing and its memory stays in the processor's caches.
//
//	var rows arena.Of[row]
//	r := rows.New() // in use until rows.Reset()
//
// In return, an arena's values must not be used after a Reset. Its owner documents when it resets it; cluster.Arena does
// so when the next run begins.
package arena
