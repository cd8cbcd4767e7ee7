package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/scenario"
)

func init() { generated["failures"] = failureCounts }

// failuresPage returns docs/upgrade-failures.md.
func failuresPage() string {
	text, err := os.ReadFile(filepath.Join(root, "docs/upgrade-failures.md"))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

var (
	// kindRow is a kind of mistake: its id, what shows it, and the properties that see it.
	kindRow = regexp.MustCompile(`(?m)^\| <a id="(u\d+)"></a>U\d+ \| [^|]+ \| ([^|]+) \| ([^|]+) \|$`)
	// kindBug is a planted bug and its scenario, and kindPlan the anchor of a plan of the page.
	kindBug  = regexp.MustCompile("^`([^`]+)`†? in `([^`]+)`$")
	kindPlan = regexp.MustCompile(`^\[the plan below\]\(#(u\d+-plan)\)$`)
	// failureLine is a heading with a class, or the failures that are like a kind, and near it, or like none, with the reason.
	failureLine = regexp.MustCompile(`(?m)^(?:### (.+)|- (?:\[U\d+\]\(#(u\d+)\)|no, [^:]+): (.+))$`)
	failureName = regexp.MustCompile(`\[([A-Z]+-\d+)\]\(`)
)

// failure is a failure of the page: its name, its class, and the kind that it is like, which is empty if there is none.
type failure struct {
	name, class, kind string
	near              bool
}

func failures() (list []failure) {
	_, text, _ := strings.Cut(failuresPage(), "\n## The failures\n")
	class := ""
	for _, m := range failureLine.FindAllStringSubmatch(text, -1) {
		if m[1] != "" {
			class = m[1]
		}
		same, near, _ := strings.Cut(m[3], "near: ")
		for i, names := range []string{same, near} {
			for _, name := range failureName.FindAllStringSubmatch(names, -1) {
				list = append(list, failure{name[1], class, m[2], i == 1})
			}
		}
	}
	return list
}

// failureCounts counts the failures of the page by their class.
func failureCounts() string {
	type count struct{ all, same, near int }
	var order []string
	counts, total := map[string]*count{}, &count{}
	for _, f := range failures() {
		if counts[f.class] == nil {
			counts[f.class], order = &count{}, append(order, f.class)
		}
		for _, c := range []*count{counts[f.class], total} {
			c.all++
			switch {
			case f.near:
				c.near++
			case f.kind != "":
				c.same++
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Of %d failures, %d are expressed: %d by a mistake of the same kind, %d by one that is near.\n\n", total.all, total.same+total.near, total.same, total.near)
	b.WriteString("| class | failures | same | near | not expressed |\n| --- | --- | --- | --- | --- |\n")
	for _, class := range order {
		c := counts[class]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", class, c.all, c.same, c.near, c.all-c.same-c.near)
	}
	return b.String()
}

// TestUpgradeFailures checks that the page has each of the 96 failures once, and that each kind of mistake that it names
// is seen: its planted bug, or its plan, breaks each of the properties beside it. The plan holds without the words that
// the page names.
func TestUpgradeFailures(t *testing.T) {
	page, seen, like := failuresPage(), map[string]bool{}, map[string]bool{}
	for _, f := range failures() {
		if seen[f.name] {
			t.Errorf("%s stands twice", f.name)
		}
		seen[f.name], like[f.kind] = true, true
	}
	if rows := strings.Count(page, "\n| <a id="); len(seen) != 96 || rows != len(kindRow.FindAllString(page, -1)) {
		t.Errorf("%d failures: expected 96; %d kinds, some of which are not as rows should be", len(seen), rows)
	}
	kinds := kindRow.FindAllStringSubmatch(page, -1)
	for _, k := range kinds {
		if !like[k[1]] {
			t.Errorf("%s: no failure is like it", k[1])
		}
		delete(like, k[1])
	}
	if delete(like, ""); len(like) > 0 {
		t.Errorf("kinds without a row: %v", like)
	}
	for _, k := range sample.Of(kinds, 6) {
		t.Run(k[1], func(t *testing.T) {
			properties := strings.Split(strings.TrimSpace(k[3]), ", ")
			if plan := kindPlan.FindStringSubmatch(k[2]); plan != nil {
				block := regexp.MustCompile("(?s)<a id=\"" + plan[1] + "\"></a>[^\n]*Without `([^`]+)` the plan holds.\n\n```scenario\n(.*?)```").FindStringSubmatch(page)
				if block == nil {
					t.Fatal("its plan is not on the page")
				}
				sound := strings.Replace(block[2], block[1], "", 1)
				if sound == block[2] || seedThatBreaks(t, parsed(t, block[2]), 1, nil, properties...) == 0 {
					t.Errorf("the plan does not break %v", properties)
				}
				if seed := seedThatBreaks(t, parsed(t, sound), 20, nil, properties...); seed != 0 {
					t.Errorf("without %q, seed %d breaks %v, too", block[1], seed, properties)
				}
				return
			}
			bug := kindBug.FindStringSubmatch(k[2])
			if bug == nil {
				t.Fatalf("%q: expected `BUG` in `SCENARIO`, or a plan of the page", k[2])
			}
			s, err := scenario.Lookup(bug[2])
			if err != nil {
				t.Fatal(err)
			}
			for _, property := range properties {
				if seedThatBreaks(t, s, 200, []faults.BugID{faults.BugID(bug[1])}, property) == 0 {
					t.Errorf("%s does not break %s in 200 seeds of %s", bug[1], property, bug[2])
				}
			}
		})
	}
}

func parsed(t *testing.T, text string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("plan.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
