package main

import (
	"fmt"
	"runtime"

	"github.com/durosim/durosim/internal/dev/stray"
	"github.com/durosim/durosim/sim/campaign"
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
	all := stray.Campaign(over, options)
	all.First, all.Count, all.Workers = *f.first, *f.seeds, runtime.GOMAXPROCS(0)
	sum, err := campaign.Run(all)
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
