package fuzz

import (
	"context"
	"errors"
	"fmt"

	"github.com/durosim/durosim/internal/campaign"
	"github.com/durosim/durosim/internal/planedit"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// Options configure a hunt.
type Options struct {
	// Plain expands a seed into a plan of the scenario.
	Plain func(seed uint64) (*plan.Plan, error)
	// Config returns what a run has besides plan and choices. Its monitor must not judge properties that an edit of the plan
	// may break.
	Config func() cluster.Config
	// Shrink makes a failing run small.
	Shrink func(failing properties.Concrete, v cluster.Violation) (*properties.Shrunk, error)
	// Space limits the edits.
	Space *planedit.Space
	// Stored are inputs to begin with, besides plain plans.
	Stored []Input
	Seed   uint64
	// Runs ends the hunt after so many runs; 0 is no bound. Runs that shrink a failure or search for a moment do not count.
	Runs uint64
	// First ends the hunt with the first find.
	First   bool
	Workers int
	// Context ends the hunt when it is done.
	Context context.Context
	// OnProgress, if not nil, is called now and then, by the goroutine that called Run.
	OnProgress func(r *Report)
	// OnNew, if not nil, is called for each input that joins the population, with what is new.
	OnNew func(in Input, news []string)
}

// Report is the result of a hunt.
type Report struct {
	// Runs is the number of runs; Failed of those that violated something, Exhausted of those that were given up.
	Runs, Failed, Exhausted uint64
	// Kept is the size of the population; Features and Points count the features and coverage points that it shows.
	Kept, Features, Points int
	// Finds are different failures, in the order found.
	Finds []*Find
	// Interrupted reports whether the context ended the hunt.
	Interrupted bool
}

// batch is the number of inputs that are made before one of them is judged. It decides which inputs are made, and so is
// not the number of workers.
const batch = 32

// StepBudget is the number of steps after which a run is given up: a plan that needs more is no finding.
const StepBudget = 20_000

// hunt is one hunt.
type hunt struct {
	o     Options
	r     Report
	pop   population
	state uint64 // of the draws
	plain uint64 // the last seed of a plain plan
	// known are the failures that have been shrunk already; only looked up.
	known map[string]*Find
}

// Run hunts. An error is about the options or the plain plans.
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
	h := &hunt{o: o, state: mixed(o.Seed), plain: o.Seed, known: map[string]*Find{}, pop: population{byName: map[string]int{}}}
	for h.goesOn() {
		if err := h.batch(); err != nil {
			return nil, err
		}
		if o.OnProgress != nil {
			o.OnProgress(h.report())
		}
	}
	h.r.Interrupted = o.Context.Err() != nil
	return h.report(), nil
}

func (h *hunt) report() *Report {
	h.r.Kept, h.r.Features, h.r.Points = len(h.pop.members), len(h.pop.features), h.pop.points()
	return &h.r
}

func (h *hunt) goesOn() bool {
	return h.o.Context.Err() == nil && (h.o.Runs == 0 || h.r.Runs < h.o.Runs) && !(h.o.First && len(h.r.Finds) > 0)
}

// config returns the configuration of an input's run.
func (h *hunt) config(in Input) cluster.Config {
	cfg := h.o.Config()
	cfg.Plan, cfg.Seed, cfg.Chooser = in.Plan, in.Seed, in.chooser()
	return cfg
}

// ran is an input with its result.
type ran struct {
	Input
	result *cluster.Result
	err    error
}

// batch makes inputs, runs them, and learns from them in the order in which they were made.
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

// run carries out an input. A panic is a defect of durosim, and not found here: the input is left out.
func (h *hunt) run(in Input) (out ran) {
	out.Input = in
	defer func() {
		if p := recover(); p != nil {
			out.err = fmt.Errorf("fuzz: a run panics (%s, seed %d): %v", in.Way, in.Seed, p)
		}
	}()
	out.result, out.err = cluster.Run(h.config(in))
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

// draw returns a number from 0 to n-1.
func (h *hunt) draw(n int) int {
	h.state = h.state*6364136223846793005 + 1442695040888963407
	return int(h.state >> 33 % uint64(n))
}

// mixed spreads a seed over all bits.
func mixed(seed uint64) uint64 {
	return sim.Random(seed).Choose(sim.RootKey(false), 1<<63)
}

// next makes the input of a run of that number.
func (h *hunt) next(number uint64) (Input, error) {
	if number < uint64(len(h.o.Stored)) {
		return h.o.Stored[number], nil
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

// fresh returns a plain plan under one of several choosers.
func (h *hunt) fresh() (Input, error) {
	h.plain++
	p, err := h.o.Plain(h.plain)
	if err != nil {
		return Input{}, &campaign.PlanError{Seed: h.plain, Err: err}
	}
	in := Input{Plan: bounded(p), Seed: h.plain, Way: "a plain plan"}
	if h.draw(2) == 0 {
		in.Chooser = sim.PortfolioMember(uint64(h.draw(64)))
	}
	return in, nil
}

// bounded returns the plan with the step budget of a hunt.
func bounded(p *plan.Plan) *plan.Plan {
	c := *p
	c.StepBudget = StepBudget
	return &c
}

// another returns the same run up to where it reached a point, and another future from there.
func (h *hunt) another(m *member, point string) (Input, bool) {
	at, known := m.moments[point]
	if !known {
		var ok bool
		if at, ok = h.momentOf(m.Input, point); !ok {
			at = 0
		}
		m.moments[point] = at
	}
	if at == 0 {
		return Input{}, false
	}
	// A little before it, so that what happens at that moment may change, too.
	in := m.fork(at-min(uint64(h.draw(40)), at-1), uint64(h.draw(1<<20)))
	in.Way = "another future of " + point
	return in, true
}

// edited returns a parent with some edits, now and then under another seed.
func (h *hunt) edited(in Input) Input {
	bytes := make([]byte, 3*(1+h.draw(6)))
	for i := range bytes {
		bytes[i] = byte(h.draw(256))
	}
	in.Plan = bounded(h.o.Space.Apply(in.Plan, bytes))
	in.Way = "an edited plan"
	switch h.draw(4) {
	case 0, 1:
		in.Seed, in.Chooser = uint64(h.draw(1<<30)), ""
	case 2:
		in.Seed, in.Chooser = uint64(h.draw(1<<30)), sim.PortfolioMember(uint64(h.draw(64)))
	}
	return in
}
