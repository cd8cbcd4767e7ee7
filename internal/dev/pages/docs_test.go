package pages

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/program"
	"github.com/durosim/durosim/sim/scenario"
)

var update = flag.Bool("update", false, "write the generated lists in docs/")

// generated maps the names of the lists in docs/ that are generated from the sources to their generators. In a
// document, a list stands between the lines "<!-- generated NAME: ... -->" and "<!-- end NAME -->".
var generated = map[string]func() string{
	"statements": func() string { return statements(scenario.Statements()) },
	"steps":      func() string { return statements(scenario.Steps()) },
	"events": func() string {
		var b strings.Builder
		attrs, said := map[string]bool{}, tableText{}
		for _, e := range plan.Facts() {
			var names []string
			for _, a := range e.Attrs {
				names = append(names, "`"+a.Name+"`")
				text := a.Summary
				if a.Values != nil {
					text += " (" + strings.Join(a.Values, ", ") + ")"
				}
				if !attrs[a.Name+text] {
					said.row("`"+a.Name+"`", text)
				}
				attrs[a.Name+text] = true
			}
			fmt.Fprintf(&b, "- **%s**: %s. %s\n", e.Name, e.Summary, strings.Join(names, " "))
		}
		return b.String() + "\n" + table("attribute", "what it is").String() + said.String()
	},
	"options": func() string {
		b := table("option", "default")
		defaults := node.DefaultOptions()
		for _, name := range node.OptionNames() {
			value, _ := defaults.Get(name)
			if value != "" {
				value = "`" + value + "`"
			}
			b.row("`"+name+"`", value)
		}
		return b.String()
	},
	"program": func() string {
		b := table("statement", "what it does")
		for _, o := range program.Ops() {
			b.row("`"+o.Form+"`", o.Meaning)
		}
		return b.String()
	},
	"waiting_order": func() string { return scenarioFile("docs/waiting-order.txt") },
	"my_upgrade":    func() string { return scenarioFile("docs/my-upgrade.txt") },
	"properties": func() string {
		b := table("property", "holds", "stated in")
		for _, p := range properties.Catalogue() {
			b.row(p.String(), p.Statement, statedIn(p.ID))
		}
		return b.String()
	},
	"features": func() string {
		b := table("feature", "used when")
		for _, f := range properties.Features() {
			b.row("`"+f.Name+"`", f.Summary)
		}
		return b.String()
	},
	"over_store": overStoreTable,
}

// places lists where a property is stated, below properties/, if that is not the file of properties/internal that
// reports it.
var places = map[string][]string{
	"S05": {"oracle/ack.go", "oracle/work.go"},
	"S06": {"oracle/ack.go", "oracle/compare.go"},
	"S11": {"internal/safety/replay.go", "internal/safety/turn.go"},
	"S13": {"internal/safety/turn.go"},
	"S14": {"oracle/delete.go"},
	"S15": {"oracle/fetch.go", "oracle/work.go", "oracle/locks.go"},
	"S16": {"oracle/work.go", "oracle/ack.go", "internal/safety/session.go"},
	"S17": {"internal/safety/turn.go"},
	"S18": {"oracle/delivery.go"},
	"S19": {"internal/safety/lockloss.go", "internal/check/noderules.go"},
	"S21": {"internal/safety/turn.go"},
	"S22": {"internal/safety/eligible.go", "internal/model/eligible.go"},
	"S25": {"internal/secondjudge/rows.go"},
	"S26": {"oracle/admin.go", "oracle/sessions.go"},
}

// statedIn returns the places that state a property, with links. What only the second judge reports stands in the
// specification of a provider.
func statedIn(id string) string {
	files := places[id]
	for _, dir := range []string{"safety", "liveness", "outcome"} {
		sources, err := filepath.Glob(filepath.Join(root, "properties/internal", dir, "*.go"))
		if err != nil {
			return err.Error()
		}
		for _, file := range sources {
			base := filepath.Base(file)
			text, err := os.ReadFile(file)
			switch {
			case err != nil:
				return err.Error()
			case places[id] == nil && !strings.HasSuffix(base, "_test.go") && base != "doc.go" && base != "checks.go" && strings.Contains(string(text), strconv.Quote(id)):
				files = append(files, "internal/"+dir+"/"+base)
			}
		}
	}
	var links []string
	for _, file := range files {
		if _, err := os.Stat(filepath.Join(root, "properties", file)); err != nil {
			return err.Error()
		}
		links = append(links, "`"+strings.TrimPrefix(file, "internal/")+"`")
	}
	return strings.Join(links, " ")
}

// statements formats a reference of statements, with one paragraph per statement, those of corpus entries last.
func statements(infos []scenario.StatementInfo) string {
	var b, corpus strings.Builder
	for _, s := range infos {
		list, where := &b, ""
		if s.Below != "" {
			where = " Stands below " + s.Below + "."
		}
		if s.Corpus {
			list = &corpus
		}
		if s.Open {
			where += " Scenarios only."
		}
		fmt.Fprintf(list, "- `%s`\n  %s.%s\n", s.Form, strings.ToUpper(s.Meaning[:1])+s.Meaning[1:], where)
	}
	if corpus.Len() > 0 {
		b.WriteString("\nIn corpus entries, which are stored runs, alone:\n\n" + corpus.String())
	}
	return b.String()
}

// tableText builds a Markdown table.
type tableText struct{ strings.Builder }

func table(head ...string) *tableText {
	b := new(tableText)
	b.row(head...)
	b.row(slices.Repeat([]string{"---"}, len(head))...)
	return b
}

func (b *tableText) row(cells ...string) {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", "\\|")
	}
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

var listPattern = regexp.MustCompile(`(?s)(<!-- generated (\w+):[^\n]*-->\n)(.*?)(<!-- end (\w+) -->\n)`)

// slowLists names the lists that take many runs to generate. They are only checked with DUROSIM_LONG=1, and are always
// regenerated with -update.
var slowLists = []string{"windows"}

// regenerate returns a document with its lists brought up to date, and the names of the lists.
func regenerate(t *testing.T, doc string) (want string, lists []string) {
	return listPattern.ReplaceAllStringFunc(doc, func(block string) string {
		m := listPattern.FindStringSubmatch(block)
		list, ok := generated[m[2]]
		if !ok || m[2] != m[5] {
			t.Fatalf("generated list %q, ended as %q: expected one of internal/dev/pages/docs_test.go", m[2], m[5])
		}
		lists = append(lists, m[2])
		if slices.Contains(slowLists, m[2]) && !sample.All() && !*update {
			return block
		}
		return m[1] + "\n" + list() + "\n" + m[4]
	}), lists
}

func documents(t *testing.T) []string {
	t.Helper()
	docs := []string{"README.md", "DEVELOPMENT.md", "CHANGELOG.md"}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		found, err := fs.Glob(os.DirFS(root), pattern)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, found...)
	}
	return docs
}

func readDocument(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestGeneratedLists(t *testing.T) {
	var all []string
	for _, name := range documents(t) {
		have := readDocument(t, name)
		want, lists := regenerate(t, have)
		all = append(all, lists...)
		if want == have {
			continue
		}
		if !*update {
			t.Errorf("%s: its generated lists are out of date: go -C internal/dev test -count=1 ./pages -update, and read the diff", name)
			continue
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name := range generated {
		if !slices.Contains(all, name) {
			t.Errorf("the list %q stands in no document", name)
		}
	}
}

var bugPattern = regexp.MustCompile("`((?:provider|engine|duroxide-0\\.1\\.26)/[a-z-]+)`(†?)")

// TestBugsInDocuments checks that every planted bug that a document names is in the catalogue, or that the document
// says it is missing.
func TestBugsInDocuments(t *testing.T) {
	bugs := faults.Catalogue()
	record, err := txtar.ParseFile("../tidy/testdata/api.txtar")
	if err != nil {
		t.Fatal(err)
	}
	released := func(dir string) bool { // reports whether a package was in the last release; it may have been removed since
		return slices.ContainsFunc(record.Files, func(f txtar.File) bool { return path.Dir(f.Name) == dir })
	}
	for _, name := range documents(t) {
		for _, m := range bugPattern.FindAllStringSubmatch(readDocument(t, name), -1) {
			if slices.Contains(floors(), m[1]) || released(m[1]) {
				continue
			}
			listed := slices.ContainsFunc(bugs, func(b faults.Bug) bool { return string(b.ID) == m[1] })
			if listed == (m[2] != "") {
				t.Errorf("%s: %s: expected † behind what simrun list bugs does not list, and only there", name, m[1])
			}
		}
	}
}

// scenarioFile returns a block with a scenario from a file.
func scenarioFile(name string) string {
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return err.Error()
	}
	return "```scenario\n" + string(text) + "```\n"
}

var scenarioBlock = regexp.MustCompile("(?s)```scenario\n(.*?)```")

// TestScenarioBlocks checks that the scenarios in the documents are valid.
func TestScenarioBlocks(t *testing.T) {
	for _, name := range documents(t) {
		for _, m := range scenarioBlock.FindAllStringSubmatch(readDocument(t, name), -1) {
			if _, err := scenario.Parse(name, []byte(m[1])); err != nil {
				t.Error(err)
			}
		}
	}
}

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// TestReadme checks that the README names the two commands, and that its Go code is part of an example test.
func TestReadme(t *testing.T) {
	readme := readDocument(t, "README.md")
	for _, command := range []string{"go run ./cmd/simrun", "go test ./..."} {
		if !strings.Contains(readme, command) {
			t.Errorf("README.md does not name %q", command)
		}
	}
	examples, err := examples()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range goBlock.FindAllStringSubmatch(readme, -1) {
		if !slices.ContainsFunc(examples, func(e string) bool { return strings.Contains(e, m[1]) }) {
			t.Errorf("README.md has Go code that stands in no example*_test.go:\n%s", m[1])
		}
	}
}
