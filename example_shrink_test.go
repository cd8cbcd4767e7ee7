package durosim_test

import (
	"fmt"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

func ExampleShrink() {
	s, err := scenario.Lookup("rolling-upgrade")
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := s.Expand(1, scenario.Overrides{Bugs: []faults.BugID{"provider/filter-after-lock"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	choices := &sim.Recording{}
	result, err := cluster.Run(cluster.Config{
		Plan: plan, Seed: 1, Recording: choices,
		Monitor: func(w *cluster.World) cluster.Monitor { return properties.New(w, properties.Options{}) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	small, err := durosim.Shrink(durosim.Concrete{Plan: plan, Choices: choices},
		durosim.ShrinkOptions{Property: result.Violations[0].Property})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s violates %s\n", small.Size(), small.First.Property)
	fmt.Printf("%s", scenario.Format(small.Plan))
	// Output:
	// 2 (0 schedule steps, 2 instances, 0 faults, 0 other choices) violates S01
	// scenario rolling-upgrade
	// fault-phase 1m0s
	// bug provider/filter-after-lock
	//
	// node A runs 2.0.0
	// node B runs 1.5.0
	//
	// instance loop-1 runs Eternal expect eternal
	// instance loop-2 runs Eternal at 1s expect eternal
}
