package properties_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/scenario"
)

// situations is how many corner cases docs/contract/runtime.md#r13 has.
const situations = 66

// TestSituations checks that each situation that a scenario can express ends as the contract says. With the bugs that
// its file names, it must end differently. Where 0.1.26 deviates, these are the switches of 0.1.26.
func TestSituations(t *testing.T) {
	for _, n := range sample.Of(scenario.Situations(), 3) {
		t.Run(n.Name, func(t *testing.T) {
			t.Parallel()
			parseSmall(t, n.File, string(n.Text)).check(t)
		})
	}
}

// elsewhere lists the situations that no scenario can express. For each of them, it names the file that tests the
// situation instead, relative to the module's root, and a line that the file must contain. Stories in engine/replay
// and engine/node are run by the tests of their packages; a story whose name ends in -bug shows what 0.1.26 does.
var elsewhere = []struct {
	number     int
	file, line string
}{
	// The handler returns after continuing as new.
	{23, "engine/replay/testdata/continue-and-return.txt", "code continue-and-return"},
	// There are more messages than a continue-as-new may carry over.
	{26, "engine/replay/testdata/carry-forward-limit.txt", "QueueMessage Name=b Data=22"},
	// A node does not have the activity.
	{57, "engine/machine/testdata/worker.txt", "work0 decides work-no-handler: a/1 count 3, back in 4s, because activity missing: unknown"},
	// Scenarios do not delete instances.
	{64, "properties/conformance/cases/05-deletion.txt", "DL-06 force_delete_prevents_ack_recreation"},
	// A turn never comes to rest.
	{66, "engine/replay/nondeterminism_test.go", "func TestQuiescenceCapOfDequeues(t *testing.T) {"},
}

// TestEverySituationIsHeld checks that each of the 66 situations has a scenario, or a story elsewhere.
func TestEverySituationIsHeld(t *testing.T) {
	held := map[int]bool{}
	for _, n := range scenario.Situations() {
		number, _, _ := strings.Cut(n.Name, "-")
		i, err := strconv.Atoi(number)
		if err != nil || len(number) != 2 || i < 1 || i > situations {
			t.Errorf("%s: expected the name to begin with a number of two digits from 01 to %d", n.File, situations)
			continue
		}
		if want := fmt.Sprintf("Situation %d: ", i); !strings.HasPrefix(n.Title, want) {
			t.Errorf("%s: the title is %q, expected it to begin with %q", n.File, n.Title, want)
		}
		held[i] = true
	}
	for _, e := range elsewhere {
		text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(e.file)))
		if err != nil {
			t.Errorf("situation %d: %v", e.number, err)
			continue
		}
		if !slices.Contains(strings.Split(string(text), "\n"), e.line) {
			t.Errorf("situation %d: %s has no line %q", e.number, e.file, e.line)
		}
		held[e.number] = true
	}
	for i := 1; i <= situations; i++ {
		if !held[i] {
			t.Errorf("situation %d is not held: expected a file sim/scenario/situations/%02d-NAME.txt, or a place elsewhere", i, i)
		}
	}
}

// harmful lists the situations that the contract marks as harmful in 0.1.26 and decides differently. (It also marks
// number 6, but leaves it as it is: a batch has a single count.)
var harmful = []int{4, 8, 13, 15, 16, 18, 19, 20, 24, 25, 27, 28, 29, 44, 45, 51, 56, 58}

// TestHarmOf0126IsShown checks that each of these situations names the 0.1.26 switch that shows it. TestSituations
// checks that the switch does harm.
func TestHarmOf0126IsShown(t *testing.T) {
	for _, i := range harmful {
		shown := false
		for _, n := range scenario.Situations() {
			list, err := deviations(string(n.Text))
			if err != nil {
				t.Fatalf("%s: %v", n.File, err)
			}
			shown = shown || strings.HasPrefix(n.Name, fmt.Sprintf("%02d-", i)) && slices.ContainsFunc(list, func(d deviation) bool {
				return len(d.bugs) > 0 && strings.HasPrefix(string(d.bugs[0]), faults.ProfileFamily)
			})
		}
		if !shown {
			t.Errorf("situation %d names no switch %s…", i, faults.ProfileFamily)
		}
	}
}
