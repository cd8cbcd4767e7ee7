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
	// failureRow is a failure: its name, its class, and either the kind that it is like ("near" stands before it) or why not.
	failureRow = regexp.MustCompile(`(?m)^\| \[([A-Z]+-\d+)\]\(\S+\) \| ([^|]+) \| [^|]+ \| (?:(near )?\[U\d+\]\(#(u\d+)\)|no: [^|]+) \|$`)
)

// failureCounts counts the failures of the page by their class.
func failureCounts() string {
	type count struct{ all, same, near int }
	var order []string
	counts, total := map[string]*count{}, &count{}
	for _, m := range failureRow.FindAllStringSubmatch(failuresPage(), -1) {
		if counts[m[2]] == nil {
			counts[m[2]], order = &count{}, append(order, m[2])
		}
		for _, c := range []*count{counts[m[2]], total} {
			c.all++
			switch {
			case m[3] != "":
				c.near++
			case m[4] != "":
				c.same++
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Of %d failures, %d are expressed: %d by a mistake of the same kind, %d by one that is near. The rows of the other %d say why they are not.\n\n",
		total.all, total.same+total.near, total.same, total.near, total.all-total.same-total.near)
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
	for _, m := range failureRow.FindAllStringSubmatch(page, -1) {
		if seen[m[1]] {
			t.Errorf("%s has two rows", m[1])
		}
		seen[m[1]], like[m[4]] = true, true
	}
	if rows := strings.Count(page, "\n| [") + strings.Count(page, "\n| <a id="); len(seen) != 96 || rows != len(seen)+len(kindRow.FindAllString(page, -1)) {
		t.Errorf("%d failures: expected 96; %d rows, some of which are not as rows should be", len(seen), rows)
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
