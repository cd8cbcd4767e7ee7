package memprovider_test

import (
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
		right := newWorld(memprovider.Options{}).play(t, d.Input)
		wrong := newWorld(memprovider.Options{Rules: wrongBy(faults.BugID(bug))}).play(t, d.Input)
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

// beside writes the steps of one script with their results, those that differ as RIGHT | WRONG.
func beside(right, wrong []step) string {
	for i := range right {
		if right[i].result != wrong[i].result {
			right[i].result = strings.Trim(right[i].result+" | "+wrong[i].result, " ")
		}
	}
	return text(right)
}

// wrongBy returns the rules of a store with planted bugs.
func wrongBy(ids ...faults.BugID) *memprovider.Rules {
	tables, err := faults.NewTables(ids...)
	if err != nil {
		panic(err)
	}
	return tables.Provider
}
