// Package faults owns what can go wrong in a run: the plan of faults as data, and the table of planted bugs.
//
//	plan := faults.Full()                                    // every fault, at its usual rate
//	bug, ok := faults.Lookup("provider/filter-after-lock")   // a planted bug, and what must break with it
//
// Faults are what the environment does: crashes, loss, delay, damage. A correct system must hold under all of them. A
// planted bug is a deviation of the system itself: it replaces one rule in a table of the package that owns the rule, and
// the table says which property must then break, in which scenario. With no bug on the tables hold the right rules.
//
// The package knows the rule tables of memprovider, engine/replay and engine/node; it knows nothing of how properties
// are checked.
package faults
