package durosim

import (
	"slices"

	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
)

// Chance records how often a shrunk run still violates its property when every choice after a given step is redrawn at
// random.
type Chance struct {
	// Step is the last step whose choices are kept. If it is 0, all choices are redrawn.
	Step uint64
	// Draws is the number of redrawn runs, and Failed is how many of them violate the property.
	Failed, Draws int
	// Line is the last line of the story up to this step, or nil if nothing has happened yet.
	Line *cluster.Line

	holds uint64 // the first seed for which the property holds, or 0 if there is none
}

// Blame finds the part of a shrunk run that decides its violation. It redraws the run from the start, from the
// violation, and from steps in between, and counts the failures; it probes more steps where the chance changes most. It
// makes at most 12*draws runs. The result is sorted by step.
func (s *Shrunk) Blame(draws int) []Chance {
	const most = 12
	story := s.options.story(s.Concrete)
	chance := func(step uint64) Chance {
		c := Chance{Step: step, Draws: draws}
		for i := range story {
			if story[i].Step <= step {
				c.Line = &story[i]
			}
		}
		for seed := range uint64(draws) {
			if s.reseeded(step, seed+1, nil) {
				c.Failed++
			} else if c.holds == 0 {
				c.holds = seed + 1
			}
		}
		return c
	}
	list := []Chance{chance(0)}
	if s.First.Step > 0 {
		list = append(list, chance(s.First.Step))
	}
	for len(list) > 1 && len(list) < most {
		at, change := 0, draws/10
		for i := 1; i < len(list); i++ {
			a, b := list[i-1], list[i]
			if d := max(a.Failed-b.Failed, b.Failed-a.Failed); d > change && b.Step-a.Step > 1 {
				at, change = i, d
			}
		}
		if at == 0 {
			break
		}
		list = slices.Insert(list, at, chance((list[at-1].Step+list[at].Step)/2))
	}
	return list
}

// NearestDraw returns a redrawn run that satisfies the property and follows the shrunk run for as long as possible
// before it is redrawn. It reports false if every run that Blame made violates the property.
func (s *Shrunk) NearestDraw(blame []Chance) (*Nearest, bool) {
	for _, c := range slices.Backward(blame) {
		if c.holds == 0 {
			continue
		}
		n := &Nearest{}
		var holds []cluster.Line
		s.reseeded(c.Step, c.holds, &holds)
		n.compare(s.options.story(s.Concrete), holds)
		return n, true
	}
	return nil, false
}

// reseeded redraws every choice after step from seed, and reports whether the run still violates its property. If story
// is not nil, reseeded appends the run's lines to it.
func (s *Shrunk) reseeded(step, seed uint64, story *[]cluster.Line) bool {
	cfg := s.options.config(s.Concrete, nil)
	redraw(&cfg, sim.Replay(s.Choices), step, seed)
	if story != nil {
		cfg.Narrator = func(l cluster.Line) { *story = append(*story, l) }
	}
	r, err := cluster.Run(cfg)
	if err != nil {
		return false
	}
	_, violated := s.options.first(r)
	return violated
}

// redraw makes a run keep its choices up to a step. Later ones are drawn from seed.
func redraw(cfg *cluster.Config, kept sim.Chooser, step, seed uint64) {
	c := &turning{Chooser: kept, then: sim.Random(seed), after: step}
	cfg.Chooser = c
	cfg.Narrator = func(cluster.Line) {} // with a narrator, draws have the same names as in a recording
	monitor := cfg.Monitor
	cfg.Monitor = func(w *cluster.World) cluster.Monitor {
		c.step = w.Step
		return monitor(w)
	}
}

// turning is a chooser that hands over to another chooser after a given step.
type turning struct {
	sim.Chooser
	then  sim.Chooser
	after uint64
	step  func() uint64 // nil until the world exists
}

func (t *turning) turned() bool { return t.step != nil && t.step() > t.after || t.after == 0 }

func (t *turning) Choose(k sim.Key, n uint64) uint64 {
	if t.turned() {
		return t.then.Choose(k, n)
	}
	return t.Chooser.Choose(k, n)
}

func (t *turning) Weigh(k sim.Key, odds sim.Odds) uint64 {
	if t.turned() {
		return t.then.Weigh(k, odds)
	}
	return t.Chooser.Weigh(k, odds)
}

func (t *turning) Priority(k sim.Key) uint64 {
	if t.turned() {
		return t.then.Priority(k)
	}
	return t.Chooser.Priority(k)
}
