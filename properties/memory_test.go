package properties_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// TestArenaIsMemoryAlone checks that sharing an Arena does not change the results of runs, even when later runs have
// used it.
func TestArenaIsMemoryAlone(t *testing.T) {
	var memory cluster.Arena
	var alone, shared []*cluster.Result
	for seed := range uint64(2) {
		for _, name := range []string{"features", "sessions", "damaged-histories", "poisoned-collisions"} {
			s := lookup(t, name)
			cfg := config(t, s, seed, scenario.Overrides{}, properties.Options{Expectations: s.Expect})
			alone = append(alone, run(t, cfg))
			cfg.Arena = &memory
			shared = append(shared, run(t, cfg))
		}
	}
	if diff := cmp.Diff(alone, shared); diff != "" {
		t.Error(diff)
	}
}
