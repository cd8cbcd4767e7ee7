package conformance

import (
	"embed"
	"slices"
	"strings"
)

// testCase is one case in the catalogue, written as a script or in Go.
type testCase struct {
	id    string
	name  string
	about string
	// script is in the language that script.go describes. code is for cases that a script cannot express. Exactly one
	// of the two is set.
	script string
	code   func(w *caseRun)
}

//go:embed cases/*.txt
var caseFiles embed.FS

// catalogue holds all cases, in the order of their files.
var catalogue = readCatalogue()

// readCatalogue parses the case files. A case consists of a line with its id and name, a line that describes it, and
// the indented lines of its script. If the script is the single word "code", the case is in codeCases.
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

// wordTags maps words in scripts to tags. A case that uses the word gets the tag, which says what the case needs or
// tests.
var wordTags = []struct{ word, tag string }{
	{"corrupt ", "damage"}, {"damage ", "damage"}, {"torn ", "torn"}, {"wait ", "time"}, {"filter=", "filter"}, {"owner=", "sessions"}, {"hold ", "sessions"}, {"sweep", "sessions"},
	{"tags=", "tags"}, {"kv ", "kv"}, {"kvs ", "kv"}, {"+kv", "kv"}, {"status ", "custom-status"}, {"poll=", "polling"},
	{"info ", "admin"}, {"execution ", "admin"}, {"list", "admin"}, {"executions ", "admin"}, {"latest ", "admin"}, {"children ", "admin"},
	{"parent ", "admin"}, {"tree ", "admin"}, {"metrics", "admin"}, {"depths", "admin"}, {"history ", "admin"}, {"delete", "admin"}, {"bulk", "admin"},
	{"prune", "admin"},
}

// codeTags holds the tags of the cases written in Go.
var codeTags = map[string][]string{
	"AT-04": {"overlap"}, "IL-04": {"overlap"}, "IL-09": {"overlap"}, "IL-10": {"overlap"}, "BP-76": {"overlap"}, "BP-84": {"overlap", "sessions"},
	"BP-149": {"overlap"}, "BP-150": {"overlap"}, "LP-01": {"polling"}, "LP-02": {"polling"}, "LP-03": {"polling"}, "LP-04": {"polling"}, "LP-05": {"polling"},
	"BP-151": {"polling", "overlap"}, "BP-152": {"polling", "overlap"}, "BP-153": {"polling"}, "BP-154": {"polling", "overlap"}, "BP-156": {"polling", "overlap"},
	"KV-20": {"kv"}, "KV-21": {"kv"}, "BP-121": {"kv"}, "BP-105": {"filter"},
}

// describe returns the case as users of the package see it.
func (c testCase) describe() Case {
	group, _, _ := strings.Cut(c.id, "-")
	d := Case{ID: c.id, Name: c.name, About: c.about, Group: group, Tags: slices.Clone(codeTags[c.id])}
	for _, line := range strings.Split(c.script, "\n") {
		op, _, _ := strings.Cut(strings.TrimSpace(line), "->")
		for _, w := range wordTags {
			there := strings.HasPrefix(op, w.word)
			if strings.HasSuffix(w.word, "=") || strings.HasPrefix(w.word, "+") {
				there = strings.Contains(op, " "+w.word)
			}
			if there && !slices.Contains(d.Tags, w.tag) {
				d.Tags = append(d.Tags, w.tag)
			}
		}
	}
	return d
}
