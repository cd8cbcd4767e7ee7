package properties_test

import (
	"testing"

	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

func TestMain(m *testing.M) { sample.Main(m) }

func lookup(t testing.TB, name string) *scenario.Scenario {
	t.Helper()
	return sample.Must(scenario.Lookup(name))(t)
}

// config returns a run of a seed of a scenario, under the properties that the options name.
func config(t testing.TB, s *scenario.Scenario, seed uint64, over scenario.Overrides, o properties.Options) cluster.Config {
	t.Helper()
	plan, err := s.Expand(seed, over)
	if err != nil {
		t.Fatalf("seed %d of %s: %v", seed, s.Name, err)
	}
	return cluster.Config{Plan: plan, Seed: seed, Monitor: func(w *cluster.World) cluster.Monitor { return properties.New(w, o) }}
}

func run(t testing.TB, cfg cluster.Config) *cluster.Result {
	t.Helper()
	r, err := cluster.Run(cfg)
	if err != nil {
		t.Fatalf("seed %d of %s: %v", cfg.Seed, cfg.Plan.Name, err)
	}
	return r
}
