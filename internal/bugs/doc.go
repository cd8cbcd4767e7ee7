// Package bugs owns the set of seeded bugs that a run has switched on. The catalogue, with what each bug means, is in
// package faults; a package that owns a rule knows only the id of the bug that breaks it.
package bugs
