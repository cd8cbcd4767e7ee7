// Command mapiteration prints the digest of a run with a handler that violates a ban of internal/dev/tidy: it ranges over a
// map, so that each process schedules its activities in another order. .ci/run checks that the comparison of digests
// across processes detects this.
package main

import (
	"fmt"
	"os"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

func main() {
	items := map[string]bool{}
	for i := range 100 {
		items[fmt.Sprint("item ", i)] = true
	}
	order := func(ctx *orch.Context, _ string) (string, error) {
		var all []*orch.Future
		for item := range items {
			all = append(all, ctx.ScheduleActivity("Pack", item))
		}
		orch.Join(all...)
		return "", nil
	}
	result, err := cluster.Run(cluster.Config{
		Seed: 1,
		Plan: &plan.Plan{
			Name:      "map-iteration",
			Nodes:     []plan.Node{{Name: "A", Build: "1.5.0"}},
			Instances: []plan.Instance{{ID: "order-1", Orchestration: "Order", Expect: plan.EndAny}},
		},
		Handlers: func(r *node.Registry, _ *engine.Build) error {
			if err := r.RegisterActivity("Pack", func(_ node.ActivityContext, item string) (string, error) { return item, nil }); err != nil {
				return err
			}
			return r.Register("Order", engine.V(1, 0, 0), order)
		},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(result.Digest)
}
