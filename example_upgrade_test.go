package durosim_test

import (
	"errors"
	"fmt"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
)

// order is what version 1.0.0 of the application does.
func order(ctx *orch.Context, item string) (string, error) {
	return ctx.ScheduleActivity("Ship", item).Await()
}

// orderPaid is what version 1.1.0 does, under the same version of the handler.
func orderPaid(ctx *orch.Context, item string) (string, error) {
	if _, err := ctx.ScheduleActivity("Charge", item).Await(); err != nil {
		return "", err
	}
	return ctx.ScheduleActivity("Ship", item).Await()
}

func shop(code func(*orch.Context, string) (string, error)) func(*node.Registry) error {
	return func(r *node.Registry) error {
		done := func(_ node.ActivityContext, item string) (string, error) { return "done: " + item, nil }
		return errors.Join(r.Register("Order", engine.V(1, 0, 0), code), r.RegisterActivity("Ship", done), r.RegisterActivity("Charge", done))
	}
}

const rollout = `# Orders are under way while the application is upgraded, node by node.
nodes A B run 1.5.0+1.0.0
faults light
load 20 instances over 20m
  mix 1 Order with 1..99
at 5m..10m upgrade A to 1.5.0+1.1.0
after 5m..10m upgrade B to 1.5.0+1.1.0
`

func ExampleTest_upgrade() {
	t := &firstLines{n: 13}
	durosim.Test(t, durosim.Config{Scenario: rollout, Seeds: 50, Applications: []durosim.Application{
		{Version: "1.0.0", Register: shop(order)},
		{Version: "1.1.0", Register: shop(orderPaid)},
	}})
	fmt.Print(t.text)
	// Output:
	// durosim: seed 1 of scenario violates S11 replay-deterministic (safety)
	//   rule      An ended execution's history, replayed on every build that runs it, gives the same actions.
	//   where     step 145, virtual time 9m35.829s
	//   node      B
	//   instance  Order-7
	//   evidence  an ack by B (build 1.5.0+1.0.0, start 1) with token o20, for execution 1 of Order-7 after the delivery of ActivityCompleted 1/4 (message 20), records event 6 (OrchestrationFailed), which says: nondeterministic: schedule mismatch: action=Activity(name="Ship", input="22") vs event=ActivityScheduled(name="Charge", input="22"), at durosim_test.order (example_upgrade_test.go:15) (the history of Order@1.0.0 was written by build 1.5.0+1.1.0 (events 1 to 4 at durosim_test.orderPaid (example_upgrade_test.go:19)), build 1.5.0+1.0.0 (events 5 to 6 at durosim_test.order (example_upgrade_test.go:14))): expected a turn to do what it records, and to record what its code does; code that was changed needs a new version
	//
	// The smallest plan found that violates it: size 1 (0 schedule steps, 1 instance, 0 faults, 0 other choices), from 596, in 29 runs; nothing can be left out.
	//
	//     node A runs 1.5.0+1.1.0
	//     node B runs 1.5.0+1.0.0
	//
	//     instance Order-1 runs Order with 1
}
