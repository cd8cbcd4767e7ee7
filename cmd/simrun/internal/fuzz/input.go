package fuzz

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
)

// Input determines a single run: a plan, and the chooser and seed for the choices that the plan leaves open.
type Input struct {
	Plan *plan.Plan
	Seed uint64
	// Chooser is a name accepted by sim.NamedChooser. Empty means the default chooser.
	Chooser string
	// Way describes how the input was created, for human readers.
	Way string
}

func (in Input) chooser() sim.Chooser {
	named, err := sim.NamedChooser(cmp.Or(in.Chooser, "random"))
	if err != nil {
		panic(err) // the name has been validated here or by scenario.ParseEntry
	}
	return named(in.Seed)
}

// Entry returns the input as a stored run that is expected to pass.
func (in Input) Entry(note string) *scenario.Entry {
	return &scenario.Entry{Plan: in.Plan, Seed: in.Seed, Chooser: in.Chooser, Mode: scenario.ModeSeeded, Verdict: scenario.VerdictHolds, Note: note}
}

// FromEntry converts a stored run to an input. It discards recorded choices, which are then drawn anew.
func FromEntry(e *scenario.Entry) Input {
	return Input{Plan: e.Plan, Seed: e.Seed, Chooser: e.Chooser, Way: "a stored run"}
}

// canFork reports whether the input's chooser allows the seed to be changed from a certain draw onward.
func (in Input) canFork() bool {
	return in.Chooser == "" || in.Chooser == "random" || strings.HasPrefix(in.Chooser, "reseed:")
}

// fork returns a copy of in that behaves identically up to draw and uses seed from then on. Any later seed changes are
// dropped.
func (in Input) fork(draw, seed uint64) Input {
	var kept []string
	if pairs, ok := strings.CutPrefix(in.Chooser, "reseed:"); ok {
		words := strings.Split(pairs, ":")
		for i := 0; i+1 < len(words); i += 2 {
			var at uint64
			if _, err := fmt.Sscan(words[i], &at); err == nil && at < draw {
				kept = append(kept, words[i], words[i+1])
			}
		}
	}
	in.Chooser = strings.Join(append(append([]string{"reseed"}, kept...), fmt.Sprint(draw), fmt.Sprint(seed)), ":")
	return in
}

// drawCounter counts the draws made in a run.
type drawCounter struct {
	sim.Chooser
	draws uint64
}

func (c *drawCounter) Choose(k sim.Key, n uint64) uint64 {
	c.draws++
	return c.Chooser.Choose(k, n)
}

func (c *drawCounter) Weigh(k sim.Key, odds sim.Odds) uint64 {
	c.draws++
	return c.Chooser.Weigh(k, odds)
}

// moment is a monitor that records the number of draws made before the run first reached a point.
type moment struct {
	cluster.Monitor
	point string
	draws *drawCounter
	first uint64 // 0 until then
}

// WatchHandle implements cluster.HandleWatcher by forwarding to the monitor if it can.
func (m *moment) WatchHandle(p engine.Provider, codec engine.Codec) engine.Provider {
	return cluster.WatchHandle(m.Monitor, p, codec)
}

func (m *moment) AfterStep() {
	m.Monitor.AfterStep()
	if m.first > 0 {
		return
	}
	for _, p := range m.Coverage() {
		if p.Name == m.point {
			m.first = m.draws.draws
		}
	}
}

// momentOf returns the number of draws that a run of input in makes before it first reaches point, or 0 if it does not.
func (h *hunt) momentOf(in Input, point string) uint64 {
	m := &moment{point: point, draws: &drawCounter{Chooser: in.chooser()}}
	cfg := h.config(in)
	cfg.Chooser = m.draws
	inner := cfg.Monitor
	cfg.Monitor = func(w *cluster.World) cluster.Monitor {
		m.Monitor = inner(w)
		return m
	}
	if _, err := cluster.Run(cfg); err != nil {
		return 0
	}
	return m.first
}
