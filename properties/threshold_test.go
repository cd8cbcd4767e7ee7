package properties_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/scenario"
)

// thresholdWork is the work that the clusters in this file do: waits that are dropped as their events arrive, loops,
// messages carried over by a continue-as-new, and families.
const thresholdWork = `
faults light
load 24 instances from 1s over 30s
  mix 4 Doorman with 3
    raise knock after 300ms
    raise knock after 1s..3s
    raise knock after 3s..5s
    raise knock after 5s..8s
  mix 3 Picky with 2
    enqueue offers data one after 300ms
    enqueue offers data two after 2s
  mix 3 Ledger with 7
    enqueue entries data m1 after 1100ms
    enqueue entries data m2 after 1200ms
    enqueue entries data m3 after 1300ms
    enqueue entries data m4 after 1400ms
    enqueue entries data m5 after 1500ms
    enqueue entries data m6 after 1600ms
    enqueue entries data m7 after 1700ms
`

// Each of these builds differs in one respect that no event kind shows.
const (
	newSemantics = "build 0.1.30 like 1.5.0\nbuild 0.1.32 like 1.5.0\n  semantics discard from 0.1.31\n"
	newLimits    = "build 0.1.30 like 1.5.0\n  limits carried 2\nbuild 0.1.32 like 1.5.0\n  limits carried 100\n"
	newFields    = "build 0.1.30 like 1.5.0\n  lacks initial-custom-status\nbuild 0.1.32 like 1.5.0\n"
)

// TestThreshold checks that a difference between builds shows only where both builds run the same work, either because
// an operator lets them or because of the difference itself. Clusters with a single build pass, and so does a mix in
// which old nodes leave alone what new nodes began.
func TestThreshold(t *testing.T) {
	const nodes, upgrade = "nodes A B run 0.1.30\nnode C runs %s\n", "at 12s upgrade A to 0.1.32\nat 22s upgrade C to 0.1.32\nat 32s upgrade B to 0.1.32\n"
	first := fmt.Sprintf(nodes, "0.1.30")
	for _, c := range []struct {
		name, builds, story string
		breaks              []string // any one of these must be violated; nil if everything must hold
	}{
		{"semantics, old", newSemantics, first, nil},
		{"semantics, new", newSemantics, strings.ReplaceAll(first, "0.1.30", "0.1.32"), nil},
		{"semantics, rolling", newSemantics, first + upgrade, nil},
		{"semantics, the first node is rolled back", newSemantics, first + "at 12s upgrade A to 0.1.32\nat 20s rollback A to 0.1.30\nat 34s upgrade A to 0.1.32\n", nil},
		{"semantics, an old node is widened", newSemantics, fmt.Sprintf(nodes, "0.1.32") + "at 5s widen B to >=0.0.0, <=99.0.0\n", []string{"S10"}},
		{"limits, old", newLimits, first, nil},
		{"limits, new", newLimits, strings.ReplaceAll(first, "0.1.30", "0.1.32"), nil},
		{"limits, mixed", newLimits, fmt.Sprintf(nodes, "0.1.32"), nil},
		{"limits, mixed, of a release", "bug duroxide-0.1.26/carried-on-dropped\n" + newLimits, fmt.Sprintf(nodes, "0.1.32"), []string{"S17", "outcome"}},
		{"fields, new", newFields, strings.ReplaceAll(first, "0.1.30", "0.1.32"), nil},
		{"fields, mixed", newFields, fmt.Sprintf(nodes, "0.1.32"), []string{"S17", "outcome"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sample.Must(scenario.Parse("threshold.txt", []byte("scenario threshold\nfault-phase 45s\n"+c.builds+c.story+thresholdWork)))(t)
			most := sample.Number(2, 30)
			if c.breaks != nil {
				most = caughtWithin
			}
			for seed := uint64(1); seed <= most; seed++ {
				for _, v := range runWith(t, s, seed) {
					if c.breaks == nil {
						t.Fatalf("seed %d: %s: %s", seed, v.Property, v.Message)
					}
					for _, id := range c.breaks {
						if v.Property == id {
							return
						}
					}
				}
			}
			if c.breaks != nil {
				t.Errorf("none of %v is broken in %d seeds", c.breaks, most)
			}
		})
	}
}
