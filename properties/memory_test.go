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
			s, err := scenario.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := s.Expand(seed, scenario.Overrides{})
			if err != nil {
				t.Fatal(err)
			}
			config := cluster.Config{Plan: plan, Seed: seed, Monitor: func(w *cluster.World) cluster.Monitor {
				return properties.New(w, properties.Options{Expectations: s.Expect})
			}}
			for _, m := range []*cluster.Arena{nil, &memory} {
				config.Arena = m
				result, err := cluster.Run(config)
				if err != nil {
					t.Fatal(err)
				}
				if m == nil {
					alone = append(alone, result)
				} else {
					shared = append(shared, result)
				}
			}
		}
	}
	if diff := cmp.Diff(alone, shared); diff != "" {
		t.Error(diff)
	}
}
