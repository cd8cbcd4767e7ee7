// Package facts lists what expectations can be about: facts of a run, each a name with attributes. Package plan checks
// expectations against the list, scenarios are parsed by it, and the checker of expectations tells the facts.
//
//	for _, f := range facts.All() { fmt.Println(f.Name, f.Attrs) }
package facts
