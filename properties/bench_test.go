package properties_test

import (
	"testing"

	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// BenchmarkRollingUpgrade runs the default scenario on one core, with all checkers and with none: an operation is a seed.
func BenchmarkRollingUpgrade(b *testing.B) {
	s, err := scenario.Lookup("rolling-upgrade")
	if err != nil {
		b.Fatal(err)
	}
	for _, watched := range []bool{true, false} {
		name := "watched"
		if !watched {
			name = "unwatched"
		}
		b.Run(name, func(b *testing.B) {
			var steps, turns uint64
			var virtual int64
			seed := uint64(0)
			b.ReportAllocs()
			for b.Loop() {
				seed++
				plan, err := s.Expand(seed, scenario.Overrides{})
				if err != nil {
					b.Fatal(err)
				}
				cfg := cluster.Config{Plan: plan, Seed: seed}
				if watched {
					cfg.Monitor = func(w *cluster.World) cluster.Monitor {
						return properties.New(w, properties.Options{Expectations: s.Expect})
					}
				}
				r, err := cluster.Run(cfg)
				if err != nil {
					b.Fatal(err)
				}
				steps, turns, virtual = steps+r.Steps, turns+r.Turns, virtual+r.Virtual
			}
			seconds := b.Elapsed().Seconds()
			b.ReportMetric(float64(b.N)/seconds, "seeds/s")
			b.ReportMetric(float64(steps)/seconds, "steps/s")
			b.ReportMetric(float64(turns)/seconds, "turns/s")
			b.ReportMetric(float64(virtual)/1000/seconds, "virtual-s/s")
		})
	}
}
