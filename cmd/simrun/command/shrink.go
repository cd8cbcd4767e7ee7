package command

import (
	"fmt"
	"slices"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// shrinkCmd implements `simrun shrink`, which reduces a failing run to a small one.
type shrinkCmd struct {
	planFlags `embed:""`

	Scenario string `arg:"" optional:"" help:"Built-in scenario, scenario file, or stored run; if none is named, the one that shows the first --bug, or rolling-upgrade."`

	Seed     *seed  `help:"The seed, decimal or 0x-hex; if not given, the first of 1,000 that fails. A stored run has its own." placeholder:"N"`
	Property string `help:"The property whose violation to keep, or an expectation (\"expect never ...\"); if not given, the first that is violated." placeholder:"ID"`
	Runs     uint   `help:"The maximum number of runs of the search; 5,000 if not given." placeholder:"N"`
	Out      string `help:"Write the shrunk run to this directory." placeholder:"DIR"`
	JSON     bool   `name:"json" help:"Print one JSON object on standard output and nothing else."`
}

// Help returns the text printed below the flags.
func (shrinkCmd) Help() string {
	return `Takes a run that violates a property and removes as much as it can: schedule steps, instances, histories, probes, nodes, options, faults and delays. The result is a plan in which every part is needed, every fault is named, and times are as early and round as possible.

With --bug, a smaller plan counts only if it holds without the bug.

Examples:

    simrun shrink --seed 7 --bug provider/filter-after-lock
    simrun shrink --bug engine/poll-stops --out testdata/seeds
    simrun shrink --property S04 testdata/seeds/0123456789abcdef.txt

Exit status: 1 if a safety property is violated, 3 if it is a liveness property, 6 if a handler is not deterministic, 7 if the plan fails, 0 if there is nothing to shrink, 2 usage or bad input.`
}

func (c *shrinkCmd) run(a *app) (int, error) {
	if err := checkOut(c.Out); err != nil {
		return 0, err
	}
	s, seed, concrete, err := c.failing(a.program)
	if err != nil {
		return 0, err
	}
	if concrete == nil {
		return c.nothing(a, s, "every property holds")
	}
	result, err := s.runConcrete(*concrete)
	if err != nil {
		return 0, err
	}
	violation, ok := pick(result, c.Property, s.bugs())
	if !ok {
		return c.nothing(a, s, fmt.Sprintf("seed %d violates no property", seed))
	}
	options := s.shrinkOptions(violation)
	options.MaxRuns = int(c.Runs)
	small, err := durosim.Shrink(*concrete, options)
	if err != nil {
		return 0, err
	}
	out := &shrunk{subject: s, seed: seed, small: small, repro: c.repro(s, seed)}
	if c.Out != "" {
		if out.stored, err = storeEntry(c.Out, s.shrunkEntry(seed, small)); err != nil {
			return 0, err
		}
		var provider []string
		if s.flags.Provider != "" {
			provider = []string{"--provider", s.flags.Provider}
		}
		out.repro = itself(slices.Concat([]string{"replay"}, provider, []string{out.stored})...)
	}
	status := classExit(small.First.Class)
	if c.JSON {
		return status, a.writeJSON(out.json(status))
	}
	a.printShrunk(out)
	return status, nil
}

// failing returns the recorded run to shrink, or nil if no seed fails.
func (c *shrinkCmd) failing(p *Program) (*subject, uint64, *durosim.Concrete, error) {
	entry, err := (&replayCmd{planFlags: c.planFlags, Scenario: c.Scenario, Seed: c.Seed}).entry(p)
	if err != nil {
		return nil, 0, nil, err
	}
	if entry != nil {
		s, err := entrySubject(p, entry, c.Scenario, c.Provider)
		if err != nil {
			return nil, 0, nil, err
		}
		concrete := &durosim.Concrete{Plan: entry.Plan, Choices: entry.Recording, Expect: entry.Expect}
		if entry.Mode == scenario.ModeSeeded {
			concrete, err = s.record(s.configOf(entry.Plan, entry.Seed))
		}
		return s, entry.Seed, concrete, err
	}
	s, err := c.subject(p, c.Scenario)
	if err != nil {
		return nil, 0, nil, err
	}
	var seed uint64
	if c.Seed != nil {
		seed = uint64(*c.Seed)
	} else {
		o := s.campaign()
		o.First, o.Count = 1, defaultSeeds
		sum, err := campaign.Run(o)
		if err != nil {
			return nil, 0, nil, inputError(err)
		}
		if len(sum.Violations) == 0 {
			return s, 0, nil, nil
		}
		seed = sum.Violations[0].Seed
	}
	cfg, err := s.config(seed)
	if err != nil {
		return nil, 0, nil, err
	}
	concrete, err := s.record(cfg)
	return s, seed, concrete, err
}

// record executes a run and records its choices.
func (s *subject) record(cfg cluster.Config) (*durosim.Concrete, error) {
	cfg.Recording = &sim.Recording{}
	if _, err := cluster.Run(cfg); err != nil {
		return nil, err
	}
	return &durosim.Concrete{Plan: cfg.Plan, Choices: cfg.Recording, Expect: s.scenario.Expect}, nil
}

func (s *subject) runConcrete(c durosim.Concrete) (*cluster.Result, error) {
	cfg := s.configOf(c.Plan, 0)
	cfg.Chooser = sim.Replay(c.Choices)
	return cluster.Run(cfg)
}

// shrinkOptions returns the options for shrinking a run while preserving violation v.
func (s *subject) shrinkOptions(v cluster.Violation) durosim.ShrinkOptions {
	return durosim.ShrinkOptions{Property: v.Property, Expectation: v.Expectation, Builds: s.program.builds, Handlers: s.program.Handlers, EachRun: s.program.EachRun, Releases: releases(), Store: s.store}
}

func (s *subject) bugs() []faults.BugID {
	return append(slices.Clone(s.scenario.Template.Bugs), s.over.Bugs...)
}

// pick returns the violation to preserve, and reports whether there is one. If asked is set, it names a property ID or
// a whole rule, and pick returns a violation of it. If not, pick prefers a violation of a property that one of the bugs
// is expected to break, and falls back to the first violation.
func pick(r *cluster.Result, asked string, on []faults.BugID) (cluster.Violation, bool) {
	find := func(what func(v cluster.Violation) bool) (cluster.Violation, bool) {
		if i := slices.IndexFunc(r.Violations, what); i >= 0 {
			return r.Violations[i], true
		}
		return cluster.Violation{}, false
	}
	if asked != "" {
		return find(func(v cluster.Violation) bool { return v.Property == asked || v.Rule() == asked })
	}
	for _, id := range on {
		bug, _ := faults.Lookup(id) // an unknown bug has no properties
		for _, property := range bug.Properties {
			if v, ok := find(func(v cluster.Violation) bool { return v.Property == property }); ok {
				return v, true
			}
		}
	}
	return find(func(cluster.Violation) bool { return true })
}

// nothing reports that there is nothing to shrink.
func (c *shrinkCmd) nothing(a *app, s *subject, why string) (int, error) {
	if c.Property != "" {
		if _, ok := properties.ByID(c.Property); !ok {
			return 0, fmt.Errorf("--property %q: there is no such property; %s lists all", c.Property, a.program.hint("list properties"))
		}
		why = c.Property + " is not violated"
	}
	if c.JSON {
		return exitOK, a.writeJSON(shrunkJSON{Schema: schema, Verb: "shrink", Scenario: s.scenario.Name, Violations: []violationJSON{}})
	}
	a.printf("%s: nothing to shrink, %s\n", s.scenario.Name, why)
	return exitOK, nil
}

// repro returns the command line for shrinking the same run again.
func (c *shrinkCmd) repro(s *subject, seed uint64) string {
	var property []string
	if c.Property != "" {
		property = []string{"--property", c.Property}
	}
	if s.stored {
		return itself(slices.Concat([]string{"shrink"}, s.options(), []string{s.arg}, property)...)
	}
	return s.line("shrink", seed, property...)
}

// shrunkEntry returns a corpus entry for a shrunk run.
func (s *subject) shrunkEntry(seed uint64, small *durosim.Shrunk) *scenario.Entry {
	return small.Entry(seed, "first shown by: "+s.repro(seed))
}
