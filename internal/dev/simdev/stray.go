package main

import (
	"fmt"
	"runtime"

	"github.com/durosim/durosim/internal/dev/selfcheck"
	"github.com/durosim/durosim/internal/dev/stray"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// strays implements `simdev stray`: it runs the histories of package stray with every judge, and prints what they object
// to. The exit status is 4 if they do.
func strays(args []string) error {
	f := newScenarioFlags("stray")
	_, over, err := f.parse(args)
	if err != nil {
		return err
	}
	options := stray.Options()
	options.Expectations = nil // a few seeds need not show what twenty do
	sum, err := campaign.Run(campaign.Options{
		First: *f.first, Count: *f.seeds, Workers: runtime.GOMAXPROCS(0),
		Plan: func(seed uint64) (*plan.Plan, error) { return stray.Expand(seed, over) },
		Config: func() (cfg cluster.Config) {
			run := stray.Run()
			run.Monitor = selfcheck.Watch
			run.Configure(&cfg, options)
			return cfg
		},
	})
	if err != nil {
		return err
	}
	for _, v := range sum.Violations {
		fmt.Printf("seed %d: %s: %s\n", v.Seed, v.Property, v.Message)
	}
	fmt.Printf("%d seeds, %d violations\n", sum.Seeds, len(sum.Violations))
	if len(sum.Violations) > 0 {
		return errFound
	}
	return nil
}
