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

// Config selects the scenario, the store contents and the seeds of a trial.
type Config struct {
	Scenario  *scenario.Scenario
	Overrides scenario.Overrides
	// Snapshot, if not nil, has the contents of the store at the start.
	Snapshot *snapshot.Snapshot
	// Builds are the known builds; the scenario may declare more.
	Builds []*engine.Build
	// NewRun returns the state that belongs to a single run; nil means a run with the shipped handlers.
	NewRun func() properties.Run
	// Releases are as in cluster.Config.
	Releases cluster.Releases
	// First and Seeds are the seeds of each campaign.
	First, Seeds uint64
	// Context, if not nil, can interrupt the trial; the error is then the context's error.
	Context context.Context
	// OnProgress, if not nil, receives the number of finished runs and the number of all runs.
	OnProgress func(done, total uint64)

	_ struct{} // forces named fields, because more will follow
}

// trial is a campaign over a variant of the plan.
type trial struct {
	cfg *Config
	// change turns the plan into the variant in place; nil changes nothing.
	change func(p *plan.Plan)
	// own keeps the scenario's expectations.
	own  bool
	done func()
}

// Plan returns the plan of a seed with the contents of the store.
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
		if p.Contents.Instance(in.ID) != nil { // the scenario has the client actions of this instance
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

// awake returns the contents of the store. It moves messages that are due long after the last step to a minute after
// it, so that all instances wake in the upgraded cluster.
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

// handlers returns a function that registers the handlers of the run and stand-ins for the work in the store.
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

// Run returns the configuration of one run of the plan.
func (c *Config) Run(p *plan.Plan, seed uint64, expectations []plan.Expectation) cluster.Config {
	cfg := cluster.Config{Plan: p, Seed: seed, Builds: c.Builds, Releases: c.Releases}
	run := properties.Run{}
	if c.NewRun != nil {
		run = c.NewRun()
	}
	run.Handlers = c.handlers(run.Handlers)
	run.Configure(&cfg, properties.Options{Expectations: expectations})
	return cfg
}

// run executes the trial and passes each result to see.
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
