package compare

import (
	"fmt"
	"slices"

	"github.com/durosim/durosim/cmd/simrun/internal/upgrade"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// Result has one row per strategy.
type Result struct {
	Scenario string `json:"scenario"`
	First    uint64 `json:"first_seed"`
	Seeds    uint64 `json:"seeds"`
	Rows     []Row  `json:"strategies"`
	// Sentence names the best strategy and says why, or how far the comparison came before it was interrupted.
	Sentence    string `json:"sentence"`
	Interrupted bool   `json:"interrupted,omitempty"`
}

// Row totals the cost of one strategy over all its runs. Times are virtual.
type Row struct {
	Strategy plan.Strategy `json:"strategy"`
	// Fetches counts the turn fetches that reached the store. Wasted counts the fetches that received work but did not
	// commit it. Abandons counts abandoned batches. LockMs is the total time that instances spent locked.
	Fetches  uint64 `json:"fetches"`
	Wasted   uint64 `json:"wasted_fetches"`
	Abandons uint64 `json:"abandons"`
	LockMs   int64  `json:"lock_ms"`
	// Completed counts the instances that completed and were not stuck when recovery ended. MedianMs and P99Ms are the
	// median and 99th-percentile durations of those instances, or -1 if there are none.
	Completed uint64 `json:"completed"`
	MedianMs  int64  `json:"median_ms"`
	P99Ms     int64  `json:"p99_ms"`
	// Poisoned counts the instances that a node, a sweeper or the dead-letter policy ended as poison. Healthy counts
	// the poisoned instances that at least one build in the plan could have run, and of which no fault damaged bytes.
	Poisoned uint64 `json:"poisoned"`
	Healthy  uint64 `json:"healthy_poisoned"`
	// Stuck counts the instances still waiting for a build when recovery ended.
	Stuck uint64 `json:"stuck"`
	// Violated lists the violated properties. Unmet lists the scenario's unmet expectations.
	Violated []string `json:"violated"`
	Unmet    []string `json:"unmet_expectations"`
	// Example is an instance counted by Healthy, and ExampleSeed is the seed of its run.
	Example     string `json:"example,omitempty"`
	ExampleSeed uint64 `json:"example_seed,omitempty"`

	took []int64
}

// Run runs the scenario under each strategy, with the same seeds.
func Run(c upgrade.Config) (*Result, error) {
	r := &Result{Scenario: c.Scenario.Name, First: c.First, Seeds: c.Seeds}
	done, runs := uint64(0), c.Seeds*uint64(len(plan.Strategies()))
	for _, s := range plan.Strategies() {
		row := Row{Strategy: s, MedianMs: -1, P99Ms: -1}
		for seed := c.First; seed < c.First+c.Seeds; seed++ {
			if c.Context != nil && c.Context.Err() != nil {
				row.finish()
				r.Rows, r.Interrupted = append(r.Rows, row), true
				r.Sentence = fmt.Sprintf("Interrupted after %d of %d runs, with %d of %d seeds of %s: the rows cannot be compared.", done, runs, seed-c.First, c.Seeds, s)
				return r, nil
			}
			if err := row.try(&c, seed); err != nil {
				return nil, err
			}
			if done++; c.OnProgress != nil {
				c.OnProgress(done, runs)
			}
		}
		row.finish()
		r.Rows = append(r.Rows, row)
	}
	r.Sentence = r.sentence()
	return r, nil
}

// Plan returns seed's plan under strategy s.
func Plan(c *upgrade.Config, s plan.Strategy, seed uint64) (*plan.Plan, error) {
	over := c.Overrides
	over.Strategy = s
	return c.Scenario.Expand(seed, over)
}

// try performs seed's run and adds its costs to row.
func (row *Row) try(c *upgrade.Config, seed uint64) error {
	p, err := Plan(c, row.Strategy, seed)
	if err != nil {
		return err
	}
	cfg := c.Run(p, seed, c.Scenario.Expect)
	var seen *tally
	inner := cfg.Monitor
	cfg.Monitor = func(w *cluster.World) cluster.Monitor {
		seen = &tally{Monitor: inner(w), w: w, row: row, ends: map[string]int64{}, poisoned: map[string]bool{}, stuck: map[string]bool{}, damaged: map[string]bool{}}
		return seen
	}
	result, err := cluster.Run(cfg)
	if err != nil {
		return err
	}
	for no := range seen.locks { // those that are still held when the run ends
		seen.release(observe.InstanceNo(no), seen.w.NowMs())
	}
	row.Wasted += seen.handed - min(seen.committed, seen.handed)
	row.Stuck += uint64(len(seen.stuck))
	row.ends(p, c.Builds, seen, result)
	for _, v := range result.Violations {
		list, what := &row.Violated, v.Property
		if v.Expectation != "" {
			list, what = &row.Unmet, v.Expectation
		}
		if !slices.Contains(*list, what) {
			*list = append(*list, what)
		}
	}
	return nil
}

// ends adds the outcomes of a run's instances to row.
func (row *Row) ends(p *plan.Plan, builds []*engine.Build, seen *tally, r *cluster.Result) {
	began := map[string]int64{} // never iterated over
	hopeless := map[string]bool{}
	for i := range p.Instances {
		began[p.Instances[i].ID] = p.Instances[i].StartAt.Milliseconds()
		hopeless[p.Instances[i].ID] = p.Instances[i].Expect == plan.EndPoison
	}
	for i := range p.Histories {
		h := &p.Histories[i]
		began[h.Instance] = h.KickAt.Milliseconds()
		hopeless[h.Instance] = h.Shape != plan.ShapeWaiting
	}
	for _, o := range r.FinalStates {
		at, ended := seen.ends[o.Instance]
		switch {
		case seen.poisoned[o.Instance]:
			row.Poisoned++
			if !hopeless[o.Instance] && !seen.damaged[o.Instance] && somebodyRuns(p, builds, o.Pin) {
				row.Healthy++
				if row.Example == "" {
					row.Example, row.ExampleSeed = o.Instance, r.Seed
				}
			}
		case ended && o.Status == engine.StatusCompleted && !seen.stuck[o.Instance]:
			row.Completed++
			row.took = append(row.took, max(at-began[o.Instance], 0))
		}
	}
}

// somebodyRuns reports whether a build used by any node in the plan, at any time, admits pin by default.
func somebodyRuns(p *plan.Plan, builds []*engine.Build, pin *engine.Version) bool {
	if pin == nil {
		return true
	}
	all, err := p.AllBuilds(builds)
	if err != nil {
		return false // the run has already validated the plan
	}
	return slices.ContainsFunc(p.RunBuilds(), func(name string) bool {
		b := plan.FindBuild(all, name)
		return b != nil && b.DefaultRange.Contains(*pin)
	})
}

// finish computes the medians and percentiles after all runs have been added, and sorts the lists.
func (row *Row) finish() {
	slices.Sort(row.took)
	if n := len(row.took); n > 0 {
		row.MedianMs, row.P99Ms = row.took[n/2], row.took[(n*99)/100]
	}
	slices.Sort(row.Violated)
	slices.Sort(row.Unmet)
}
