package cluster_test

import (
	"fmt"
	"time"

	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// order is a plan in which a node is upgraded while an order waits for its approval.
func order() *plan.Plan {
	return &plan.Plan{
		Name:  "order",
		Nodes: []plan.Node{{Name: "A", Build: "1.5.0"}, {Name: "B", Build: "2.0.0"}},
		Schedule: []plan.Step{
			{At: 5 * time.Second, Verb: plan.VerbUpgrade, Node: "A", Build: "2.0.0"},
		},
		Instances: []plan.Instance{{
			ID: "order-1", Orchestration: "ProcessOrder", Version: "1.0.0", StartAt: time.Second,
			Actions: []plan.Action{{At: 10 * time.Second, Verb: plan.ActionRaise, Name: "approval", Data: "the boss"}},
		}},
	}
}

func ExampleRun() {
	result, err := cluster.Run(cluster.Config{Plan: order(), Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range result.FinalStates {
		fmt.Printf("%s: %s, %s\n", o.Instance, o.Status, o.Output)
	}
	again, _ := cluster.Run(cluster.Config{Plan: order(), Seed: 1})
	fmt.Println("the same again:", again.Digest == result.Digest)
	// Output:
	// order-1: Completed, Ship() approved by the boss
	// the same again: true
}

func ExampleExplain() {
	for _, at := range []time.Duration{0, 8 * time.Second, 30 * time.Second} {
		why, err := cluster.Explain(cluster.Config{Plan: order(), Seed: 1}, "order-1", at)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%v: %s: %s\n", at, why.Rule, why.Text)
	}
	// Output:
	// 0s: not-started: no client has started it yet
	// 8s: event: it waits for the event "approval", which a client sends at 10s
	// 30s: ended: it has ended: Completed: Ship() approved by the boss; the run ended at 12s
}
