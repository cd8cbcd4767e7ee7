package memprovider_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/memprovider"
)

// TestEachBugShows plays the script of each planted bug on a correct store and on one with the bug. The block in
// testdata/bugs.txt has both results.
func TestEachBugShows(t *testing.T) {
	shown := map[string]bool{} // looked up only
	datadriven.RunTest(t, "testdata/bugs.txt", func(t *testing.T, d *datadriven.TestData) string {
		bug := d.CmdArgs[0].Key
		shown[bug] = true
		right := newWorld(memprovider.Options{}).Play(d.Expected)
		wrong := newWorld(memprovider.Options{Rules: wrongBy(faults.BugID(bug))}).Play(d.Expected)
		return beside(right, wrong)
	})
	for _, b := range faults.BugsOf("memprovider") {
		if !shown[string(b.ID)] {
			t.Errorf("%s has no block in testdata/bugs.txt", b.ID)
		}
	}
}

// TestBugsMakeADifference checks that every block of testdata/bugs.txt differs with and without the bug.
func TestBugsMakeADifference(t *testing.T) {
	datadriven.RunTest(t, "testdata/bugs.txt", func(t *testing.T, d *datadriven.TestData) string {
		if !strings.Contains(d.Expected, "|") {
			d.Fatalf(t, "no difference")
		}
		return d.Expected
	})
}

// beside writes a script with its answers, those that differ as RIGHT | WRONG.
func beside(right, wrong string) string {
	lines, others := strings.Split(right, "\n"), strings.Split(wrong, "\n")
	for i, line := range lines {
		if line != others[i] {
			op, answer, _ := strings.Cut(line, " -> ")
			_, other, _ := strings.Cut(others[i], " -> ")
			lines[i] = op + " -> " + cmp.Or(answer, "ok") + " | " + cmp.Or(other, "ok")
		}
	}
	return strings.Join(lines, "\n")
}

// wrongBy returns the rules of a store with planted bugs.
func wrongBy(ids ...faults.BugID) *memprovider.Rules {
	tables, err := faults.NewTables(ids...)
	if err != nil {
		panic(err)
	}
	return tables.Provider
}
