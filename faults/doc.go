// Package faults owns everything that can go wrong in a run: the plan of faults, as data, and the table of planted
// bugs.
//
//	plan := faults.Full()                                    // every fault, at its usual rate
//	bug, ok := faults.Lookup("provider/filter-after-lock")   // a planted bug
//
// Faults come from the environment: crashes, loss, delay, damage. A correct system must hold under all of them. A
// planted bug is a deviation of the system itself: it replaces one rule in a table of the package that owns the rule.
// For each bug, the table names a scenario and properties; in that scenario the bug must violate at least one of them.
// With no bug on, the rule tables hold the correct rules.
//
// The package knows the rule tables (Rules) of internal/storerules, internal/replay, internal/machine and
// internal/deadletter; it does not know how properties are checked.
package faults
