package fuzz_test

import (
	"slices"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
)

// coincidences lists planted bugs that plain seeds of the operator's scenario do not show, and whose smallest known
// plans need at least three coincidences. Plain is a number of plain seeds, starting at 1, none of which shows the bug.
// A hunt must find the bug in a tenth as many runs.
var coincidences = []struct {
	bug   faults.BugID
	plain uint64
	seed  uint64 // of the hunt
}{
	{"engine/stale-completion-accepted", 1500, 2},
	{"provider/expiry-not-checked", 1500, 1},
	{"engine/poisons-terminal", 2000, 1},
	{"provider/contextless-batch-blocks", 2000, 1},
	{"provider/ack-checks-early", 4200, 3},
	{"duroxide-0.1.26/poison-on-old-execution", 5300, 1},
	{"engine/renewal-error-cancels-activity", 6800, 2},
	{"engine/completion-before-history-order", 7500, 1},
	{"provider/renewal-after-expiry", 8000, 1},
}

// TestCoincidencesAreFound checks that a hunt finds these bugs ten times sooner than plain seeds do. It counts runs
// rather than time.
func TestCoincidencesAreFound(t *testing.T) {
	for _, row := range sample.Of(coincidences, len(coincidences)) {
		t.Run(string(row.bug), func(t *testing.T) {
			bug, ok := faults.Lookup(row.bug)
			if !ok {
				t.Fatal("there is no such bug")
			}
			o := hunting(t, row.bug)
			o.Runs, o.First, o.Seed = row.plain/10, true, row.seed
			r := run(t, o)
			if len(r.Finds) == 0 {
				t.Fatalf("%d runs found nothing", r.Runs)
			}
			t.Logf("found in run %d", r.Runs)
			if v := r.Finds[0].Violation; !slices.Contains(bug.Properties, v.Property) {
				t.Logf("by %s, not one of %v: %s", v.Property, bug.Properties, v.Message)
			}
			if !sample.All() {
				return
			}
			sum, err := campaign.Run(campaign.Options{
				Plan: o.Plain, Config: func() cluster.Config { return cluster.Config{Monitor: contract} }, First: 1, Count: 100,
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(sum.Violations) > 0 {
				t.Errorf("plain seed %d shows it, too: %s", sum.Violations[0].Seed, sum.Violations[0].Message)
			}
		})
	}
}
