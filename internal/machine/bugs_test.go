package machine

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// PlantedBugs are the ids of the bugs of this package, and RulesWith makes the rules with some of them; TestMain sets both.
var (
	PlantedBugs []string
	RulesWith   func(ids ...string) *Rules
)

// TestBugsChangeSomething checks that every bug has a block in testdata/bugs.txt, which differs without the bug.
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
		// Without the bug a script may take another course, and answer calls that were never made; that is a difference,
		// too.
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

// TestProfileOrder checks that the 0.1.26 bugs that concern the order of checks together give that release's order.
func TestProfileOrder(t *testing.T) {
	got := RulesWith("duroxide-0.1.26/version-check-first", "engine/poisons-terminal").Order
	want := []Test{TestIncompatible, TestPoison, TestHistoryError, TestTerminal, TestWaitForStart, TestHandler}
	if !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}
