package shrink

import (
	"errors"
	"fmt"
	"strings"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/planterm"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
)

// Concrete is a run with nothing left to chance: a plan, and the choices made where the plan leaves something open. A
// fault rate of the plan only makes the fault possible; it happens where a choice says so. Anything without a choice
// takes the benign value: no fault, least latency, first in line.
type Concrete struct {
	Plan    *plan.Plan
	Choices *sim.Recording
	// Expect lists what the scenario expects besides the properties.
	Expect []plan.Expectation
}

// Size counts the elements that a reader of a concrete plan must keep in mind.
type Size struct {
	// Steps are schedule steps. Instances counts instances, preloaded histories and probes.
	Steps, Instances int
	// Faults counts choices that make a fault happen or decide how. Choices counts all others that are not benign; a
	// changed order of simultaneous events is one of them.
	Faults, Choices int
}

// Total returns the number of elements.
func (s Size) Total() int { return s.Steps + s.Instances + s.Faults + s.Choices }

// String returns the total and its parts.
func (s Size) String() string {
	return fmt.Sprintf("%d (%d schedule steps, %d instances, %d faults, %d other choices)", s.Total(), s.Steps, s.Instances, s.Faults, s.Choices)
}

// Size returns the size of the concrete plan. An order drawn from a seed counts as one choice.
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

// isFault reports whether a recorded choice is about a fault: that it happens, or how. The key must be readable.
func isFault(k sim.Key) bool { return strings.Contains(k.String(), "/fault:") }

// Options say what a search keeps and how many runs it may spend.
type Options struct {
	// Fails carries out a concrete plan and reports whether it still shows the failure in question. The chooser decides
	// what the plan leaves open; a recording that is not nil receives its decisions. An error means that the plan cannot
	// be run. For the same arguments Fails must always give the same answer.
	Fails func(c Concrete, chooser sim.Chooser, record *sim.Recording) (bool, error)
	// MaxRuns bounds the calls of Fails; 0 is DefaultRuns.
	MaxRuns int
}

// DefaultRuns is the number of runs that a search may take: some seconds for the built-in scenarios.
const DefaultRuns = 5000

// Result is the outcome of a search.
type Result struct {
	Concrete
	// Runs is the number of runs it took, From the size at the start.
	Runs int
	From Size
	// Minimal reports whether nothing more can be left out: no schedule step, instance, history, probe, node (with its
	// steps), action, option, handler, declared build, fault rate, expectation or choice, without losing the failure. It is false if the
	// bound on runs ended the search.
	Minimal bool
	// Near are the smaller plans that were tried last, each with something left out or made less, and do not fail.
	Near []Concrete
}

// Minimize finds a smaller concrete plan that fails in the same way. The search is greedy and deterministic: it leaves
// out parts, larger portions first, moves times to earlier and rounder ones, and goes on until a whole round changes
// nothing. Where faults are needed it also looks for other, fewer faults in the smaller plan.
//
// Where the plan switches planted bugs on, a smaller plan counts only if it does not fail without them: what is left
// shows the bug, and not a plan that asks for the impossible.
//
// It returns an error if the plan cannot be run, or does not fail.
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
	return &Result{Concrete: s.best, From: from, Runs: s.runs, Minimal: !s.spent(), Near: s.near}, nil
}

// namedOnly returns a recording without the choices that are benign anyway.
func namedOnly(r *sim.Recording) *sim.Recording {
	out := &sim.Recording{Seed: r.Seed, SeededOrder: r.SeededOrder, Priorities: r.Priorities}
	for _, c := range r.Choices {
		if c.Value != 0 {
			out.Choices = append(out.Choices, c)
		}
	}
	return out
}

// search is one search. Invariant: best fails, and if guard is on, it does not fail without its bugs.
type search struct {
	o     Options
	best  Concrete
	guard bool
	// Invariant: runs may exceed limit by those of one candidate only.
	runs, limit int
	// rates are all fault rates that the plan had at the start.
	rates []faults.Rate
	// near are the candidates that held since best was found.
	near []Concrete
}

// spent reports whether the bound on runs is reached.
func (s *search) spent() bool { return s.runs >= s.limit }

// run carries out a candidate. A run that panics shows a different failure from the one in question; so does one that
// ends the handler's goroutine.
func (s *search) run(c Concrete, chooser sim.Chooser, record *sim.Recording) (fails bool, err error) {
	s.runs++
	defer func() {
		if p := recover(); p != nil {
			fails, err = false, fmt.Errorf("the run panics: %v", p)
		}
	}()
	return s.o.Fails(c, chooser, record)
}

// fails reports whether a candidate fails with its choices.
func (s *search) fails(c Concrete) bool {
	fails, err := s.run(c, sim.Replay(c.Choices), nil)
	return err == nil && fails
}

// holdsWithoutBugs reports whether a candidate holds when its planted bugs and its profile are switched off.
func (s *search) holdsWithoutBugs(c Concrete) bool {
	p := *c.Plan
	p.Bugs, p.Profile = nil, planterm.ProfileContract
	c.Plan = &p
	return !s.fails(c)
}

// try adopts a candidate if it does as well as the best one; once the bound on runs is reached it adopts nothing.
func (s *search) try(c Concrete) bool {
	if s.spent() {
		return false
	}
	fails, err := s.run(c, sim.Replay(c.Choices), nil)
	switch {
	case err != nil:
		return false
	case !fails:
		s.near = append(s.near, c)
		return false
	case s.guard && !s.holdsWithoutBugs(c):
		return false
	}
	s.best, s.near = c, nil
	return true
}
