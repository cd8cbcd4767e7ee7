package conformance_test

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties/conformance"
)

// caughtBy names the case that fails for each planted bug in a store. If no case can, it gives the reason after a dash.
//
//go:embed testdata/bugs.txt
var caughtBy string

// TestEveryBugIsCaught runs the named case against a store with each planted bug. A random walk finds most of the bugs,
// too, but explains less.
func TestEveryBugIsCaught(t *testing.T) {
	bugs := faults.BugsOf("memprovider")
	lines := strings.Split(strings.TrimSpace(caughtBy), "\n")
	for _, line := range lines {
		id, by, _ := strings.Cut(line, " ")
		if !slices.ContainsFunc(bugs, func(b faults.Bug) bool { return string(b.ID) == id }) {
			t.Errorf("%s: there is no such bug of a store", id)
			continue
		}
		if why, none := strings.CutPrefix(by, "- "); none {
			if why == "" {
				t.Errorf("%s: neither a case nor a reason", id)
			}
			continue
		}
		tables := sample.Must(faults.NewTables(faults.BugID(id)))(t)
		if by == "BP-157" {
			t.Errorf("%s: a random walk is no case with a name", id)
		}
		if r := conformance.Ask(memory(tables.Provider), by)[0]; r.Failure == "" {
			t.Errorf("%s: %s passes %s", id, by, r.Skipped)
		}
	}
	if len(lines) != len(bugs) {
		t.Errorf("%d bugs in the table, there are %d", len(lines), len(bugs))
	}
}
