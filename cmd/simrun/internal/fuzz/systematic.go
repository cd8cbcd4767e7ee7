package fuzz

import (
	"fmt"
	"time"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/cmd/simrun/internal/upgrade"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/sim/plan"
)

// systematic returns inputs that need no luck: the scenario's plan without faults, first in, first out. Every beginning
// of the schedule is its end, or is taken back; then each shape of stored history, pinned to each build, gets its event
// before, between or after the steps, of which all are carried out, or all are taken back at the end. Most published
// upgrade failures need neither faults nor timing.
func (h *hunt) systematic() ([]Input, error) {
	p, err := h.o.Plain(h.o.Seed)
	if err != nil {
		return nil, err
	}
	run := h.o.Config()
	builds, err := p.AllBuilds(run.Builds)
	if err != nil {
		return nil, err
	}
	steps := upgrade.Steps(p)
	from := upgrade.Config{Builds: run.Builds, NewRun: func() durosim.Run { return durosim.Run{Handlers: run.Handlers} }}
	var inputs []Input
	try := func(done int, back bool, histories []plan.History) {
		c := p.Clone()
		c.Faults.Rates, c.Histories = nil, append(c.Histories, histories...)
		for i := range histories {
			if c.FaultPhase > 0 {
				c.FaultPhase = max(c.FaultPhase, histories[i].KickAt+time.Second)
			}
		}
		how := "stops"
		if back {
			how = "goes back"
			from.Back(c, done, 0, builds)
		} else {
			upgrade.Stop(c, done)
		}
		if most := max(h.o.Space.Steps, len(p.Schedule)); h.o.Space.Steps > 0 && len(c.Schedule) > most {
			return
		}
		way := fmt.Sprintf("a plan that %s after %d of %d steps, without faults", how, done, len(steps))
		inputs = append(inputs, Input{Plan: bounded(c, StepBudget), Seed: h.o.Seed, Chooser: "fifo", Way: way})
	}
	for done := range len(steps) + 1 {
		try(done, false, nil)
		if done > 0 {
			try(done, true, nil)
		}
	}
	if len(h.o.Space.Handlers) == 0 || h.o.Space.Instances > 0 {
		return inputs, nil // the program has its own handlers, which need not know the histories, or the scenario limits them
	}
	for _, shape := range plan.Shapes() {
		for kick := range len(steps) + 1 {
			at := time.Second
			if kick > 0 {
				at = steps[kick-1].At + time.Second
			}
			histories := h.stored(shape, at, builds)
			try(len(steps), false, histories)
			if len(steps) > 0 {
				try(len(steps), true, histories)
			}
		}
	}
	return inputs, nil
}

// stored returns histories of a shape: one for each pin that the hunt's builds write, and an unpinned one.
func (h *hunt) stored(shape plan.Shape, kick time.Duration, builds []*engine.Build) (list []plan.History) {
	add := func(name string, pin *engine.Version) {
		list = append(list, plan.History{Instance: fmt.Sprintf("%s pinned by %s", shape, name), Shape: shape, Pin: pin, KickAt: kick})
	}
	for _, name := range h.o.Space.Builds {
		b := plan.FindBuild(builds, name)
		if b != nil && (shape != plan.ShapeNewKind || b.Writes(eventdata.KindExternalSubscribed2, &b.Version)) { // an older one would not have written it
			add(name, &b.Version)
		}
	}
	if shape != plan.ShapeNewKind {
		add("nobody", nil)
	}
	return list
}
