package durosim_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// refund pays money back, unless the bank takes too long.
func refund(ctx *orch.Context, input string) (string, error) {
	paid, late := ctx.ScheduleActivity("PayBack", input), ctx.ScheduleTimer(time.Minute)
	if winner, receipt, err := orch.Select(paid, late); winner == 0 {
		return receipt, err
	}
	return "", errors.New("the bank does not answer")
}

// register is called each time a node starts. It registers the handlers that ship with build b.
func register(r *node.Registry, b *engine.Build) error {
	payBack := func(_ node.ActivityContext, input string) (string, error) { return "paid back " + input, nil }
	return errors.Join(r.Register("Refund", engine.V(1, 0, 0), refund), r.RegisterActivity("PayBack", payBack))
}

const story = `# A refund is under way while its cluster is upgraded, and nodes crash.
nodes A B run 1.5.0
faults light
fault crash-before-ack 1 in 10

instance refund-1 runs Refund with "30 euros" at 1s..4s
load 20 instances over 8s
  mix 1 Refund with 1..99

at 2s..6s upgrade A to 2.0.0
after 1s..3s upgrade B to 2.0.0
`

func Example() {
	s, err := scenario.Parse("refund.txt", []byte(story))
	if err != nil {
		fmt.Println(err)
		return
	}
	for seed := range uint64(50) {
		plan, err := s.Expand(seed, scenario.Overrides{})
		if err != nil {
			fmt.Println(err)
			return
		}
		result, err := cluster.Run(cluster.Config{
			Plan: plan, Seed: seed, Handlers: register,
			Monitor: func(w *cluster.World) cluster.Monitor {
				return properties.New(w, properties.Options{Expectations: s.Expect})
			},
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, v := range result.Violations {
			fmt.Printf("seed %d: %s: %s\n", seed, v.Property, v.Message)
		}
		if first := result.FinalStates[0]; first.Output != "paid back 30 euros" {
			fmt.Printf("seed %d: %s is %s: %s\n", seed, first.Instance, first.Status, first.Output)
		}
	}
	fmt.Println("50 seeds")
	// Output:
	// 50 seeds
}
