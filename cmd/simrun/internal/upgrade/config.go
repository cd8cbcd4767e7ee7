package upgrade

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/durosim/durosim/cmd/simrun/internal/snapshot"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/internal/campaign"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/workload"
)

// Config configures the trial of an upgrade: the scenario, the contents of the store, and the seeds.
type Config struct {
	Scenario  *scenario.Scenario
	Overrides scenario.Overrides
	// Snapshot, if not nil, provides the initial contents of the store.
	Snapshot *snapshot.Snapshot
	// Builds lists the known builds. The scenario may declare more.
	Builds []*engine.Build
	// NewRun returns the state for a single run. Nil means a run with the shipped handlers.
	NewRun func() properties.Run
	// Releases has the same meaning as in cluster.Config.
	Releases cluster.Releases
	// First is the first seed of each campaign, and Seeds is the number of seeds.
	First, Seeds uint64
	// Context, if not nil, can interrupt the work. The error is then the context's error.
	Context context.Context
	// OnProgress, if not nil, is called with the number of finished runs and the total.
	OnProgress func(done, total uint64)

	_ struct{} // forces callers to name the fields, because more may be added
}

// trial is a campaign with one variant of the plan.
type trial struct {
	cfg *Config
	// change turns p into the variant, in place. Nil means no change.
	change func(p *plan.Plan)
	// own makes the runs check the scenario's own expectations.
	own  bool
	done func()
}

// Plan returns seed's plan, including the contents of the store.
func (c *Config) Plan(seed uint64) (*plan.Plan, error) {
	p, err := c.Scenario.Expand(seed, c.Overrides)
	if err != nil || c.Snapshot == nil {
		return p, err
	}
	p.Contents = c.awake(p)
	named := map[string]bool{}
	for i := range p.Instances {
		in := &p.Instances[i]
		named[in.ID] = true
		if p.Contents.Instance(in.ID) != nil { // this instance is already in the store; the scenario only adds client actions
			in.Existing, in.StartAt = true, 0
		}
	}
	for _, in := range c.Snapshot.Instances() {
		if !named[in.ID] {
			p.Instances = append(p.Instances, in)
		}
	}
	return p, nil
}

// awake returns the contents of the store for plan p. Messages that are due more than a minute after the last step
// become due one minute after it, so that every instance wakes up in the upgraded cluster.
func (c *Config) awake(p *plan.Plan) *plan.Contents {
	latest := time.Minute
	for i := range p.Schedule {
		latest = max(latest, p.Schedule[i].At+time.Minute)
	}
	s := &plan.Contents{Instances: c.Snapshot.Store.Instances, Messages: slices.Clone(c.Snapshot.Store.Messages)}
	for i := range s.Messages {
		s.Messages[i].Delay = min(s.Messages[i].Delay, latest)
	}
	return s
}

// handlers returns a function that registers the run's handlers, plus stand-ins for the work in the store.
func (c *Config) handlers(own func(*node.Registry, *engine.Build) error) func(*node.Registry, *engine.Build) error {
	keep := own != nil
	if own == nil {
		own = workload.Handlers
	}
	if c.Snapshot == nil {
		return own
	}
	return func(r *node.Registry, b *engine.Build) error {
		if err := own(r, b); err != nil {
			return err
		}
		return c.Snapshot.StandIns(r, keep)
	}
}

// Run returns the configuration for running p with seed.
func (c *Config) Run(p *plan.Plan, seed uint64, expectations []plan.Expectation) cluster.Config {
	cfg := cluster.Config{Plan: p, Seed: seed, Builds: c.Builds, Releases: c.Releases}
	run := properties.Run{}
	if c.NewRun != nil {
		run = c.NewRun()
	}
	run.Handlers = c.handlers(run.Handlers)
	run.Configure(&cfg, properties.Options{UserOnly: true, Expectations: expectations})
	return cfg
}

// run runs the trial and passes each result to see.
func (t *trial) run(seeds uint64, see func(p *plan.Plan, r *cluster.Result)) (*campaign.Summary, error) {
	c := t.cfg
	expansion := func(seed uint64) (*plan.Plan, error) {
		p, err := c.Plan(seed)
		if err == nil && t.change != nil {
			t.change(p)
		}
		return p, err
	}
	var expectations []plan.Expectation
	if t.own {
		expectations = c.Scenario.Expect
	}
	sum, err := campaign.Run(campaign.Options{
		Plan: expansion, First: c.First, Count: seeds, KeepGoing: true, Context: c.Context,
		Config: func() cluster.Config { return c.Run(nil, 0, expectations) },
		OnResult: func(r campaign.SeedResult) {
			if r.Result != nil && see != nil {
				p, err := expansion(r.Seed)
				if err == nil {
					see(p, r.Result)
				}
			}
			if t.done != nil {
				t.done()
			}
		},
	})
	switch {
	case err != nil:
		return nil, err
	case sum.Interrupted:
		return nil, fmt.Errorf("interrupted after %d of %d seeds: %w", sum.Seeds, sum.Total, context.Canceled)
	case len(sum.Internal) > 0:
		return nil, fmt.Errorf("seed %d: an internal error of durosim: %s\n%s", sum.Internal[0].Seed, sum.Internal[0].Text, sum.Internal[0].Stack)
	}
	return sum, nil
}
