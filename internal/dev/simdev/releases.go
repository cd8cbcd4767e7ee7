package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
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
turbulence 30s
node A runs %[1]s
  option orchestration_concurrency 1
  option worker_concurrency 1
node B runs %[2]s absent
node C runs 1.5.0 absent

load 10 instances from 1s over 20s
  mix 1 generated programs
`

// releases implements `simdev diff duroxide ONE OTHER`: it runs generated programs on both releases, without faults and
// with the least of every choice, and prints one entry for each way in which their histories differ, with the smallest
// plan found that shows it. It also compares which events and fields of events they write at all. Two releases may
// take inputs in another order and both be right, so a difference in what has arrived counts only if it never arrives.
// The exit status is 4 if something differs.
func releases(args []string) error {
	f := flag.NewFlagSet("simdev diff duroxide", flag.ContinueOnError)
	first, seeds := f.Uint64("first", 1, "the first `SEED`"), f.Uint64("seeds", 20, "how `MANY` seeds, each of ten programs")
	runs := f.Int("runs", 300, "how `MANY` runs to make a plan smaller")
	if len(args) < 2 {
		return errors.New("duroxide: expected two releases, such as 0.1.30 0.1.32")
	}
	if err := f.Parse(args[2:]); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("%s: expected two releases, before the flags", f.Arg(0))
	}
	hosts := realnode.Releases()
	var names [2]string
	for i := range names {
		b, err := releasedBuild(args[i])
		if err != nil {
			return err
		}
		if err := hosts.Check(b); err != nil {
			return err
		}
		names[i] = b.Name()
	}
	one, other := names[0], names[1]
	spelled := func(name string) string { return "duroxide " + strings.TrimPrefix(name, engine.ReleasePrefix) }
	s, err := scenario.Parse("generated.txt", fmt.Appendf(nil, generated, spelled(one), spelled(other)))
	if err != nil {
		return err
	}

	compare := func(p *plan.Plan) ([2]memprovider.View, []realnode.Difference, int, error) {
		var stores [2]memprovider.View
		for i, release := range []string{one, other} {
			p := p.Clone()
			for j := range p.Nodes {
				if p.Nodes[j].Build == one {
					p.Nodes[j].Build = release
				}
			}
			var world *cluster.World
			cfg := cluster.Config{Plan: p, Releases: hosts, Chooser: sim.Replay(&sim.Recording{}), Monitor: func(w *cluster.World) cluster.Monitor {
				world = w
				return properties.New(w, properties.Options{})
			}}
			if _, err := cluster.Run(cfg); err != nil {
				return stores, nil, 0, fmt.Errorf("on %s: %w", release, err)
			}
			stores[i] = world.Store()
		}
		differ, alike, err := realnode.Compare(stores[0], stores[1])
		return stores, differ, alike, err
	}

	type entry struct {
		seed       uint64
		count      int
		plan       *plan.Plan
		difference realnode.Difference
	}
	entries := map[string]*entry{}
	written := [2]map[string]int{{}, {}}
	alike, elsewhen := 0, 0
	for seed := *first; seed < *first+*seeds; seed++ {
		p, err := s.Expand(seed, scenario.Overrides{})
		if err != nil {
			return err
		}
		stores, differ, same, err := compare(p)
		if err != nil {
			return fmt.Errorf("seed %d, %w", seed, err)
		}
		alike += same
		for i, store := range stores {
			if err := countWritten(store, written[i]); err != nil {
				return fmt.Errorf("seed %d: %w", seed, err)
			}
		}
		for _, d := range differ {
			if d.Arrival && d.One != "" && d.Other != "" {
				elsewhen++
				continue
			}
			class := classOf(d)
			if entries[class] == nil {
				entries[class] = &entry{seed: seed, plan: p, difference: d}
			}
			entries[class].count++
		}
	}

	fmt.Printf("%s -> %s\n%d seeds: %d events alike; %d instances took inputs in another order; %d kinds of differences\n",
		one, other, *seeds, alike, elsewhen, len(entries))
	facts := 0
	for i, name := range []string{one, other} {
		for _, what := range slices.Sorted(maps.Keys(written[i])) {
			if written[1-i][what] == 0 {
				facts++
				fmt.Printf("only %s writes %s (%d times)\n", name, what, written[i][what])
			}
		}
	}
	for _, class := range slices.Sorted(maps.Keys(entries)) {
		e := entries[class]
		fmt.Printf("\n%s: %d instances, first at seed %d, %s, execution %d, event %d\n    %s  %s\n    %s  %s\n", class, e.count, e.seed,
			e.difference.Instance, e.difference.Execution, e.difference.Event, one, cmp.Or(e.difference.One, "-"), other, cmp.Or(e.difference.Other, "-"))
		shows := func(c shrink.Concrete, _ sim.Chooser, _ *sim.Recording) (bool, error) {
			_, differ, _, err := compare(c.Plan)
			return slices.ContainsFunc(differ, func(d realnode.Difference) bool { return classOf(d) == class }), err
		}
		small, err := shrink.Minimize(shrink.Concrete{Plan: e.plan, Choices: &sim.Recording{}}, shrink.Options{Fails: shows, MaxRuns: *runs})
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

// releasedBuild returns the build of a release that nodes can run.
func releasedBuild(version string) (*engine.Build, error) {
	known := engine.ReleasedBuilds()
	i := slices.IndexFunc(known, func(b *engine.Build) bool { return b.Version.String() == version })
	if i < 0 {
		return nil, fmt.Errorf("%s is not a release that a node can run", version)
	}
	return known[i], nil
}

// countWritten counts the kinds of events in a run's histories ("TimerFired"), and the fields of each kind
// ("TimerFired.fire_at_ms"), by the names that they have in JSON.
func countWritten(store memprovider.View, counts map[string]int) error {
	codec := engine.NewJSONCodec("written", engine.Kinds1x(), engine.WorkItemKinds1x())
	for no := observe.InstanceNo(1); store.InstanceName(no) != ""; no++ {
		for execution := uint64(1); ; execution++ {
			events, err := store.PeekHistory(store.InstanceName(no), execution, codec)
			if err != nil {
				return err
			}
			if len(events) == 0 {
				break
			}
			for _, e := range events {
				text, err := codec.AppendEvent(nil, e)
				if err != nil {
					return err
				}
				var fields map[string]any
				if err := json.Unmarshal(text, &fields); err != nil {
					return err
				}
				kind := string(e.Kind())
				counts[kind]++
				for name := range fields {
					counts[kind+"."+name]++
				}
			}
		}
	}
	return nil
}

// classOf names the way in which two histories differ: the kinds of the two events, or the fields in which events of one
// kind differ.
func classOf(d realnode.Difference) string {
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
