package orch_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/durosim/durosim/engine/orch"
)

func ExampleContext() {
	run(func(ctx *orch.Context, input string) (string, error) {
		ctx.Trace(fmt.Sprintf("%s@%s is execution %d of %s", ctx.Name(), ctx.Version(), ctx.ExecutionID(), ctx.InstanceID()))
		if _, err := ctx.ScheduleActivity("charge", input).Await(); err != nil {
			return "", err
		}
		return ctx.ScheduleActivity("ship", input).Await()
	}, "book")
	// Output:
	// trace: Order@1.0.0 is execution 1 of order-1
	// schedule charge(book)
	// schedule ship(book)
	// returns "ship(book)", <nil>
}

func ExampleSelect() {
	run(func(ctx *orch.Context, _ string) (string, error) {
		index, value, err := orch.Select(ctx.ScheduleWait("approved"), ctx.ScheduleTimer(time.Hour))
		return fmt.Sprint(index, " ", value), err
	}, "")
	// Output:
	// wait for approved
	// timer of 1h0m0s
	// drop future 2
	// returns "0 approved", <nil>
}

func ExampleJoin() {
	run(func(ctx *orch.Context, _ string) (string, error) {
		outcomes := orch.Join(ctx.ScheduleActivity("good", ""), ctx.ScheduleActivity("bad", ""))
		return fmt.Sprint(outcomes), nil
	}, "")
	// Output:
	// schedule good()
	// schedule bad()
	// returns "[{good() <nil>} { bad failed}]", <nil>
}

func ExampleContext_Go() {
	run(func(ctx *orch.Context, input string) (string, error) {
		var lines []*orch.Future
		for _, item := range strings.Fields(input) {
			lines = append(lines, ctx.Go(func(ctx *orch.Context) (string, error) {
				if _, err := ctx.ScheduleActivity("pick", item).Await(); err != nil {
					return "", err
				}
				return ctx.ScheduleActivity("pack", item).Await()
			}))
		}
		return fmt.Sprint(len(orch.Join(lines...))), nil
	}, "book pen")
	// Output:
	// schedule pick(book)
	// schedule pack(book)
	// schedule pick(pen)
	// schedule pack(pen)
	// returns "2", <nil>
}

func ExampleContext_ContinueAsNew() {
	run(func(ctx *orch.Context, input string) (string, error) {
		ctx.ScheduleTimer(time.Minute).Await()
		ctx.ContinueAsNew(input + "+")
		return "never", nil
	}, "1")
	// Output:
	// timer of 1m0s
	// continues as new with "1+"
}

func ExampleContext_StartOrchestration() {
	run(func(ctx *orch.Context, input string) (string, error) {
		ctx.StartOrchestration("Audit", "audit-1", input)
		return ctx.ScheduleSubOrchestrationVersioned("Invoice", "2.0.0", input).Await()
	}, "book")
	// Output:
	// start Audit as audit-1
	// schedule Invoice(book)
	// returns "Invoice(book)", <nil>
}

func ExampleFuture_Drop() {
	run(func(ctx *orch.Context, _ string) (string, error) {
		reminder := ctx.ScheduleActivity("remind", "")
		answer, err := ctx.ScheduleWait2("answer", "-eu").Await()
		reminder.Drop()
		return answer, err
	}, "")
	// Output:
	// schedule remind()
	// wait for answer-eu
	// drop future 1
	// returns "answer-eu", <nil>
}
