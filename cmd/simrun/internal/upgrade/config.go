package upgrade

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/campaign"
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
	Snapshot *Snapshot
	// Builds lists the known builds. The scenario may declare more.
	Builds []*engine.Build
	// NewRun returns the state for a single run. Nil means a run with the shipped handlers.
	NewRun func() durosim.Run
	// Releases has the same meaning as in cluster.Config.
	Releases cluster.Releases
	// First is the first seed of each campaign, and Seeds is the number of seeds.
	First, Seeds uint64
	// Context, if not nil, can interrupt the work. The report then covers the runs that were finished.
	Context context.Context
	// OnPreflight, if not nil, is called before the first run with what is known without one: Report.Steps, Hazards,
	// Expected and Runs.
	OnPreflight func(r *Report)
	// OnProgress, if not nil, is called with the number of finished runs and the total.
	OnProgress func(done, total uint64)

	_ struct{} // forces callers to name the fields, because more may be added
}

// trial is a campaign with one variant of the plan.
type trial struct {
	cfg *Config
	// change turns p, seed's plan, into the variant, in place. Nil means no change.
	change func(p *plan.Plan, seed uint64)
	expect []plan.Expectation // which the runs check
	done   func()
}

// Plan returns seed's plan, including the contents of the store.
func (c *Config) Plan(seed uint64) (*plan.Plan, error) {
	p, err := c.Scenario.Expand(seed, c.Overrides)
	if err != nil || c.Snapshot == nil {
		return p, err
	}
	for _, name := range c.Snapshot.Orchestrations() {
		name, _, _ = parse(name)
		if p.Programs.Lookup(name) != nil {
			return nil, fmt.Errorf("program %s: the store has instances of an orchestration of that name, which a stand-in runs: give the program another name", name)
		}
	}
	c.wake(p)
	stored := c.Snapshot.Instances()
	for i := range p.Instances {
		in := &p.Instances[i]
		drawn := !slices.ContainsFunc(c.Scenario.Template.Instances, func(given plan.Instance) bool { return given.ID == in.ID })
		for drawn && slices.ContainsFunc(stored, func(s plan.Instance) bool { return s.ID == in.ID }) {
			in.ID += "-new"
		}
		at := slices.IndexFunc(stored, func(s plan.Instance) bool { return s.ID == in.ID })
		if at >= 0 { // this instance is already in the store; the scenario only adds client actions, and what to expect
			if was := stored[at].Orchestration; in.Orchestration != was || in.StartAt > 0 || in.Input != "" {
				return nil, c.Scenario.Place(&plan.Problem{Part: "instance " + in.ID, Msg: fmt.Sprintf("instance %s: the store has it, and nobody starts it: a line about it is \"instance %[1]s runs %s\", without with and at; another instance needs another name", in.ID, was)})
			}
			in.Existing, in.StartAt, in.Expect = true, 0, cmp.Or(in.Expect, stored[at].Expect)
			stored = slices.Delete(stored, at, at+1)
		}
	}
	p.Instances = append(p.Instances, stored...)
	return p, nil
}

// planned returns seed's plan, and the builds that it can name.
func (c *Config) planned(seed uint64) (p *plan.Plan, builds []*engine.Build, err error) {
	if p, err = c.Plan(seed); err == nil {
		builds, err = p.AllBuilds(c.Builds)
	}
	return p, builds, err
}

// wakeAfter is how long after the last step the messages become due that are due still later, so that every instance
// wakes up in the upgraded cluster.
const wakeAfter = time.Minute

// latest returns when the last message in the store becomes due.
func latest(p *plan.Plan) time.Duration {
	at := wakeAfter
	for i := range p.Schedule {
		at = max(at, p.Schedule[i].At+wakeAfter)
	}
	return at
}

// wake gives p the contents of the store. The fault phase lasts until all its messages are due, because recovery
// cancels loops.
func (c *Config) wake(p *plan.Plan) {
	last := latest(p)
	stored := c.Snapshot.Store
	stored.Messages = slices.Clone(stored.Messages)
	p.Contents = &stored
	for i := range p.Contents.Messages {
		m := &p.Contents.Messages[i]
		m.Delay = min(m.Delay, last)
		if p.FaultPhase > 0 {
			p.FaultPhase = max(p.FaultPhase, m.Delay+time.Second)
		}
	}
}

// Handlers returns a function that registers the run's own handlers, or the shipped ones if own is nil, and stand-ins
// for the work in the store. Without a store it returns own.
func (c *Config) Handlers(own func(*node.Registry, *engine.Build) error) func(*node.Registry, *engine.Build) error {
	if c.Snapshot == nil {
		return own
	}
	keep := own != nil
	if own == nil {
		own = workload.Handlers
	}
	lasts := wakeAfter
	if p, err := c.Scenario.Expand(1, c.Overrides); err == nil { // the same for each seed
		lasts = latest(p)
	}
	return func(r *node.Registry, b *engine.Build) error {
		if err := own(r, b); err != nil {
			return err
		}
		return c.Snapshot.StandIns(r, keep, lasts)
	}
}

// Run returns the configuration for running p with seed.
func (c *Config) Run(p *plan.Plan, seed uint64, expectations []plan.Expectation) cluster.Config {
	cfg := cluster.Config{Plan: p, Seed: seed, Builds: c.Builds, Releases: c.Releases}
	run := durosim.Run{}
	if c.NewRun != nil {
		run = c.NewRun()
	}
	run.Handlers = c.Handlers(run.Handlers)
	run.Configure(&cfg, properties.Options{UserOnly: true, Expectations: expectations})
	return cfg
}

// run runs the trial and passes each result to see. If it is interrupted, the summary covers the seeds that were run,
// and the error is context.Canceled.
func (t *trial) run(seeds uint64, see func(p *plan.Plan, r *cluster.Result)) (*campaign.Summary, error) {
	c := t.cfg
	expansion := func(seed uint64) (*plan.Plan, error) {
		p, err := c.Plan(seed)
		if err == nil && t.change != nil {
			t.change(p, seed)
		}
		return p, err
	}
	sum, err := campaign.Run(campaign.Options{
		Plan: expansion, First: c.First, Count: seeds, KeepGoing: true, Context: c.Context,
		Config: func() cluster.Config { return c.Run(nil, 0, t.expect) },
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
		return sum, context.Canceled
	case len(sum.Internal) > 0:
		return nil, fmt.Errorf("seed %d: an internal error of durosim: %s\n%s", sum.Internal[0].Seed, sum.Internal[0].Text, sum.Internal[0].Stack)
	}
	return sum, nil
}
