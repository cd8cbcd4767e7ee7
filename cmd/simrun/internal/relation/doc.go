// Package relation runs a plan and a twin of it that differs in a way that must not matter, and compares the instances that
// both have:
//
//	for _, r := range relation.All() {
//		difference, err := r.Compare(relation.Run{Plan: p, Seed: 7, Config: config})
//	}
//
// Compared are the instances at the end of the run: orchestration and version, custom status, keys, and of each execution
// status, output, pin and every event with all that it holds, times included. What a relation changes on purpose is put
// back first: ids by their old names, times by what they are after the start.
//
// Two runs of one seed are alike as far as they draw alike. Draws are named by what they are about, so that whatever is
// added moves no draw of the rest; with other ids, draws are numbered instead, in both runs. The kernel's guarantee is
// therefore exact: under any faults, the two must agree in each byte.
package relation
