package sim_test

import "github.com/durosim/durosim/sim"

// Labels for the keys of tests.
var (
	labelNode  = sim.NewLabel("node")
	labelCall  = sim.NewLabel("call")
	labelTimer = sim.NewLabel("timer")
)
