package shrink

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
)

// Concrete is a run without randomness: a plan, and all choices that the plan leaves open. A fault rate in the plan
// only makes the fault possible; whether it happens is up to a choice. A draw without a recorded choice gets the benign
// value: no fault, minimum latency, first in line.
type Concrete struct {
	Plan    *plan.Plan
	Choices *sim.Recording
	// Expect lists expectations of the scenario, which are checked in addition to the properties.
	Expect []plan.Expectation
}

// Size counts what a reader of a concrete plan must keep in mind.
type Size struct {
	// Steps counts the steps in the schedule. Instances counts instances, preloaded histories and probes.
	Steps, Instances int
	// Faults counts the choices that make a fault happen or decide how it happens. Choices counts all other choices
	// that are not benign, including each change to the order of simultaneous events.
	Faults, Choices int
}

// Total returns the sum of all counts.
func (s Size) Total() int { return s.Steps + s.Instances + s.Faults + s.Choices }

// String returns the total and the counts that it consists of.
func (s Size) String() string {
	count := func(n int, one, many string) string { return pretty.Plural(uint64(n), one, many) }
	return fmt.Sprintf("%d (%s, %s, %s, %s)", s.Total(), count(s.Steps, "schedule step", "schedule steps"), count(s.Instances, "instance", "instances"),
		count(s.Faults, "fault", "faults"), count(s.Choices, "other choice", "other choices"))
}

// Size returns the size of a concrete plan. If the order of events is drawn from a seed, this counts as one choice.
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

// isFault reports whether a recorded choice decides whether or how a fault happens. The key must be readable.
func isFault(k sim.Key) bool { return strings.Contains(k.String(), "/fault:") }

// Options defines the failure that a search preserves, and limits how many runs the search makes.
type Options struct {
	// Fails runs a concrete plan and reports whether it still shows the failure in question. chooser makes the choices
	// that the plan leaves open; if record is not nil, it receives them. An error means that the plan cannot be run.
	// Fails must always return the same result for the same arguments.
	Fails func(c Concrete, chooser sim.Chooser, record *sim.Recording) (bool, error)
	// Ends is set if the failure is that work ends otherwise than planned. What smaller plans send to the work that is left
	// then comes no later than before; Fails says whether work fails in another way without some of it.
	Ends bool
	// MaxRuns limits how often Fails is called; 0 means DefaultRuns.
	MaxRuns int
	// Stop, if not nil, is called before each run, with the best plan so far. If it returns true, the search ends with that
	// plan.
	Stop func(best Concrete, runs int) bool
}

// ErrHolds says that a plan which has failed does not fail when it is run again with the same choices.
var ErrHolds = errors.New("does not fail again with the same choices")

// DefaultRuns is the default for MaxRuns. It takes a few seconds with the built-in scenarios.
const DefaultRuns = 5000

// Result is the outcome of a search.
type Result struct {
	Concrete
	// Runs is how many runs the search made. From is the size of the plan that it started with.
	Runs int
	From Size
	// Minimal reports whether no further part can be removed without losing the failure: no schedule step, instance,
	// history, probe, node (with its steps), action, option, handler, declared build, fault rate, expectation or
	// choice. It is false if the search reached its limit.
	Minimal bool
	// Stopped reports whether Options.Stop has ended the search.
	Stopped bool
	// Near lists the last smaller plans that were tried and do not fail. Each lacks one part, or has one part reduced.
	Near []Concrete
}

// Minimize finds a smaller concrete plan that fails in the same way. The search is greedy and deterministic. It removes
// parts, large portions first, makes times earlier and rounder, and continues until a whole round changes nothing. If
// the failure needs faults, it also looks for fewer, different faults in the smaller plan.
//
// If the plan switches on planted bugs, a smaller plan counts only if it does not fail without those bugs. So the
// result shows the bug, and not an expectation of the plan that is impossible to meet.
//
// Minimize returns an error if the plan cannot be run or does not fail.
func Minimize(failing Concrete, o Options) (*Result, error) {
	switch {
	case failing.Plan == nil || failing.Choices == nil:
		return nil, errors.New("shrink: no plan, or no choices")
	case o.Fails == nil:
		return nil, errors.New("shrink: Options.Fails is not set")
	}
	o.MaxRuns = cmp.Or(o.MaxRuns, DefaultRuns)
	s := &search{o: o, limit: o.MaxRuns, best: failing}
	s.best.Choices = namedOnly(failing.Choices)
	switch fails, err := s.run(s.best, sim.Replay(s.best.Choices), nil); {
	case err != nil:
		return nil, err
	case !fails:
		return nil, fmt.Errorf("plan %s %w", failing.Plan.Name, ErrHolds)
	}
	s.guard = failing.Plan.Planted() && s.holdsWithoutBugs(s.best)
	from := s.best.Size()
	if !s.guard && len(failing.Plan.Bugs) > 0 {
		s.try(edit(s.best, func(p *plan.Plan) { p.Bugs = nil })) // the failure is none of theirs
	}
	s.all()
	return &Result{Concrete: s.best, From: from, Runs: s.runs, Minimal: !s.stopped && s.runs < s.limit, Stopped: s.stopped, Near: s.near}, nil
}

// namedOnly returns a recording without its benign choices.
func namedOnly(r *sim.Recording) *sim.Recording {
	benign := func(c sim.RecordedChoice) bool { return c.Value == 0 }
	return &sim.Recording{
		Seed: r.Seed, SeededOrder: r.SeededOrder, Priorities: r.Priorities, Choices: slices.DeleteFunc(slices.Clone(r.Choices), benign),
	}
}

// search is the state of a search. Invariant: best fails, and if guard is on, it does not fail without its bugs.
type search struct {
	o     Options
	best  Concrete
	guard bool
	// Invariant: runs exceeds limit by no more than the runs for one candidate.
	runs, limit int
	stopped     bool
	// rates holds all fault rates that the plan had at the start.
	rates []faults.Rate
	// near holds the candidates that have passed since best was found.
	near []Concrete
}

// spent reports whether the limit on runs has been reached, or the search is stopped.
func (s *search) spent() bool {
	s.stopped = s.stopped || s.o.Stop != nil && s.o.Stop(s.best, s.runs)
	return s.stopped || s.runs >= s.limit
}

// run runs a candidate. A run that panics, or that ends the handler's goroutine, does not count as the failure in
// question.
func (s *search) run(c Concrete, chooser sim.Chooser, record *sim.Recording) (fails bool, err error) {
	s.runs++
	defer func() {
		if p := recover(); p != nil {
			fails, err = false, fmt.Errorf("the run panics: %v", p)
		}
	}()
	return s.o.Fails(c, chooser, record)
}

// holdsWithoutBugs reports whether a candidate passes when its planted bugs and its profile are switched off.
func (s *search) holdsWithoutBugs(c Concrete) bool {
	p := *c.Plan
	p.Bugs, p.Profile = nil, plan.ProfileContract
	c.Plan = &p
	fails, err := s.run(c, sim.Replay(c.Choices), nil)
	return err != nil || !fails
}

// try adopts a candidate if it fails like the best one. Once the limit on runs has been reached, it adopts nothing.
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
