package conformance

import (
	"embed"
	"strings"
)

// testCase is one case of the catalogue: a script, or Go code.
type testCase struct {
	id    string
	name  string
	about string
	// script is lines of the language of script.go; code is for what a script cannot say. One of them is set.
	script string
	code   func(w *world)
}

//go:embed cases/*.txt
var caseFiles embed.FS

// catalogue is every case, in the order of the files.
var catalogue = readCatalogue()

// readCatalogue reads the case files. A case is a line with its id and name, a line that says what it is about, and
// indented lines of script; the one word "code" says that codeCases has it.
func readCatalogue() []testCase {
	files, err := caseFiles.ReadDir("cases")
	if err != nil {
		panic(err)
	}
	var cases []testCase
	for _, f := range files {
		data, err := caseFiles.ReadFile("cases/" + f.Name())
		if err != nil {
			panic(err)
		}
		for _, block := range strings.Split(strings.TrimSpace(string(data)), "\n\n") {
			head, rest, _ := strings.Cut(strings.TrimSpace(block), "\n")
			about, script, _ := strings.Cut(rest, "\n")
			c := testCase{about: about, script: script}
			c.id, c.name, _ = strings.Cut(head, " ")
			if strings.TrimSpace(script) == "code" {
				c.script, c.code = "", codeCases[c.id]
			}
			cases = append(cases, c)
		}
	}
	return cases
}
