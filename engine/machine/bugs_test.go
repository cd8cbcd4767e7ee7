package machine

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// PlantedBugs lists the ids of this package's bugs, and RulesWith returns the rules with some of them turned on.
// TestMain sets both.
var (
	PlantedBugs []string
	RulesWith   func(ids ...string) *Rules
)

// TestBugsChangeSomething checks that every bug has a block in testdata/bugs.txt whose output changes without the bug.
func TestBugsChangeSomething(t *testing.T) {
	shown := map[string]bool{}
	d := &driver{}
	datadriven.RunTest(t, "testdata/bugs.txt", func(t *testing.T, block *datadriven.TestData) string {
		i := slices.IndexFunc(block.CmdArgs, func(a datadriven.CmdArg) bool { return a.Key == "bug" })
		if i < 0 {
			return block.Expected
		}
		bug := block.CmdArgs[i].Vals[0]
		shown[bug] = true
		block.CmdArgs = slices.Delete(block.CmdArgs, i, i+1)
		// Without the bug, a script may take a different course and answer calls that were never made. That also counts
		// as a difference.
		right := func() (text string) {
			defer func() {
				if p := recover(); p != nil {
					text = fmt.Sprint(p)
				}
			}()
			return d.runBlock(t, block)
		}()
		if right == block.Expected {
			t.Errorf("%s changes nothing", bug)
		}
		return block.Expected
	})
	for _, id := range PlantedBugs {
		if !shown[id] {
			t.Errorf("%s is not in testdata/bugs.txt", id)
		}
	}
}

// TestProfileOrder checks that the 0.1.26 bugs that affect the order of the tests together produce that release's
// order.
func TestProfileOrder(t *testing.T) {
	got := RulesWith("duroxide-0.1.26/version-check-first", "engine/poisons-terminal").Order
	want := []Test{TestIncompatible, TestPoison, TestHistoryError, TestTerminal, TestWaitForStart, TestHandler}
	if !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}
