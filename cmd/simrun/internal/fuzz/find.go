package fuzz

import (
	"slices"
	"strings"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/program"
)

// Find is a distinct failure found by a hunt.
type Find struct {
	// Violation is the first violation in the failing run. Small is that run after shrinking. If shrinking failed,
	// Small is nil and Unshrunk says why.
	Violation cluster.Violation
	Small     *durosim.Shrunk
	Unshrunk  error
	// Input is the first input that showed the failure, and AtRun is the number of its run. Runs counts the runs with
	// this failure.
	Input       Input
	AtRun, Runs uint64
	// Cause lists the kinds of parts in the smallest failing plan.
	Cause []string
}

// found adds a failing run to the finds. A run with a known failure is only counted.
func (h *hunt) found(r ran) error {
	v := r.result.Violations[0]
	alike := v.Rule() + "\n" + v.Alike()
	if f := h.known[alike]; f != nil {
		f.Runs++
		return nil
	}
	f := &Find{Violation: v, Input: r.Input, AtRun: h.r.Runs, Runs: 1}
	cfg := h.config(r.Input)
	cfg.Recording = &sim.Recording{}
	if _, err := cluster.Run(cfg); err != nil {
		return err
	}
	f.Small, f.Unshrunk = h.o.Shrink(durosim.Concrete{Plan: r.Plan, Choices: cfg.Recording}, v)
	if f.Small != nil {
		f.Small.Plan = bounded(f.Small.Plan, 0)
		f.Cause = parts(f.Small.Concrete)
	}
	for _, was := range h.r.Finds {
		if was.Small == nil || f.Small == nil || was.Violation.Rule() != v.Rule() {
			continue
		} else if was.Small.First.Alike() != f.Small.First.Alike() && !includes(was.Cause, f.Cause) && !includes(f.Cause, was.Cause) {
			continue
		}
		f.Runs += was.Runs
		if len(was.Cause) > len(f.Cause) { // the new plan shows the same with fewer kinds of parts
			*was = *f
		}
		was.Runs = f.Runs
		h.known[alike] = was
		return nil
	}
	h.known[alike] = f
	h.r.Finds = append(h.r.Finds, f)
	return nil
}

// includes reports whether all kinds in part are also in whole.
func includes(whole, part []string) bool {
	return !slices.ContainsFunc(part, func(kind string) bool { return !slices.Contains(whole, kind) })
}

// parts returns the distinct kinds of parts in a plan, sorted: steps, faults, client actions, preloaded histories and
// probes. Because the same failure may occur in any orchestration, orchestrations are included only if the plan has no
// other parts.
func parts(c durosim.Concrete) (kinds []string) {
	add := func(kind string) { kinds = append(kinds, kind) }
	p := c.Plan
	for _, s := range p.Schedule {
		add(string(s.Verb))
	}
	for _, choice := range c.Choices.Choices {
		if _, fault, ok := strings.Cut(choice.Key.String(), "/fault:"); ok && choice.Value > 0 {
			fault, _, _ = strings.Cut(fault, "/")
			add(fault)
		}
	}
	for i := range p.Instances {
		for _, a := range p.Instances[i].Actions {
			add(string(a.Verb))
		}
	}
	for _, hist := range p.Histories {
		add("history " + string(hist.Shape))
	}
	for _, probe := range p.Probes {
		add("probe " + probe.Filter)
	}
	if len(kinds) == 0 {
		kinds = whatRuns(p)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// whatRuns returns the names of the plan's orchestrations. Instead of a program's name, it returns the kinds of
// statements in the program.
func whatRuns(p *plan.Plan) (kinds []string) {
	for i := range p.Instances {
		if name := p.Instances[i].Orchestration; p.Programs.Lookup(name) == nil {
			kinds = append(kinds, name)
		}
	}
	for _, pr := range p.Programs {
		program.Walk(pr.Body, func(n *program.Node) { kinds = append(kinds, string(n.Op)) })
	}
	return kinds
}
