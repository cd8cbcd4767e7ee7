// Package faults owns everything that can go wrong in a run: the fault plan, as data, and the table of planted bugs.
//
//	plan := faults.Full()                                    // every fault, at its usual rate
//	bug, ok := faults.Lookup("provider/filter-after-lock")   // a planted bug
//
// Faults come from the environment: crashes, loss, delay, damage. A correct system must withstand all of them. A
// planted bug is a mistake in the system itself: it replaces one rule in a rule table of the package that owns the
// rule. For each bug, the table of bugs names a scenario and a list of properties; in that scenario, the bug must
// violate at least one of the properties. If no bug is on, the rule tables hold the correct rules.
//
// A new kind of fault needs a constant and a row (kind.go), with its rates in the named plans, and a draw at the place in
// sim/cluster where it strikes.
//
// The package depends on the rule tables (Rules) of memprovider, engine/replay, engine/machine and
// engine/deadletter. It knows nothing about how properties are checked.
package faults
