// Package relation runs a plan and its twin, which differs in a way that must not matter, and compares the instances
// that both runs have:
//
//	for _, r := range relation.All() {
//		difference, err := r.Compare(relation.Run{Plan: p, Seed: 7, Config: config})
//	}
//
// It compares the final state of each instance: its orchestration and version, custom status and keys, and each
// execution's status, output, pin and events. Events are compared field by field, including times. Before comparing, it
// undoes the intended changes: it restores the original ids and makes times relative to the start of the run.
//
// Two runs with the same seed behave identically as long as their draws are the same. Each draw has a key that names
// its subject, so adding something to the plan does not affect the other draws. If ids differ, both runs number their
// draws instead. The comparison is therefore exact: whatever the faults, the two runs must be identical byte for byte.
package relation
