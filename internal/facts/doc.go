// Package facts lists the facts of a run to which expectations can refer. Each fact is a name with attributes. Package
// plan validates expectations against the list, the scenario parser uses it, and the checker of expectations emits the
// facts.
//
//	for _, f := range facts.All() { fmt.Println(f.Name, f.Attrs) }
package facts
