// Package relation runs a plan and a twin of the plan with a difference that must not matter, and compares the
// instances that both runs have:
//
//	for _, r := range relation.All() {
//		difference, err := r.Compare(relation.Run{Plan: p, Seed: 7, Config: config})
//	}
//
// It compares the instances at the end of the run: orchestration and version, custom status, keys, and for each
// execution its status, output, pin and every event with all fields, including times. Before that, it undoes the
// intended changes of the relation: it restores old ids and makes times relative to the start.
//
// Two runs with one seed behave the same as long as their draws are the same. The key of a draw names its subject, so
// an addition to the plan does not change the other draws. If ids differ, both runs number their draws instead. The
// comparison is therefore exact: under any faults, the two runs must agree in every byte.
package relation
