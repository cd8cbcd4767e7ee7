package conformance_test

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties/conformance"
)

// TestWalkIsMadeShorter checks that a walk that found a mistake is reduced to the few calls that it needs.
func TestWalkIsMadeShorter(t *testing.T) {
	for _, c := range []struct {
		bug  faults.BugID
		most int
	}{
		{"provider/first-count", 8}, {"provider/session-owner-ignored", 4}, {"provider/filter-ignored", 2},
		{"provider/tags-ignored", 2},
	} {
		tables := sample.Must(faults.NewTables(c.bug))(t)
		got := conformance.Ask(memory(tables.Provider), "BP-157")[0].Failure
		story, _, _ := strings.Cut(got, "\n\nwalk ")
		if calls := strings.Count(story, "\n    "); calls == 0 || calls > c.most {
			t.Errorf("%s: %d calls, expected 1 to %d:\n%s", c.bug, calls, c.most, got)
		}
	}
}
