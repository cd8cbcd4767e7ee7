// Package facts lists the facts about a run to which expectations can refer. Each fact has a name and attributes.
// Package plan validates expectations against this list, the scenario parser uses it, and the expectation checker emits
// the facts.
//
//	for _, f := range facts.All() { fmt.Println(f.Name, f.Attrs) }
package facts
