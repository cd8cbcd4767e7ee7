package properties_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
)

// rollingUpgrade runs seeds of the default scenario and adds up their results.
type rollingUpgrade struct {
	s            *scenario.Scenario
	memory       cluster.Arena
	steps, turns uint64
	virtual      int64
}

func newRollingUpgrade(b *testing.B) *rollingUpgrade {
	b.Cleanup(campaign.CollectLess())
	return &rollingUpgrade{s: lookup(b, "rolling-upgrade")}
}

func (u *rollingUpgrade) plan(seed uint64) (*plan.Plan, error) {
	return u.s.Expand(seed, scenario.Overrides{})
}

func (u *rollingUpgrade) monitor(w *cluster.World) cluster.Monitor {
	return properties.New(w, properties.Options{Expectations: u.s.Expect})
}

func (u *rollingUpgrade) run(b *testing.B, seed uint64, watched bool) {
	plan := sample.Must(u.plan(seed))(b)
	cfg := cluster.Config{Plan: plan, Seed: seed, Arena: &u.memory}
	if watched {
		cfg.Monitor = u.monitor
	}
	r := run(b, cfg)
	u.steps, u.turns, u.virtual = u.steps+r.Steps, u.turns+r.Turns, u.virtual+r.Virtual
}

// report reports the rates for these seeds, and the allocations made since before was recorded.
func (u *rollingUpgrade) report(b *testing.B, seeds int, before *runtime.MemStats) {
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	seconds, steps := b.Elapsed().Seconds(), float64(u.steps)
	b.ReportMetric(float64(seeds)/seconds, "seeds/s")
	b.ReportMetric(steps/seconds, "steps/s")
	b.ReportMetric(float64(u.turns)/seconds, "turns/s")
	b.ReportMetric(float64(u.virtual)/1000/seconds, "virtual-s/s")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/steps, "B/step")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/steps, "allocs/step")
}

// BenchmarkRollingUpgrade runs the default scenario on one core, alternating between all checkers and none in order to
// find the checkers' share. It also runs it as a campaign on all cores. Compare unwatched with BenchmarkWorkload in
// sim/cluster.
func BenchmarkRollingUpgrade(b *testing.B) {
	for _, c := range []struct {
		name    string
		watched bool
	}{{"watched", true}, {"unwatched", false}} {
		b.Run(c.name, func(b *testing.B) {
			u, seed := newRollingUpgrade(b), uint64(0)
			var before runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				seed++
				u.run(b, seed, c.watched)
			}
			u.report(b, b.N, &before)
		})
	}
	b.Run("checkers-share", func(b *testing.B) {
		u, seed := newRollingUpgrade(b), uint64(0)
		var watched, unwatched time.Duration
		for b.Loop() {
			seed++
			for i := range 2 {
				began := time.Now()
				if with := (seed+uint64(i))%2 == 0; with {
					u.run(b, seed, true)
					watched += time.Since(began)
				} else {
					u.run(b, seed, false)
					unwatched += time.Since(began)
				}
			}
		}
		b.ReportMetric(100*float64(watched-unwatched)/float64(watched), "checkers-%")
	})
	b.Run("campaign", func(b *testing.B) {
		u, seeds := newRollingUpgrade(b), 0
		var before runtime.MemStats
		runtime.ReadMemStats(&before)
		const batch = 64
		for b.Loop() {
			sum := sample.Must(campaign.Run(campaign.Options{
				Plan: u.plan, Config: func() cluster.Config { return cluster.Config{Monitor: u.monitor} }, First: uint64(seeds) + 1, Count: batch, KeepGoing: true,
			}))(b)
			seeds += batch
			u.steps, u.turns, u.virtual = u.steps+sum.Steps, u.turns+sum.Turns, u.virtual+sum.Virtual
		}
		u.report(b, seeds, &before)
	})
}
