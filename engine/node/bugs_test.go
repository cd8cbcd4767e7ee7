package node

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/internal/bugs"
)

func ExampleBugs() {
	for _, b := range Bugs()[:2] {
		fmt.Println(b.ID + ": " + bugs.ID(b.Summary))
	}
	// Output:
	// duroxide-0.1.26/corrupted-parent-not-told: the poison of an undecodable history does not tell the parent (10.2)
	// duroxide-0.1.26/duplicate-start-code: a duplicate start of a running instance brings its own handler and version (13.5 56)
}

func ExampleRulesWith() {
	right, wrong := DefaultRules(), RulesWith(bugs.New("engine/poison-off-by-one"))
	fmt.Println(right.ExceedsMaxAttempts(10, 10), wrong.ExceedsMaxAttempts(10, 10))
	// Output: false true
}

// TestBugsAreSmall: sorted, unique, told in a few words, each at one place.
func TestBugsAreSmall(t *testing.T) {
	all := Bugs()
	if !slices.IsSortedFunc(all, func(a, b Bug) int { return strings.Compare(string(a.ID), string(b.ID)) }) {
		t.Error("the bugs are not sorted")
	}
	for _, b := range all {
		rules, with := reflect.ValueOf(*DefaultRules()), reflect.ValueOf(*RulesWith(bugs.New(b.ID)))
		changed := 0
		for i := range rules.NumField() {
			if rules.Field(i).Kind() == reflect.Func {
				if rules.Field(i).Pointer() != with.Field(i).Pointer() {
					changed++
				}
			} else if !reflect.DeepEqual(rules.Field(i).Interface(), with.Field(i).Interface()) {
				changed++
			}
		}
		if changed != 1 || b.Summary == "" {
			t.Errorf("%s replaces %d rules, want 1", b.ID, changed)
		}
	}
}

// TestBugsChangeSomething: every bug has its block in testdata/bugs.txt, and the block differs without the bug.
func TestBugsChangeSomething(t *testing.T) {
	shown := map[bugs.ID]bool{}
	d := &driver{}
	datadriven.RunTest(t, "testdata/bugs.txt", func(t *testing.T, block *datadriven.TestData) string {
		i := slices.IndexFunc(block.CmdArgs, func(a datadriven.CmdArg) bool { return a.Key == "bug" })
		if i < 0 {
			return block.Expected
		}
		bug := block.CmdArgs[i].Vals[0]
		shown[bugs.ID(bug)] = true
		block.CmdArgs = slices.Delete(block.CmdArgs, i, i+1)
		// Without the bug a script may take another turn, and answer what was never asked; that is a difference, too.
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
	for _, b := range Bugs() {
		if !shown[b.ID] {
			t.Errorf("%s is not in testdata/bugs.txt", b.ID)
		}
	}
}

// TestProfileOrder: the bugs of 0.1.26 that concern the order of the tests give its order together.
func TestProfileOrder(t *testing.T) {
	got := RulesWith(bugs.New("duroxide-0.1.26/version-check-first", "engine/poisons-terminal")).Order
	want := []Test{TestIncompatible, TestPoison, TestHistoryError, TestTerminal, TestWaitForStart, TestHandler}
	if !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}
