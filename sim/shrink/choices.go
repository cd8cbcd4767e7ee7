package shrink

import (
	"slices"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
)

// enoughChoices is how few choices are enough: with this many or fewer, the search does not look for other choices.
const enoughChoices = 3

// freshDraws is how many seeds otherChoices tries when it redraws all choices.
const freshDraws = 24

// otherChoices looks for fewer choices with which the plan still violates the property: a single choice, a fault plus
// one more choice, or what remains of a fresh draw. It does not make the best plan larger.
func (s *search) otherChoices() {
	few := func() bool {
		z := s.best.Size()
		return z.Faults+z.Choices <= enoughChoices
	}
	if !s.drawn() || few() {
		return
	}
	at := s.allRates()
	if s.oneChoice(at, nil, s.o.MaxRuns/8) || few() {
		return
	}
	for seed := range uint64(freshDraws) {
		was := s.best
		if s.redraw(at, seed+redraws) {
			s.leaveOut(choiceKinds, 0)
			if s.best.Size().Total() >= was.Size().Total() {
				s.best = was
			}
		}
		if few() {
			return
		}
	}
	s.twoChoices(at)
}

// allRates returns the best plan with all the fault rates it started with, because other faults may cause the failure,
// too.
func (s *search) allRates() Concrete {
	here := func(name string) bool {
		return name == "" || slices.ContainsFunc(s.best.Plan.Nodes, func(n plan.Node) bool { return n.Name == name })
	}
	kept := slices.DeleteFunc(slices.Clone(s.rates), func(r faults.Rate) bool { return !here(r.Node) })
	return edit(s.best, func(p *plan.Plan) { p.Faults.Rates = kept })
}

// asked returns the choices that a candidate's run makes. Choices that are not in its recording have the value 0.
func (s *search) asked(c Concrete) []sim.RecordedChoice {
	all := &sim.Recording{Complete: true}
	if _, err := s.run(c, sim.Replay(c.Choices), all); err != nil {
		return nil
	}
	return all.Choices
}

// oneChoice tries to violate the property with one choice in addition to the given ones, trying faults before delays. A
// choice of an amount is set to the maximum. oneChoice makes at most the given number of runs.
func (s *search) oneChoice(c Concrete, given []sim.RecordedChoice, most int) bool {
	end := s.runs + most
	c.Choices = &sim.Recording{Choices: given}
	open := s.asked(c)
	slices.SortStableFunc(open, func(a, b sim.RecordedChoice) int { return rank(a) - rank(b) })
	known := map[uint64]bool{}
	for _, o := range open {
		known[o.Key.Hash()] = true
	}
	for _, o := range open {
		if o.Value != 0 || o.N < 2 {
			continue
		}
		if s.runs >= end || s.spent() {
			return false
		}
		o.Value = o.N - 1
		c.Choices = &sim.Recording{Choices: append(slices.Clip(given), o)}
		if s.try(c) {
			return true
		}
		if isFault(o.Key) || o.N > 2 {
			continue
		}
		for _, more := range s.asked(c) { // the choice of the fault's amount
			if !known[more.Key.Hash()] && more.N > 2 {
				more.Value = more.N - 1
				c.Choices = &sim.Recording{Choices: append(slices.Clip(given), o, more)}
				if s.try(c) {
					return true
				}
				break
			}
		}
	}
	return false
}

// rank returns a choice's position in the order in which choices are tried.
func rank(c sim.RecordedChoice) int {
	if isFault(c.Key) {
		return 0
	}
	return 1
}

// twoChoices tries pairs of choices: a fault, plus one more choice in the run that results from it.
func (s *search) twoChoices(c Concrete) {
	c.Choices = &sim.Recording{}
	for _, first := range s.asked(c) {
		if s.spent() {
			return
		}
		if !isFault(first.Key) || first.N != 2 {
			continue
		}
		first.Value = 1
		if s.oneChoice(c, []sim.RecordedChoice{first}, s.o.MaxRuns/20) {
			return
		}
	}
}

// startsWithBuild makes a node start with the build that a later step would give it, and drops that step.
func (s *search) startsWithBuild() (changed bool) {
	for i := 0; i < len(s.best.Plan.Schedule); i++ {
		step := s.best.Plan.Schedule[i]
		if step.Verb != plan.VerbUpgrade && step.Verb != plan.VerbRollback {
			continue
		}
		c := edit(s.best, func(p *plan.Plan) {
			p.Schedule = slices.Delete(p.Schedule, i, i+1)
			for j := range p.Nodes {
				if p.Nodes[j].Name == step.Node {
					p.Nodes[j].Build = step.Build
				}
			}
		})
		if s.try(c) {
			changed = true
			i--
		}
	}
	return changed
}
