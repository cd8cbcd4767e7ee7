package main

import (
	"cmp"
	"fmt"

	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/realnode"
)

// diff implements `simdev diff`: it runs each seed of a plan twice, unchanged, and with modelled builds in place of the
// released runtimes, with the profile of the newest of these releases. It compares what the two runs have committed, and
// reports the first event of each instance that differs. Times, versions of the runtime and the answers of its own
// activities do not count. A difference is a mistake of the model, a behaviour of the release that no switch describes
// yet, or the result of two orders of events that are both right. The exit status is 4 if something differs.
func diff(args []string) error {
	if len(args) > 0 && args[0] == "duroxide" {
		return releases(args[1:])
	}
	f := newScenarioFlags("diff")
	drawn := f.Bool("drawn", false, "draw latencies and faults from the seed; otherwise calls and activities take the least time and no fault happens, so that the orders of events are as similar as possible")
	s, over, err := f.parse(args)
	if err != nil {
		return err
	}
	hosts := realnode.Releases()
	committed := func(p *plan.Plan, seed uint64) (view memprovider.View, err error) {
		var world *cluster.World
		cfg := cluster.Config{Plan: p, Seed: seed, Releases: hosts, Monitor: func(w *cluster.World) cluster.Monitor {
			world = w
			return properties.New(w, properties.Options{Expectations: s.Expect})
		}}
		if !*drawn {
			cfg.Chooser = sim.Replay(&sim.Recording{}) // every choice takes its smallest value
		}
		if _, err := cluster.Run(cfg); err != nil {
			return nil, fmt.Errorf("seed %d: %w", seed, err)
		}
		return world.Store(), nil
	}
	alike, differing, decided := 0, 0, 0
	for seed := *f.first; seed < *f.first+*f.seeds; seed++ {
		p, err := s.Expand(seed, over)
		if err != nil {
			return err
		}
		if len(p.Releases()) == 0 {
			return fmt.Errorf("%s: no node runs a released runtime, so there is nothing to compare", s.Name)
		}
		for _, b := range p.Releases() {
			if err := hosts.Check(b); err != nil {
				return err
			}
		}
		released, err := committed(p, seed)
		if err != nil {
			return err
		}
		model, err := committed(modelled(p), seed)
		if err != nil {
			return err
		}
		differences, same, err := compareHistories(released, model)
		if err != nil {
			return err
		}
		for _, d := range differences {
			if !d.Arrival {
				decided++
			}
			fmt.Printf("seed %d: %s, execution %d, event %d\n    released  %s\n    modelled  %s\n", seed, d.Instance, d.Execution, d.Event, cmp.Or(d.One, "-"), cmp.Or(d.Other, "-"))
		}
		alike, differing = alike+same, differing+len(differences)
	}
	fmt.Printf("%d seeds: %d events alike, %d instances differ, %d of them in what was decided and not in what had arrived\n", *f.seeds, alike, differing, decided)
	if differing > 0 {
		return errFound
	}
	return nil
}
