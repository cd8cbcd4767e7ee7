package shrink

import (
	"errors"
	"fmt"
	"strings"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
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
	// Steps are schedule steps. Instances counts instances, preloaded histories and probes.
	Steps, Instances int
	// Faults are choices that make a fault happen or say how. Choices are all others that are not benign; a changed order
	// of simultaneous events is one of them.
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
		case isFault(choice.Key):
			s.Faults++
		default:
			s.Choices++
		}
	}
	return s
}

// isFault says whether a recorded choice is about a fault: that it happens, or how. The key must be readable.
func isFault(k sim.Key) bool { return strings.Contains(k.String(), "/fault:") }

// Options say what a search keeps and what it may spend.
type Options struct {
	// Fails carries out a concrete plan and says whether it still fails in the way that is looked for. The chooser decides
	// what the plan leaves open; a recording that is not nil receives what it decided. An error means that the plan cannot
	// be run. For the same arguments Fails must always say the same.
	Fails func(c Concrete, chooser sim.Chooser, record *sim.Recording) (bool, error)
	// MaxRuns bounds the calls of Fails; 0 is DefaultRuns.
	MaxRuns int
}

// DefaultRuns is how many runs a search may take: some seconds for the built-in scenarios.
const DefaultRuns = 5000

// Result is what a search found.
type Result struct {
	Concrete
	// Runs is how many runs it took, From the size at the start.
	Runs int
	From Size
	// Minimal says that nothing more can be left out: no schedule step, instance, history, probe, node (with its steps),
	// action, option, handler, fault rate, expectation or choice, without losing the failure. It is false if the bound on
	// runs ended the search.
	Minimal bool
}

// Minimize finds a smaller concrete plan that fails in the same way. The search is greedy and always the same: it leaves
// out parts, larger portions first, moves times to earlier and rounder ones, and goes on until a whole round changes
// nothing. Where faults are needed it also looks for other, fewer faults in the smaller plan.
//
// Where the plan switches planted bugs on, a smaller plan counts only if it does not fail without them: what is left
// shows the bug, and not a plan that asks for the impossible.
//
// An error says that the plan cannot be run, or does not fail.
func Minimize(failing Concrete, o Options) (*Result, error) {
	switch {
	case failing.Plan == nil || failing.Choices == nil:
		return nil, errors.New("shrink: no plan, or no choices")
	case o.Fails == nil:
		return nil, errors.New("shrink: Options.Fails is not set")
	}
	if o.MaxRuns == 0 {
		o.MaxRuns = DefaultRuns
	}
	s := &search{o: o, limit: o.MaxRuns, best: failing}
	s.best.Choices = namedOnly(failing.Choices)
	switch fails, err := s.run(s.best, sim.Replay(s.best.Choices), nil); {
	case err != nil:
		return nil, err
	case !fails:
		return nil, fmt.Errorf("plan %s does not fail with its choices", failing.Plan.Name)
	}
	s.guard = (len(failing.Plan.Bugs) > 0 || released(failing.Plan.Profile)) && s.holdsWithoutBugs(s.best)
	from := s.best.Size()
	s.all()
	return &Result{Concrete: s.best, From: from, Runs: s.runs, Minimal: !s.spent()}, nil
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

// search is one search. Invariant: best fails, and does not without bugs if guard is on.
type search struct {
	o     Options
	best  Concrete
	guard bool
	// Invariant: runs may exceed limit by those of one candidate only.
	runs, limit int
	// rates are all that the plan had at the start.
	rates []faults.Rate
}

// spent says that the bound on runs is reached.
func (s *search) spent() bool { return s.runs >= s.limit }

// run carries out a candidate. One on which the run panics shows something else than the failure that is looked for; so
// does one that ends the handler's goroutine.
func (s *search) run(c Concrete, chooser sim.Chooser, record *sim.Recording) (fails bool, err error) {
	s.runs++
	defer func() {
		if p := recover(); p != nil {
			fails, err = false, fmt.Errorf("the run panics: %v", p)
		}
	}()
	return s.o.Fails(c, chooser, record)
}

// fails says whether a candidate fails with its choices.
func (s *search) fails(c Concrete) bool {
	fails, err := s.run(c, sim.Replay(c.Choices), nil)
	return err == nil && fails
}

// holdsWithoutBugs says whether a candidate holds when its planted bugs, and its profile, are switched off.
func (s *search) holdsWithoutBugs(c Concrete) bool {
	p := *c.Plan
	p.Bugs, p.Profile = nil, plan.ProfileContract
	c.Plan = &p
	return !s.fails(c)
}

// try takes a candidate if it does as well as the best one; with the bound on runs reached it takes nothing.
func (s *search) try(c Concrete) bool {
	if s.spent() || !s.fails(c) || s.guard && !s.holdsWithoutBugs(c) {
		return false
	}
	s.best = c
	return true
}
