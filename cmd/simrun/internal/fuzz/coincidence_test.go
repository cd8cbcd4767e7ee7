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
var coincidences = []struct {
	bug   faults.BugID
	plain uint64
}{
	{"provider/expiry-not-checked", 1500}, {"engine/poisons-terminal", 2000}, {"provider/contextless-batch-blocks", 2000},
	{"provider/ack-checks-early", 4200}, {"duroxide-0.1.26/poison-on-old-execution", 5300},
	{"engine/renewal-error-cancels-activity", 6800}, {"engine/completion-before-history-order", 7500},
	{"provider/renewal-after-expiry", 8000},
}

// TestCoincidencesAreFound checks that hunts find these bugs sooner than plain seeds do: of ten hunts, each with a
// tenth as many runs, at least one. It counts runs rather than time.
func TestCoincidencesAreFound(t *testing.T) {
	for _, row := range sample.Of(coincidences, len(coincidences)) {
		t.Run(string(row.bug), func(t *testing.T) {
			bug, ok := faults.Lookup(row.bug)
			if !ok {
				t.Fatal("there is no such bug")
			}
			o := hunting(t, row.bug)
			o.Runs, o.First = row.plain/10, true
			r := run(t, o)
			for len(r.Finds) == 0 {
				if o.Seed++; o.Seed > 10 {
					t.Fatalf("ten hunts of %d runs found nothing", o.Runs)
				}
				r = run(t, o)
			}
			t.Logf("found in run %d of hunt %d", r.Runs, o.Seed)
			if v := r.Finds[0].Violation; !slices.Contains(bug.Properties, v.Property) {
				t.Logf("by %s, not one of %v: %s", v.Property, bug.Properties, v.Message)
			}
			if !sample.All() {
				return
			}
			sum := sample.Must(campaign.Run(campaign.Options{
				Plan: o.Plain, Config: func() cluster.Config { return cluster.Config{Monitor: contract} }, First: 1, Count: 100,
			}))(t)
			if len(sum.Violations) > 0 {
				t.Errorf("plain seed %d shows it, too: %s", sum.Violations[0].Seed, sum.Violations[0].Message)
			}
		})
	}
}
