package pages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/durosim/durosim/faults"
)

// reportsDir is the directory of the reports on released crates.
const reportsDir = "docs/reports"

func init() {
	generated["reports"], generated["reported"], generated["helpers"] = reportTable, otherReports, allHelpers
}

// report is an entry of reports.toml.
type report struct {
	Name, Part, Title, Switch, Since, Effect, Argue, Cause, Known, Uncovered, Patch string
	Quotes, Places, Tests, Command                                                  []string
}

func reports() ([]report, error) {
	var file struct{ Report []report }
	_, err := toml.DecodeFile(filepath.Join(root, reportsDir, "reports.toml"), &file)
	return file.Report, err
}

// crates gives what a part of the reports is about: the crate, its release and commit, its tests and their file.
var crates = map[string]struct{ title, repo, release, commit, tests string }{
	"runtime":  {"The runtime of duroxide 0.1.32", "duroxide", "0.1.32", "585c89c86f03956f799913cf0b98186452221e75", "runtime"},
	"sqlite":   {"The SQLite provider of duroxide 0.1.32", "duroxide", "0.1.32", "585c89c86f03956f799913cf0b98186452221e75", "sqlite"},
	"postgres": {"duroxide-pg 0.1.38", "duroxide-pg", "0.1.38", "54255d1664ca630fe9d3501502dfdba5dec455f9", "postgres"},
}

// permalink links to lines of a file at the commit of the release: "src/lib.rs:3-5", or "duroxide/src/lib.rs:3-5" in a report
// on another crate.
func (r report) permalink(place string) string {
	c := crates[r.Part]
	if core, ok := strings.CutPrefix(place, "duroxide/"); ok && c.repo != "duroxide" {
		return strings.Replace(report{Part: "runtime"}.permalink(core), "[", "[duroxide/", 1)
	}
	file, lines, _ := strings.Cut(place, ":")
	anchor := "L" + strings.ReplaceAll(lines, "-", "-L")
	return fmt.Sprintf("[%s](https://github.com/microsoft/%s/blob/%s/%s#%s)", place, c.repo, c.commit, file, anchor)
}

// versions says in which releases the defect is, and how that is known. Tests run on the newest release and, of duroxide, on
// 0.1.30 too; 0.1.31 was never published.
func (r report) versions() string {
	c := crates[r.Part]
	tried := c.release
	if r.Part != "postgres" {
		tried = "0.1.30 and " + c.release
	}
	begin, before := strings.CutSuffix(r.Since, " or before")
	if before {
		begin += ", the oldest that was read,"
	} else {
		begin += ", by the sources,"
	}
	return fmt.Sprintf("**Versions.** %s %s to %s, the newest. The test fails on %s.", c.repo, begin, c.release, tried)
}

var (
	rustTest = `(?m)(?:^///[^\n]*\n)*^#\[tokio::test[^\n]*\n(?:async )?fn %s\(\) \{\n(?s:.*?)^\}\n`
	// rustHelper matches a helper of the tests with its comment.
	rustHelper = regexp.MustCompile(`(?m)((?:^ *///[^\n]*\n)+)(?: *#\[[^\n]*\n)* *(?:pub )?(?:async )?(?:fn|struct|const) (\w+)`)
)

// rustDoc returns the text of the comment before a Rust item, without the stop.
func rustDoc(item string) string {
	var words []string
	for line := range strings.Lines(item) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "/// "); ok {
			words = append(words, text)
		} else {
			break
		}
	}
	return strings.TrimSuffix(strings.Join(words, " "), ".")
}

// helpers explains what a test uses beside the crates, by the comments there. A helper is used where it is called, named in a
// type's place, or registered as an orchestration.
func helpers(test string, sources ...string) (said []string) {
	for _, source := range sources {
		for _, m := range rustHelper.FindAllStringSubmatch(source, -1) {
			if doc, name := rustDoc(m[1]), m[2]; name != "new" && regexp.MustCompile(`(?m)(^|[^n] |[^\w ])`+name+`(\(|::|\)|\.await| *[,}])`).MatchString(strings.ReplaceAll(test, "async fn", "fn")) {
				said = append(said, fmt.Sprintf("`%s`: %s", name, strings.ToLower(doc[:1])+doc[1:]))
			}
		}
	}
	return said
}

// allHelpers lists what the tests use beside the crates.
func allHelpers() string {
	all, err := reports()
	if err != nil {
		return err.Error() + "\n"
	}
	var said []string
	for _, r := range all {
		tests, shared, err := r.sources()
		if err != nil {
			return err.Error() + "\n"
		}
		for _, h := range helpers(r.test(r.Tests[0], tests), shared, tests) {
			if !slices.Contains(said, h) {
				said = append(said, h)
			}
		}
	}
	slices.Sort(said)
	return "- " + strings.Join(said, "\n- ") + "\n"
}

// sources returns the file of a report's tests, and that of their helpers.
func (r report) sources() (tests, shared string, err error) {
	c := crates[r.Part]
	var texts [2]string
	for i, file := range []string{fmt.Sprintf("%s/tests/%s.rs", c.repo, c.tests), c.repo + "/src/lib.rs"} {
		data, err := os.ReadFile(filepath.Join(root, reportsDir, file))
		if err != nil {
			return "", "", err
		}
		texts[i] = string(data)
	}
	return texts[0], texts[1], nil
}

// test returns the text of a test.
func (r report) test(name, source string) string {
	return regexp.MustCompile(fmt.Sprintf(rustTest, name)).FindString(source)
}

// page writes the report. A patch or a test that would make it longer than a reader reads at once is linked instead.
func (r report) page() (string, error) {
	c := crates[r.Part]
	testFile, patchFile := fmt.Sprintf("%s/tests/%s.rs", c.repo, c.tests), "patches/"+cmp.Or(r.Patch, r.Name)+".patch"
	source, shared, err := r.sources()
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(filepath.Join(root, reportsDir, patchFile))
	if err != nil {
		return "", err
	}
	patch := string(data)
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- generated from reports.toml, the test and the patch -->\n# %s\n\n%s\n\n", r.Title, r.versions())
	fmt.Fprintf(&b, "**What happens.** %s\n\n**Expected**, in the words of the release:\n\n", r.Effect)
	for i, q := range r.Quotes {
		if i > 0 {
			b.WriteString(">\n")
		}
		place, text, _ := strings.Cut(q, " ")
		fmt.Fprintf(&b, "> %s (%s)\n", text, r.permalink(place))
	}
	if r.Argue != "" {
		fmt.Fprintf(&b, "\n%s\n", r.Argue)
	}
	var links []string
	for _, p := range r.Places {
		links = append(links, r.permalink(p))
	}
	fmt.Fprintf(&b, "\n**Why.** %s %s\n\n", r.Cause, strings.Join(links, ", "))

	var tests []string
	for _, test := range r.Tests {
		m := r.test(test, source)
		if m == "" {
			return "", fmt.Errorf("%s: no test %s in %s", r.Name, test, testFile)
		}
		tests = append(tests, m)
	}
	fmt.Fprintf(&b, "**Test**, red on the release and green with the patch: `%s` in [%s](%s)", r.Tests[0], testFile, testFile)
	for i, test := range tests[1:] {
		fmt.Fprintf(&b, ", and `%s`", r.Tests[i+1])
		if doc := rustDoc(test); doc != "" {
			fmt.Fprintf(&b, " (%s%s)", strings.ToLower(doc[:1]), doc[1:])
		}
	}
	b.WriteString(".")
	if helpers(tests[0], shared, source) != nil {
		b.WriteString(" What it calls: [helpers](README.md#helpers).")
	}
	b.WriteString("\n\n")

	rest := fmt.Sprintf("`docs/reports/run.sh %s` runs it both ways.\n\n**Patch**: [%s](%s)", r.Name, patchFile, patchFile)
	if r.Patch != "" {
		rest += fmt.Sprintf(", which mends [another defect](%s.md), too", r.Patch)
	}
	if r.Part == "postgres" && strings.Contains(patch, "/migrations/") {
		rest += ", as a change of the migration that defines it; a release needs a new migration"
	}
	rest += ".\n\n"
	end := fmt.Sprintf("**What the patch does not cover.** %s\n\n**Known?** %s\n", r.Uncovered, cmp.Or(r.Known, "No report of it was found."))
	whole := func(parts ...string) string { return b.String() + strings.Join(parts, "") + end }
	code, diff := "```rust\n"+tests[0]+"```\n\n", "```diff\n"+strings.TrimSuffix(patch, "\n")+"\n```\n\n"
	for _, page := range []string{whole(code, rest, diff), whole(code, rest), whole(rest, diff)} {
		if strings.Count(page, "\n") < reportLines {
			return page, nil
		}
	}
	return whole(rest), nil
}

// reportLines is the length that a report does not reach.
const reportLines = 60

// reportTable lists the reports.
func reportTable() string {
	all, err := reports()
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	for _, part := range []string{"runtime", "sqlite", "postgres"} {
		fmt.Fprintf(&b, "### %s\n\n", crates[part].title)
		t := table("report", "since", "found by", "seeds", "known upstream")
		for _, r := range all {
			if r.Part != part {
				continue
			}
			by := "specification"
			if part == "runtime" {
				by = "a model"
			}
			if len(r.Command) > 0 {
				by = "`" + strings.TrimPrefix(strings.ReplaceAll(r.Command[0], "|", "`: "), "simrun ")
			}
			t.row(fmt.Sprintf("[%s](%s.md)", r.Title, r.Name), r.Since, by, seedsUntilFound(r.Switch), r.Known)
		}
		b.WriteString(t.String() + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// seedsUntilFound returns the median number of seeds until a campaign finds the planted bugs that model a report, the most
// of them if there are several, and a dash if none does.
func seedsUntilFound(switches string) string {
	var measured struct {
		Bugs []struct {
			ID    string
			Seeds []int
		}
	}
	data, err := os.ReadFile(filepath.Join(root, "cmd/simrun/command/detection.json"))
	if err == nil {
		err = json.Unmarshal(data, &measured)
	}
	if err != nil {
		return err.Error()
	}
	most := 0
	for _, b := range measured.Bugs {
		if slices.Contains(strings.Split(switches, ", "), path.Base(b.ID)) {
			slices.Sort(b.Seeds)
			most = max(most, b.Seeds[len(b.Seeds)/2])
		}
	}
	if most == 0 {
		return "-"
	}
	return strconv.Itoa(most)
}

// reportOn returns the report on a switch, or nil if there is none.
func reportOn(name string) *report {
	all, _ := reports() // an error shows where they are listed
	for i, r := range all {
		if slices.Contains(strings.Split(r.Switch, ", "), name) {
			return &all[i]
		}
	}
	return nil
}

// otherReports lists the reports on the runtime about what is no switch.
func otherReports() string {
	all, err := reports()
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	for _, r := range all {
		if r.Part == "runtime" && !slices.ContainsFunc(faults.Bugs(), func(bug faults.Bug) bool {
			return slices.Contains(strings.Split(r.Switch, ", "), strings.TrimPrefix(string(bug.ID), faults.ProfileFamily))
		}) {
			fmt.Fprintf(&b, "- `%s`: [%s](reports/%s.md)\n", r.Switch, r.Title, r.Name)
		}
	}
	return b.String()
}

// TestReports checks that each report is what its sources make of it, and that it is short.
func TestReports(t *testing.T) {
	all, err := reports()
	if err != nil {
		t.Fatal(err)
	}
	count, pages := map[string]int{}, map[string]bool{"README.md": true}
	for _, r := range all {
		want, err := r.page()
		if err != nil {
			t.Error(err)
			continue
		}
		if n := strings.Count(want, "\n"); n >= reportLines {
			t.Errorf("%s has %d lines, expected fewer than %d", r.Name, n, reportLines)
		}
		if len(r.Quotes) == 0 || len(r.Places) == 0 || r.Effect == "" || r.Argue == "" || r.Uncovered == "" || r.Since == "" {
			t.Errorf("%s: something is missing", r.Name)
		}
		count[r.Part]++
		pages[r.Name+".md"] = true
		path := filepath.Join(root, reportsDir, r.Name+".md")
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if have, err := os.ReadFile(path); err != nil || string(have) != want {
			t.Errorf("%s is out of date (%v): go -C internal/dev test -count=1 ./pages -run Reports -update", path, err)
		}
	}
	for part, least := range map[string]int{"runtime": 20, "sqlite": 8, "postgres": 8} {
		if count[part] < least {
			t.Errorf("%d reports on the part %s, expected %d at least", count[part], part, least)
		}
	}
	files, err := filepath.Glob(filepath.Join(root, reportsDir, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !pages[filepath.Base(file)] {
			t.Errorf("%s is no report of reports.toml", file)
		}
	}
}
