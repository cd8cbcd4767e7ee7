package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// IDs returns the ids of the cases in the order in which Run runs them.
func IDs() []string {
	var ids []string
	for _, c := range catalogue {
		ids = append(ids, c.id)
	}
	return ids
}

// Problems lists cases that lack a description or a check, and code that belongs to no case.
func Problems() []string {
	var problems []string
	named := map[string]bool{}
	for _, c := range catalogue {
		if c.name == "" || !strings.HasSuffix(c.about, ".") || (c.script == "") == (c.code == nil) {
			problems = append(problems, fmt.Sprintf("%s %q %q: a case has a name, a sentence, and either a script or code", c.id, c.name, c.about))
		}
		named[c.id] = c.code != nil
	}
	for _, id := range slices.Sorted(maps.Keys(codeCases)) {
		if !named[id] {
			problems = append(problems, id+": code for no case")
		}
	}
	return problems
}

// Mistake plays a script and returns the mistake that the script contains.
func Mistake(f Factory, script string) (mistake string) {
	defer func() { mistake = fmt.Sprint(recover()) }()
	testCase{id: "X", script: script}.ask(f)
	return ""
}
