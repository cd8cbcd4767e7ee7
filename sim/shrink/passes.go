package shrink

import (
	"slices"
	"strconv"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/minimize"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
)

// all shrinks until a round changes nothing.
func (s *search) all() {
	s.rates = s.best.Plan.Faults.Rates
	s.oneSwitch()
	// Each kind of search gets a share of the runs. Some are reserved for the last rounds, because only those make a
	// plan minimal.
	s.limit = s.o.MaxRuns * 3 / 8
	s.fewerChoices()
	for s.drawn() { // a smaller plan may need different choices
		before := s.best.Size().Total()
		s.fewerAttempts(redraws)
		s.leaveOut(planKinds, redraws)
		s.leaveOut(choiceKinds, 0)
		s.limit = s.o.MaxRuns * 5 / 8
		s.otherChoices()
		s.limit = s.o.MaxRuns * 3 / 8
		if s.best.Size().Total() >= before {
			break
		}
	}
	s.limit = s.o.MaxRuns
	s.toFixedPoint()
}

// oneSwitch tries to replace a profile with the single switch that the violation needs. If one is not enough, it tries
// the few switches that are.
func (s *search) oneSwitch() {
	if p := s.best.Plan.Profile; p == "" || p == plan.ProfileContract {
		return
	}
	own := s.best.Plan.Bugs
	with := func(ids ...faults.BugID) Concrete {
		c, p := s.best, *s.best.Plan
		p.Profile, p.Bugs = plan.ProfileContract, slices.Concat(own, ids)
		c.Plan = &p
		return c
	}
	var all []faults.BugID
	for _, b := range faults.Profile(string(s.best.Plan.Profile)) {
		if len(b.With) > 0 {
			continue // it would add a deviation that the profile does not include
		}
		if s.try(with(b.ID)) {
			return
		}
		all = append(all, b.ID)
	}
	if !s.try(with(all...)) {
		return
	}
	minimize.Runs(1, func() int { return len(all) }, func(from, to int) bool {
		fewer := slices.Concat(all[:from], all[to:])
		ok := s.try(with(fewer...))
		if ok {
			all = fewer
		}
		return ok
	}, s.spent)
}

// toFixedPoint removes and simplifies parts until a round changes nothing. It terminates because no round makes
// anything larger.
func (s *search) toFixedPoint() {
	for changed := true; changed && !s.spent(); {
		changed = s.leaveOut(planKinds, 0)
		changed = s.startsWithBuild() || changed
		changed = s.fewerAttempts(0) || changed
		changed = s.fewerBlocks() || changed
		changed = s.earlierPrograms() || changed
		changed = s.leaveOut(choiceKinds, 0) || changed
		changed = s.simplerValues() || changed
		changed = s.plainNames() || changed
	}
}

// redraws is how many times the search retries a smaller plan with fresh random choices when the original choices no
// longer reproduce the violation.
const redraws = 4

// drawn reports whether the violation needs any choice.
func (s *search) drawn() bool {
	c := s.best.Choices
	return !s.spent() && (c.SeededOrder || len(c.Choices)+len(c.Priorities) > 0)
}

// fewerChoices tests whether the violation needs any choices at all, or only those about faults.
func (s *search) fewerChoices() {
	all := s.best.Choices
	some := onlyFaults(all)
	for _, r := range []*sim.Recording{
		{},
		some,
		{Choices: all.Choices, Priorities: all.Priorities},
		{Seed: all.Seed, SeededOrder: true, Choices: some.Choices},
	} {
		c := s.best
		c.Choices = r
		if s.try(c) {
			return
		}
	}
	s.nameOrder()
}

// nameOrder records the order of simultaneous events as explicit priorities, so that the order can be shrunk.
func (s *search) nameOrder() {
	if !s.best.Choices.SeededOrder {
		return
	}
	named := &sim.Recording{}
	if _, err := s.run(s.best, unseeded{sim.Replay(s.best.Choices)}, named); err != nil {
		return
	}
	c := s.best
	c.Choices = namedOnly(named)
	s.try(c)
}

// unseeded hides that a chooser draws priorities from a seed, so that a recorder records each priority.
type unseeded struct{ sim.Chooser }

// leaveOut removes as many parts of each kind as possible, and reports whether it removed any.
func (s *search) leaveOut(kinds []kind, fresh int) (changed bool) {
	for i := range kinds {
		changed = s.leaveOutOf(&kinds[i], fresh) || changed
	}
	return changed
}

// leaveOutOf removes as many parts of a kind as possible.
func (s *search) leaveOutOf(kind *kind, fresh int) (changed bool) {
	count := func() int { return kind.count(s.best) }
	return minimize.Runs(count(), count, func(from, to int) bool { return s.without(kind, from, to, fresh) }, s.spent)
}

func (s *search) without(kind *kind, from, to, fresh int) bool {
	c := kind.without(s.best, from, to)
	return plan.Reasonable(c.Plan, s.best.Plan) && s.keepsMessages(c) && s.tryAnew(c, fresh)
}

func (s *search) keepsMessages(c Concrete) bool {
	return !s.o.Ends || plan.KeepsMessages(c.Plan, s.best.Plan)
}

// tryAnew tries c, and then with up to that many new draws of what happens in it.
func (s *search) tryAnew(c Concrete, fresh int) bool {
	if s.try(c) {
		return true
	}
	for i := range fresh {
		if s.redraw(c, uint64(i)) {
			return true
		}
	}
	return false
}

// raise is the factor by which redraw raises the probability of faults. It is needed because a small plan gives faults
// few opportunities.
const raise = 16

// redraw draws a candidate's choices from a seed, and adopts the candidate if it then violates the property. Every
// second seed draws only the choices about faults and leaves the others benign. Half of the seeds of either kind raise
// the probability of faults.
func (s *search) redraw(c Concrete, seed uint64) bool {
	if s.spent() {
		return false
	}
	drawn := edit(c, func(p *plan.Plan) {
		if seed/2%2 == 1 {
			for i := range p.Faults.Rates {
				r := &p.Faults.Rates[i]
				r.Den = max(r.Num*2, r.Den/raise)
			}
		}
	})
	drawn.Choices = &sim.Recording{Seed: seed}
	chooser := sim.Random(seed)
	if seed%2 == 0 {
		chooser = faultsOnly{chooser}
	}
	all := &sim.Recording{}
	fails, err := s.run(drawn, chooser, all)
	if err != nil || !fails {
		return false
	}
	c.Choices = namedOnly(all)
	if !s.try(c) {
		return false
	}
	s.fewerChoices()
	return true
}

// faultsOnly is a chooser that draws only the choices about faults and leaves all others benign. Keys must be readable.
type faultsOnly struct{ sim.Chooser }

func (f faultsOnly) Choose(k sim.Key, n uint64) uint64 {
	if !isFault(k) {
		return 0
	}
	return f.Chooser.Choose(k, n)
}

func (f faultsOnly) Weigh(k sim.Key, odds sim.Odds) uint64 {
	if !isFault(k) {
		return 0
	}
	return f.Chooser.Weigh(k, odds)
}

// Priority implements sim.Chooser: first come, first served.
func (faultsOnly) Priority(sim.Key) uint64 { return 0 }

// fewerAttempts lowers max_attempts, on all nodes that set it, to the lowest value that still shows the violation, so
// that it takes fewer faults to exceed it. It reports whether it changed anything.
func (s *search) fewerAttempts(fresh int) (changed bool) {
	for to := int64(1); to < attempts(s.best); to++ {
		capped := edit(s.best, func(p *plan.Plan) {
			eachAttempts(p, func(o *plan.Setting, n int64) { o.Value = strconv.FormatInt(min(n, to), 10) })
		})
		if s.tryAnew(capped, fresh) {
			return true
		}
	}
	return false
}

// eachAttempts calls f for each max_attempts that a node in the plan sets.
func eachAttempts(p *plan.Plan, f func(o *plan.Setting, n int64)) {
	for i := range p.Nodes {
		for j := range p.Nodes[i].Options {
			o := &p.Nodes[i].Options[j]
			if n, err := strconv.ParseInt(o.Value, 10, 64); err == nil && o.Name == "max_attempts" {
				f(o, n)
			}
		}
	}
}

// attempts returns the largest max_attempts that any node in the plan sets, or 0 if none does.
func attempts(c Concrete) (most int64) {
	eachAttempts(c.Plan, func(_ *plan.Setting, n int64) { most = max(most, n) })
	return most
}

// fewerBlocks replaces blocks with their contents where possible, and reports whether it changed anything.
func (s *search) fewerBlocks() (changed bool) {
	for at := s.best.Plan.Programs.Statements() - 1; at >= 0; at-- {
		set, ok := s.best.Plan.Programs.Unblock(at)
		if ok && s.try(edit(s.best, func(p *plan.Plan) { p.Programs = set })) {
			changed = true
		}
	}
	return changed
}

// earlierPrograms makes instances run a program that their own program may start, wherever the plan still fails
// afterwards. It reports whether it changed anything.
func (s *search) earlierPrograms() (changed bool) {
	for i := range s.best.Plan.Instances {
		for j := range s.best.Plan.Programs {
			name := s.best.Plan.Programs[j].Name
			if name == s.best.Plan.Instances[i].Orchestration {
				break
			}
			if s.best.Plan.Programs.Lookup(s.best.Plan.Instances[i].Orchestration) == nil {
				break
			}
			if s.try(edit(s.best, func(p *plan.Plan) {
				p.Instances[i].Orchestration = name
			})) {
				changed = true
				break
			}
		}
	}
	return changed
}
