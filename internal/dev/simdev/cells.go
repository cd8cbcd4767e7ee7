package main

import (
	"flag"
	"fmt"

	"github.com/durosim/durosim/internal/dev/cells"
	"github.com/durosim/durosim/sim/scenario"
)

// cellsOf implements `simdev cells`: it lists what the store is never given, in the scenarios that are named or in all.
func cellsOf(args []string) error {
	f := flag.NewFlagSet("simdev cells", flag.ContinueOnError)
	seeds := f.Uint64("seeds", 8, "how `MANY` seeds of each scenario")
	if err := f.Parse(args); err != nil {
		return err
	}
	names := f.Args()
	if len(names) == 0 {
		for _, n := range scenario.Builtin() {
			names = append(names, n.Name)
		}
	}
	var all []*scenario.Scenario
	for _, name := range names {
		s, err := scenario.Lookup(name)
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	reached, err := cells.Reached(all, *seeds)
	if err != nil {
		return err
	}
	for _, line := range reached.Missing() {
		fmt.Println(line)
	}
	return nil
}
