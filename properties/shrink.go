package properties

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/workload"
)

// Concrete is a run with nothing left to chance: a plan, and what was chosen where the plan leaves something open. A
// fault rate of the plan only says that the fault is possible; it happens where a choice says so. What no choice names
// takes the benign value: no fault, least latency, first in line.
type Concrete struct {
	Plan    *plan.Plan
	Choices *sim.Recording
	// Expect is what the scenario expects beside the properties.
	Expect []plan.Expectation
}

// Size counts what a reader of a concrete plan has to keep in mind.
type Size struct {
	// Steps are schedule steps. Instances counts instances, seeded histories and probes.
	Steps, Instances int
	// Faults are choices that make a fault happen or say how; Choices are all others that are not the benign one, a
	// change of the order of simultaneous events among them.
	Faults, Choices int
}

// Total is the number of elements.
func (s Size) Total() int { return s.Steps + s.Instances + s.Faults + s.Choices }

// String is the total and its parts.
func (s Size) String() string {
	return fmt.Sprintf("%d (%d schedule steps, %d instances, %d faults, %d other choices)", s.Total(), s.Steps, s.Instances, s.Faults, s.Choices)
}

// Size is how large the concrete plan is. An order drawn from a seed counts as one choice.
func (c Concrete) Size() Size {
	s := Size{Steps: len(c.Plan.Schedule), Instances: len(c.Plan.Instances) + len(c.Plan.Histories) + len(c.Plan.Probes)}
	s.Choices = len(c.Choices.Priorities)
	if c.Choices.SeededOrder {
		s.Choices++
	}
	for _, choice := range c.Choices.Choices {
		switch {
		case choice.Value == 0:
		case IsFault(choice.Key):
			s.Faults++
		default:
			s.Choices++
		}
	}
	return s
}

// IsFault says whether a recorded choice is about a fault: that it happens, or how. The key must be readable.
func IsFault(k sim.Key) bool { return strings.Contains(k.String(), "/fault:") }

// ShrinkOptions say what Shrink keeps and what it may spend.
type ShrinkOptions struct {
	// Property is the id of the property that every smaller plan must violate, too.
	Property string
	// Builds and Handlers are what the plan may name, as in cluster.Config; nil is what is shipped.
	Builds   func() []*engine.Build
	Handlers func(r *node.Registry, b *engine.Build) error
	// MaxRuns bounds the runs; 0 is DefaultShrinkRuns.
	MaxRuns int
}

// DefaultShrinkRuns is how many runs Shrink may take: some seconds for the scenarios that come with the module.
const DefaultShrinkRuns = 5000

// Shrunk is what Shrink returns.
type Shrunk struct {
	Concrete
	// Result is what the smallest plan comes to; First its first violation of the property.
	Result *cluster.Result
	First  cluster.Violation
	// Runs is how many runs it took, From the size at the start.
	Runs int
	From Size
	// Minimal says that nothing more can be left out: no schedule step, instance, history, probe, node (with its steps),
	// action, option, handler, fault rate, expectation or choice, without losing the violation. It is false if the
	// bound on runs ended the search.
	Minimal bool

	needs []string // of the caller's handlers, what the plan uses
}

// Shrink finds a smaller concrete plan that violates the same property. The search is greedy and always the same: it
// leaves out parts, larger portions first, moves times to earlier and rounder ones, and goes on until a whole round
// changes nothing. Where faults are needed it also looks for other, fewer faults in the smaller plan.
//
// Where the plan switches seeded bugs on, a smaller plan counts only if it holds without them: what is left shows the
// bug and not a plan that asks for the impossible.
//
// An error says that the plan cannot be run, or does not violate the property.
func Shrink(failing Concrete, o ShrinkOptions) (*Shrunk, error) {
	if failing.Plan == nil || failing.Choices == nil {
		return nil, errors.New("properties: Shrink without a plan or its choices")
	}
	if o.MaxRuns == 0 {
		o.MaxRuns = DefaultShrinkRuns
	}
	s := &shrinker{o: o, limit: o.MaxRuns}
	builds := engine.ShippedBuilds()
	if o.Builds != nil {
		builds = o.Builds()
	}
	if err := failing.Plan.Validate(plan.Known{Builds: builds, Orchestrations: workload.Names()}); err != nil {
		return nil, err
	}
	s.best = failing
	s.best.Choices = namedOnly(failing.Choices)
	if !s.violates(s.best) {
		return nil, fmt.Errorf("plan %s does not violate %s with its choices", failing.Plan.Name, o.Property)
	}
	s.guard = (len(failing.Plan.Bugs) > 0 || failing.Plan.Profile == plan.ProfileDuroxide) && s.holdsWithoutBugs(s.best)
	from := s.best.Size()
	s.all()
	out := &Shrunk{Concrete: s.best, From: from, Minimal: !s.spent()}
	out.Result, _ = s.run(s.best, sim.Replay(s.best.Choices), nil)
	out.First, _ = firstOf(out.Result, o.Property)
	out.Runs, out.needs = s.runs, s.needs(s.best)
	return out, nil
}

// namedOnly is a recording without the choices that are benign anyway.
func namedOnly(r *sim.Recording) *sim.Recording {
	out := &sim.Recording{Seed: r.Seed, SeededOrder: r.SeededOrder, Priorities: r.Priorities}
	for _, c := range r.Choices {
		if c.Value != 0 {
			out.Choices = append(out.Choices, c)
		}
	}
	return out
}

func firstOf(r *cluster.Result, property string) (cluster.Violation, bool) {
	if r == nil {
		return cluster.Violation{}, false
	}
	i := slices.IndexFunc(r.Violations, func(v cluster.Violation) bool { return v.Property == property })
	if i < 0 {
		return cluster.Violation{}, false
	}
	return r.Violations[i], true
}

// shrinker is one search. Invariant: best violates the property, and holds without bugs if guard is on.
type shrinker struct {
	o     ShrinkOptions
	best  Concrete
	guard bool
	// Invariant: runs may exceed limit by those of one candidate only.
	runs, limit int
	// rates are all that the plan had at the start.
	rates []faults.Rate
}

// spent says that the bound on runs is reached.
func (s *shrinker) spent() bool { return s.runs >= s.limit }

// run carries out a candidate. An error means that the plan makes no sense. A candidate that durosim itself crashes on
// shows something else than the violation that is looked for; so does one that ends the handler's goroutine.
func (s *shrinker) run(c Concrete, chooser sim.Chooser, record *sim.Recording) (r *cluster.Result, err error) {
	s.runs++
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, fmt.Errorf("the run crashed: %v", p)
		}
	}()
	cfg := s.config(c, chooser)
	cfg.Recording = record
	return cluster.Run(cfg)
}

func (s *shrinker) config(c Concrete, chooser sim.Chooser) cluster.Config {
	cfg := cluster.Config{Plan: c.Plan, Seed: c.Choices.Seed, Chooser: chooser, Handlers: s.o.Handlers}
	if s.o.Builds != nil {
		cfg.Builds = s.o.Builds()
	}
	cfg.Monitor = func(w *cluster.World) cluster.Monitor { return New(w, Options{Expectations: c.Expect}) }
	return cfg
}

// violates says whether a candidate violates the property.
func (s *shrinker) violates(c Concrete) bool {
	r, err := s.run(c, sim.Replay(c.Choices), nil)
	if err != nil {
		return false
	}
	_, ok := firstOf(r, s.o.Property)
	return ok
}

// holdsWithoutBugs says whether a candidate holds when its seeded bugs, and its profile, are switched off.
func (s *shrinker) holdsWithoutBugs(c Concrete) bool {
	p := *c.Plan
	p.Bugs, p.Profile = nil, plan.ProfileContract
	c.Plan = &p
	return !s.violates(c)
}

// try takes a candidate if it does as well as the best one; with the bound on runs reached it takes nothing.
func (s *shrinker) try(c Concrete) bool {
	if s.spent() || !s.violates(c) || s.guard && !s.holdsWithoutBugs(c) {
		return false
	}
	s.best = c
	return true
}
