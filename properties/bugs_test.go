package properties_test

import (
	"slices"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// caughtWithin is how many seeds it may take to catch a bug in its scenario.
const caughtWithin = 200

// TestEachBugIsCaught checks that within a few seeds of the scenario that the catalogue names for a planted bug, the
// bug violates a property that the catalogue names for it.
func TestEachBugIsCaught(t *testing.T) {
	for _, bug := range sample.Of(faults.Catalogue(), 24) {
		t.Run(string(bug.ID), func(t *testing.T) {
			s := lookup(t, bug.Scenario)
			for seed := uint64(1); seed <= caughtWithin; seed++ {
				for _, v := range runWith(t, s, seed, bug.ID) {
					if slices.Contains(bug.Properties, v.Property) {
						return
					}
				}
			}
			t.Errorf("%s breaks none of %v in %d seeds of %s", bug.ID, bug.Properties, caughtWithin, bug.Scenario)
		})
	}
}

func runWith(t *testing.T, s *scenario.Scenario, seed uint64, on ...faults.BugID) []cluster.Violation {
	t.Helper()
	return run(t, config(t, s, seed, scenario.Overrides{Bugs: on}, properties.Options{})).Violations
}

// TestEachPropertyCatchesABug checks that each property is violated by some planted bug. A property for which there is
// none would be useless.
func TestEachPropertyCatchesABug(t *testing.T) {
	for _, p := range properties.Catalogue() {
		if !slices.ContainsFunc(faults.Catalogue(), func(b faults.Bug) bool { return slices.Contains(b.Properties, p.ID) }) {
			t.Errorf("no planted bug is expected to break %s", p)
		}
	}
}
