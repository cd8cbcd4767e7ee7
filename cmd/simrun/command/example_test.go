package command_test

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/durosim/durosim/cmd/simrun/command"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
)

// refund pays money back, unless the bank takes too long.
func refund(ctx *orch.Context, input string) (string, error) {
	paid, late := ctx.ScheduleActivity("PayBack", input), ctx.ScheduleTimer(time.Minute)
	if winner, receipt, err := orch.Select(paid, late); winner == 0 {
		return receipt, err
	}
	return "", errors.New("the bank does not answer")
}

// refund2 is refund in release 2.0.0, which asks the auditor first. Instances in flight cannot continue with it.
func refund2(ctx *orch.Context, input string) (string, error) {
	if _, err := ctx.ScheduleActivity("Audit", input).Await(); err != nil {
		return "", err
	}
	return refund(ctx, input)
}

// register is called each time a node starts. It registers what is shipped with build b.
func register(r *node.Registry, b *engine.Build) error {
	handler := refund
	if b.Version.Compare(engine.V(2, 0, 0)) >= 0 {
		handler = refund2
	}
	answer := func(_ node.ActivityContext, input string) (string, error) { return "done: " + input, nil }
	return errors.Join(
		r.Register("Refund", engine.V(1, 0, 0), handler),
		r.RegisterActivity("PayBack", answer), r.RegisterActivity("Audit", answer))
}

// orders is the whole program. Its func main calls command.Main(orders).
var orders = command.Program{Name: "orders", Handlers: register, Scenario: "testdata/orders/upgrade.txt"}

// Your own program gets simrun's verbs for its own handlers.
func Example() {
	orders.Run([]string{"list", "orchestrations"}, os.Stdout, os.Stderr)
	status := orders.Run([]string{"why", "--seed", "1", "--at", "1.1s", "refund-1"}, os.Stdout, os.Stderr)
	fmt.Println("exit status", status)
	// Output:
	// orchestration   since build   ends   summary
	// Refund@1.0.0    0.8.0         -      -
	// refund-1 at 1.1s of upgrade, seed 1
	//
	// activity: it waits for activity PayBack (event 2); node B holds it until 31.088s; a timer is due at 1m1.016s
	//
	//   time                1.1s
	//   status              Running
	//   execution           1
	//   pin                 1.5.0
	//   messages            1
	//   activities queued   1
	//   row 3               TimerFired, visible from 1m1.016s
	//   row 2               ActivityExecute #2, visible from 1.018s, delivered 1 time, locked until 31.088s
	// exit status 0
}
