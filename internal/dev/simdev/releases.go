package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/realnode"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/shrink"
)

// generated is a plan whose node runs one release. The absent nodes restrict its programs to those that mean the same
// on both releases and on a modelled node.
const generated = `
fault-phase 30s
node A runs %[1]s
  option orchestration_concurrency 1
  option worker_concurrency 1
node B runs %[2]s absent
node C runs 1.5.0 absent

load 10 instances from 1s over 20s
  mix 1 generated programs
`

// releases implements `simdev diff duroxide ONE OTHER`: it compares what two releases do with generated programs, and
// prints one entry for each way in which they differ, with the smallest plan found that shows it. The exit status is 4
// if something differs.
//
// Without faults both releases run the programs with the least of every choice, and their histories are compared, as
// are the events, work items and fields that they write at all. Two releases may take inputs in another order and both
// be right, so a difference in what has arrived counts only if it never arrives.
//
// With faults the first difference would make all later times differ. So the first release alone runs, and each batch
// and activity that one of its nodes is handed is then handed to a new node of the other one, with the same history,
// attempts, times and answers to its calls: what the two do with it is compared call by call.
func releases(args []string) error {
	f := flag.NewFlagSet("simdev diff duroxide", flag.ContinueOnError)
	first, seeds := f.Uint64("first", 1, "the first `SEED`"), f.Uint64("seeds", 20, "how `MANY` seeds, each of ten programs")
	runs := f.Int("runs", 300, "how `MANY` runs to make a plan smaller")
	level := f.String("faults", "", "light, full, timing, or own, which are the scenario's: run one release with these faults, and compare what the other does with each batch and activity")
	in := f.String("in", "", "run `SCENARIO` with the releases in place of its own, not generated programs")
	upgrade := f.Bool("upgrade", false, "with faults: the other release continues histories that have the first one's version, as after an upgrade, not its own")
	if len(args) < 2 {
		return errors.New("duroxide: expected two releases, such as 0.1.30 0.1.32")
	}
	if err := f.Parse(args[2:]); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("%s: expected two releases, before the flags", f.Arg(0))
	}
	var over scenario.Overrides
	if *level != "" && *level != "own" {
		plan, err := scenario.NamedFaults(*level)
		if err != nil {
			return err
		}
		over.Faults = &plan
	} else if *level == "" && *upgrade {
		return errors.New("-upgrade: expected -faults, too")
	}
	hosts := realnode.Releases()
	var builds [2]*engine.Build
	for i := range builds {
		b, err := releasedBuild(args[i])
		if err != nil {
			return err
		}
		if err := hosts.Check(b); err != nil {
			return err
		}
		builds[i] = b
	}
	one, other := builds[0].Name(), builds[1].Name()
	spelled := func(name string) string { return "duroxide " + strings.TrimPrefix(name, engine.ReleasePrefix) }
	s, err := scenario.Parse("generated.txt", fmt.Appendf(nil, generated, spelled(one), spelled(other)))
	if *in != "" {
		s, _, err = scenario.Source{ReadFile: os.ReadFile}.Open(*in)
	}
	if err != nil {
		return err
	}
	if s == nil {
		return fmt.Errorf("%s is a stored run, not a scenario", *in)
	}

	run := func(p *plan.Plan, seed uint64, chooser sim.Chooser, record *sim.Recording, nodes cluster.Runtimes, begun func(*cluster.World)) error {
		_, err := cluster.Run(cluster.Config{Plan: p, Seed: seed, Chooser: chooser, Recording: record, Releases: nodes, Monitor: func(w *cluster.World) cluster.Monitor {
			begun(w)
			return properties.New(w, properties.Options{})
		}})
		return err
	}
	counts := [2]map[string]int{{}, {}}
	compare := func(p *plan.Plan, seed uint64, chooser sim.Chooser, record *sim.Recording) (differ []difference, alike int, err error) {
		if *level != "" {
			return turns(func(nodes cluster.Runtimes, begun func(*cluster.World)) error {
				return run(p, seed, chooser, record, nodes, begun)
			}, hosts, builds[1], *upgrade)
		}
		var stores [2]memprovider.View
		for i, b := range builds {
			p := p.Clone()
			for j := range p.Nodes {
				if p.Nodes[j].Build == one {
					p.Nodes[j].Build = b.Name()
				}
			}
			var world *cluster.World
			counted := &probe{Runtimes: hosts, written: counts[i]}
			if err := run(p, 0, sim.Replay(&sim.Recording{}), nil, counted, func(w *cluster.World) { world = w }); err != nil {
				return nil, 0, fmt.Errorf("on %s: %w", b.Name(), err)
			}
			stores[i] = world.Store()
		}
		return compareHistories(stores[0], stores[1])
	}

	type entry struct {
		seed       uint64
		count      int
		plan       *plan.Plan
		choices    *sim.Recording
		difference difference
	}
	entries := map[string]*entry{}
	alike, elsewhen := 0, 0
	for seed := *first; seed < *first+*seeds; seed++ {
		p, err := s.Expand(seed, over)
		if err != nil {
			return err
		}
		for i := range p.Nodes {
			if strings.HasPrefix(p.Nodes[i].Build, engine.ReleasePrefix) && !p.Nodes[i].Absent {
				p.Nodes[i].Build = one
			}
		}
		for i := range p.Schedule {
			if strings.HasPrefix(p.Schedule[i].Build, engine.ReleasePrefix) {
				p.Schedule[i].Build = one
			}
		}
		choices := &sim.Recording{}
		differ, same, err := compare(p, seed, nil, choices)
		if err != nil {
			return fmt.Errorf("seed %d, %w", seed, err)
		}
		alike += same
		for _, d := range differ {
			if d.Arrival && d.One != "" && d.Other != "" {
				elsewhen++
				continue
			}
			class := classOf(d)
			if entries[class] == nil {
				entries[class] = &entry{seed: seed, plan: p, choices: choices, difference: d}
			}
			entries[class].count++
		}
	}

	what, where := "events", "instances"
	if *level != "" {
		what, where = "decisions", "turns or activities"
	}
	fmt.Printf("%s -> %s\n%d seeds: %d %s alike; ", one, other, *seeds, alike, what)
	if *level == "" {
		fmt.Printf("%d instances took inputs in another order; ", elsewhen)
	}
	fmt.Printf("%d kinds of differences\n", len(entries))
	facts := 0
	for i, written := range counts {
		for _, what := range slices.Sorted(maps.Keys(written)) {
			if counts[1-i][what] == 0 {
				facts++
				fmt.Printf("only %s writes %s (%d times)\n", builds[i].Name(), what, written[what])
			}
		}
	}
	for _, class := range slices.Sorted(maps.Keys(entries)) {
		e := entries[class]
		fmt.Printf("\n%s: %d %s, first at seed %d, %s, execution %d, event %d\n    %s  %s\n    %s  %s\n", class, e.count, where, e.seed,
			e.difference.Instance, e.difference.Execution, e.difference.Event, one, cmp.Or(e.difference.One, "-"), other, cmp.Or(e.difference.Other, "-"))
		shows := func(c shrink.Concrete, chooser sim.Chooser, record *sim.Recording) (bool, error) {
			differ, _, err := compare(c.Plan, e.seed, chooser, record)
			return slices.ContainsFunc(differ, func(d difference) bool { return classOf(d) == class }), err
		}
		small, err := shrink.Minimize(shrink.Concrete{Plan: e.plan, Choices: e.choices}, shrink.Options{Fails: shows, MaxRuns: *runs})
		if err != nil {
			return fmt.Errorf("seed %d: %w", e.seed, err)
		}
		fmt.Println(strings.TrimSpace(small.Text()))
	}
	if len(entries)+facts > 0 {
		return errFound
	}
	return nil
}

// releasedBuild returns the build of a release that nodes can run, or of a crate that is not published.
func releasedBuild(name string) (*engine.Build, error) {
	b := engine.ReleasedBuild(name)
	if b == nil {
		return nil, fmt.Errorf("%s is not a release that a node can run", name)
	}
	return b, nil
}

// classOf names the way in which two histories differ: the kinds of the two events, or the fields in which events of
// one kind differ.
func classOf(d difference) string {
	kind := func(text string) (string, map[string]any) {
		var fields map[string]any
		if text == "" || json.Unmarshal([]byte(text), &fields) != nil {
			return "nothing", nil
		}
		return fmt.Sprint(fields["type"]), fields
	}
	one, a := kind(d.One)
	other, b := kind(d.Other)
	if one != other {
		return one + " -> " + other
	}
	names := map[string]bool{}
	for _, fields := range []map[string]any{a, b} {
		for name := range fields {
			if fmt.Sprint(a[name]) != fmt.Sprint(b[name]) {
				names[name] = true
			}
		}
	}
	return one + ": " + strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}
