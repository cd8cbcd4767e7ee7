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
)

// reportsDir is the directory of the reports on released crates.
const reportsDir = "docs/reports"

func init() {
	generated["reports"], generated["reported"] = reportTable, reportedSwitches
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

// permalink links to lines of a file at the commit of the release: "src/lib.rs:3-5".
func (r report) permalink(place string) string {
	c := crates[r.Part]
	file, lines, _ := strings.Cut(place, ":")
	anchor := "L" + strings.ReplaceAll(lines, "-", "-L")
	return fmt.Sprintf("[%s](https://github.com/microsoft/%s/blob/%s/%s#%s)", place, c.repo, c.commit, file, anchor)
}

var rustTest = `(?m)(?:^///[^\n]*\n)*^#\[tokio::test[^\n]*\n(?:async )?fn %s\(\) \{\n(?s:.*?)^\}\n`

// page writes the report. A patch or a test that would make it longer than a reader reads at once is linked instead.
func (r report) page() (string, error) {
	c := crates[r.Part]
	testFile := fmt.Sprintf("%s/tests/%s.rs", c.repo, c.tests)
	source, err := os.ReadFile(filepath.Join(root, reportsDir, testFile))
	if err != nil {
		return "", err
	}
	patchFile := "patches/" + cmp.Or(r.Patch, r.Name) + ".patch"
	patch, err := os.ReadFile(filepath.Join(root, reportsDir, patchFile))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- generated from reports.toml, the test and the patch -->\n# %s\n\n", r.Title)
	fmt.Fprintf(&b, "%s %s, the newest release, and %s.\n\n", c.repo, c.release, cmp.Or(r.Since, map[bool]string{true: "no older one was tried", false: "0.1.26 and 0.1.30"}[r.Part == "postgres"]))
	fmt.Fprintf(&b, "**What happens.** %s\n\n**Expected**, in the words of the release:\n\n", r.Effect)
	for _, q := range r.Quotes {
		place, text, _ := strings.Cut(q, " ")
		fmt.Fprintf(&b, "> %s (%s)\n>\n", text, r.permalink(place))
	}
	if r.Argue != "" {
		fmt.Fprintf(&b, "\n%s\n", r.Argue)
	}
	var links []string
	for _, p := range r.Places {
		links = append(links, r.permalink(p))
	}
	fmt.Fprintf(&b, "\n**Why.** %s %s\n\n", r.Cause, strings.Join(links, ", "))
	for _, command := range r.Command {
		command, rule, _ := strings.Cut(command, "|")
		fmt.Fprintf(&b, "- **Command**: `%s` violates %s\n\n", command, rule)
	}
	for i, test := range r.Tests {
		m := regexp.MustCompile(fmt.Sprintf(rustTest, test)).FindString(string(source))
		if m == "" {
			return "", fmt.Errorf("%s: no test %s in %s", r.Name, test, testFile)
		}
		if i == 0 {
			fmt.Fprintf(&b, "**Test**, red on the release and green with the patch, in [%s](%s); what it uses beside the crate is in [src/lib.rs](%s/src/lib.rs).\n\n", testFile, testFile, c.repo)
			if strings.Count(m, "\n") <= 29 {
				fmt.Fprintf(&b, "```rust\n%s```\n\n", m)
			}
			fmt.Fprintf(&b, "`docs/reports/run.sh %s` runs it both ways.\n", r.Name)
		} else {
			fmt.Fprintf(&b, "So does `%s`.\n", test)
		}
	}
	fmt.Fprintf(&b, "\n**Patch**: [%s](%s)", patchFile, patchFile)
	if r.Part == "postgres" && strings.Contains(string(patch), "/migrations/") {
		b.WriteString(", as a change of the migration that defines it; a release needs a new migration")
	}
	b.WriteString(".\n\n")
	rest := fmt.Sprintf("**What it does not cover.** %s\n\n**Known?** %s\n", r.Uncovered, cmp.Or(r.Known, "No report was found."))
	if inline := "```diff\n" + strings.TrimSuffix(string(patch), "\n") + "\n```\n\n"; strings.Count(b.String()+inline+rest, "\n") < reportLines {
		b.WriteString(inline)
	}
	return b.String() + rest, nil
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
			by := "oracle and cases of the contract"
			if part == "runtime" {
				by = "a model, then the crate"
			}
			if len(r.Command) > 0 {
				by = "`" + strings.TrimPrefix(strings.ReplaceAll(r.Command[0], "|", "`: "), "simrun ")
			}
			since := map[bool]string{true: "0.1.38 or before", false: "0.1.26 or before"}[part == "postgres"]
			t.row(fmt.Sprintf("[%s](%s.md)", r.Title, r.Name), cmp.Or(r.Since, since), by, seedsUntilFound(r.Switch), cmp.Or(r.Known, "no"))
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

// reportedSwitches lists the switches and other findings that have a report.
func reportedSwitches() string {
	all, err := reports()
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	for _, r := range all {
		if r.Switch != "" {
			fmt.Fprintf(&b, "- `%s`: [%s](reports/%s.md)\n", strings.ReplaceAll(r.Switch, ", ", "`, `"), r.Title, r.Name)
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
		if len(r.Quotes) == 0 || len(r.Places) == 0 || r.Effect == "" || r.Uncovered == "" {
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
