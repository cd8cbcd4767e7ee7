package fuzz

import (
	"context"
	"errors"
	"fmt"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// Options configures a hunt.
type Options struct {
	// Plain expands a seed into one of the scenario's plans.
	Plain func(seed uint64) (*plan.Plan, error)
	// Config returns a run's configuration, except for its plan and choices. Its monitor must not check properties that
	// editing the plan may break.
	Config func() cluster.Config
	// Shrink reduces a failing run to a small one that still shows violation v.
	Shrink func(failing durosim.Concrete, v cluster.Violation) (*durosim.Shrunk, error)
	// Space limits what edits may do.
	Space *plan.EditSpace
	// Stored lists the inputs to begin with. Then every second one is one of systematic, as long as there are any.
	Stored []Input
	Seed   uint64
	// Runs is the maximum number of runs; 0 means no limit. Runs for shrinking a failure or locating a moment do not
	// count.
	Runs uint64
	// First stops the hunt at the first find.
	First   bool
	Workers int
	// Context, when done, ends the hunt.
	Context context.Context
	// OnProgress, if not nil, is called periodically from the goroutine that called Run.
	OnProgress func(r *Report)
	// OnNew, if not nil, is called for each input that joins the population. news holds the names of its new features.
	OnNew func(in Input, news []string)
}

// Report is the result of a hunt.
type Report struct {
	// Runs counts all runs. Failed counts the runs that violated a property, and Exhausted those that used up their
	// step budget.
	Runs      uint64 `json:"runs"`
	Failed    uint64 `json:"failed"`
	Exhausted uint64 `json:"given_up"`
	// Kept is the size of the population. Features and Points count the distinct features and coverage points seen so
	// far.
	Kept     int `json:"kept"`
	Features int `json:"features"`
	Points   int `json:"points"`
	// Finds lists the distinct failures in order of discovery.
	Finds []*Find `json:"-"`
}

// batch is the number of inputs created before any of them is judged. It affects which inputs are created, so it must
// not depend on the number of workers.
const batch = 32

// StepBudget is the maximum number of steps in a run. A run that reaches it is stopped and is not a find.
const StepBudget = 20_000

// hunt is the state of a hunt.
type hunt struct {
	o     Options
	r     Report
	pop   population
	state uint64 // state of the generator used by draw, which begins with all bits of the seed spread
	plain uint64 // seed of the last plain plan
	// known holds the failures that have already been shrunk. It is never iterated over.
	known map[string]*Find
	begin []Input // see systematic
}

// Run performs a hunt. It returns an error if the options or the plain plans are invalid.
func Run(o Options) (*Report, error) {
	if o.Runs == 0 && o.Context == nil && !o.First {
		return nil, errors.New("fuzz: neither a number of runs nor a context: when does it end?")
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	if len(o.Space.Builds) == 0 {
		return nil, errors.New("fuzz: no builds that nodes could get")
	}
	h := &hunt{o: o, state: sim.Random(o.Seed).Choose(sim.RootKey(false), 1<<63), plain: o.Seed, known: map[string]*Find{}, pop: population{byName: map[string]int{}}}
	var err error
	if h.begin, err = h.systematic(); err != nil {
		return nil, err
	}
	for h.goesOn() {
		if err := h.batch(); err != nil {
			return nil, err
		}
		if o.OnProgress != nil {
			o.OnProgress(h.report())
		}
	}
	return h.report(), nil
}

func (h *hunt) report() *Report {
	h.r.Kept, h.r.Features, h.r.Points = len(h.pop.members), len(h.pop.features), h.pop.points()
	return &h.r
}

func (h *hunt) goesOn() bool {
	return h.o.Context.Err() == nil && (h.o.Runs == 0 || h.r.Runs < h.o.Runs) && !(h.o.First && len(h.r.Finds) > 0)
}

func (h *hunt) config(in Input) cluster.Config {
	cfg := h.o.Config()
	cfg.Plan, cfg.Seed, cfg.Chooser = in.Plan, in.Seed, in.chooser()
	return cfg
}

// ran is an input together with the result of its run.
type ran struct {
	Input
	result *cluster.Result
	err    error
}

// batch creates inputs, runs them, and evaluates the results in the order in which the inputs were created.
func (h *hunt) batch() error {
	n := uint64(batch)
	if h.o.Runs > 0 {
		n = min(n, h.o.Runs-h.r.Runs)
	}
	inputs := make([]Input, n)
	for i := range inputs {
		in, err := h.next(h.r.Runs + uint64(i))
		if err != nil {
			return err
		}
		inputs[i] = in
	}
	var failed error
	campaign.InOrder(h.o.Context, n, max(h.o.Workers, 1), func(i uint64) ran { return h.run(inputs[i]) }, func(_ uint64, r ran) bool {
		failed = h.learn(r)
		return failed == nil && h.goesOn()
	})
	return failed
}

// run executes input in. A panic in durosim is a defect rather than a find, so run skips that input.
func (h *hunt) run(in Input) (out ran) {
	out.Input = in
	defer func() {
		if p := recover(); p != nil {
			out.err = fmt.Errorf("fuzz: a run panics (%s, seed %d): %v", in.Way, in.Seed, p)
		}
	}()
	cfg := h.config(in)
	cfg.Stop = func(cluster.Violation) bool { return true }
	out.result, out.err = cluster.Run(cfg)
	return out
}

func (h *hunt) learn(r ran) error {
	if r.err != nil {
		return r.err
	}
	h.r.Runs++
	if r.result.Exhausted {
		h.r.Exhausted++
		return nil
	}
	if news := h.pop.add(r.Input, r.result.Coverage); len(news) > 0 && len(r.result.Violations) == 0 && h.o.OnNew != nil {
		h.o.OnNew(r.Input, news)
	}
	if len(r.result.Violations) == 0 {
		return nil
	}
	h.r.Failed++
	return h.found(r)
}

// draw returns a pseudo-random number from 0 to n-1.
func (h *hunt) draw(n int) int {
	h.state = h.state*6364136223846793005 + 1442695040888963407
	return int(h.state >> 33 % uint64(n))
}

func (h *hunt) next(number uint64) (Input, error) {
	stored := uint64(len(h.o.Stored))
	if number < stored {
		return h.o.Stored[number], nil
	}
	if n := number - stored; n%2 == 0 && n/2 < uint64(len(h.begin)) {
		return h.begin[n/2], nil
	}
	way := h.draw(16)
	if len(h.pop.members) == 0 || way < 2 {
		return h.fresh()
	}
	f := h.pop.rare(h.draw)
	parent := f.owner
	if way < 5 && parent.canFork() {
		if in, ok := h.another(parent, f.point); ok {
			return in, nil
		}
	}
	return h.edited(parent.Input), nil
}

// fresh returns a plain plan with one of several choosers.
func (h *hunt) fresh() (Input, error) {
	h.plain++
	p, err := h.o.Plain(h.plain)
	if err != nil {
		return Input{}, &campaign.PlanError{Seed: h.plain, Err: err}
	}
	in := Input{Plan: bounded(p, StepBudget), Seed: h.plain, Way: "a plain plan"}
	if h.draw(2) == 0 {
		in.Chooser = sim.PortfolioMember(uint64(h.draw(64)))
	}
	return in, nil
}

// bounded returns the plan with that step budget; 0 means the usual one.
func bounded(p *plan.Plan, steps uint64) *plan.Plan {
	c := *p
	c.StepBudget = steps
	return &c
}

// another returns an input that behaves like m until it reaches point and differs from then on.
func (h *hunt) another(m *member, point string) (Input, bool) {
	at, known := m.moments[point]
	if !known {
		at = h.momentOf(m.Input, point)
		m.moments[point] = at
	}
	if at == 0 {
		return Input{}, false
	}
	// Fork up to 39 draws before the point, so that the events leading up to it can change, too.
	in := m.fork(at-min(uint64(h.draw(40)), at-1), uint64(h.draw(1<<20)))
	in.Way = "another future of " + point
	return in, true
}

// edited returns parent input in with one to six edits. In three cases out of four, it also changes the seed.
func (h *hunt) edited(in Input) Input {
	bytes := make([]byte, 3*(1+h.draw(6)))
	for i := range bytes {
		bytes[i] = byte(h.draw(256))
	}
	in.Plan = bounded(h.o.Space.Apply(in.Plan, bytes), StepBudget)
	in.Way = "an edited plan"
	switch h.draw(4) {
	case 0, 1:
		in.Seed, in.Chooser = uint64(h.draw(1<<30)), ""
	case 2:
		in.Seed, in.Chooser = uint64(h.draw(1<<30)), sim.PortfolioMember(uint64(h.draw(64)))
	}
	return in
}
