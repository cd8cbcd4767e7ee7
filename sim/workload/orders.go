package workload

import (
	"strconv"
	"time"

	"github.com/durosim/durosim/engine/orch"
)

// This file implements the orchestration that may continue as new in a later version.

// orderDesk1 waits for an approval and then continues as new for the next order.
func orderDesk1(ctx *orch.Context, input string) (string, error) {
	if _, err := ctx.ScheduleActivity("Reserve", input).Await(); err != nil {
		return "", err
	}
	if _, err := ctx.ScheduleWait("approval").Await(); err != nil {
		return "", err
	}
	return nextOrder(ctx, input)
}

// orderDesk2 is like orderDesk1 but uses a second-generation wait and a timeout.
func orderDesk2(ctx *orch.Context, input string) (string, error) {
	if _, err := ctx.ScheduleActivity("Reserve", input).Await(); err != nil {
		return "", err
	}
	if _, _, err := orch.Select(ctx.ScheduleWait2("approval", "orders"), ctx.ScheduleTimer(time.Hour)); err != nil {
		return "", err
	}
	return nextOrder(ctx, input)
}

func nextOrder(ctx *orch.Context, input string) (string, error) {
	left := number(input, 2)
	if left == 0 {
		return "closed", nil
	}
	ctx.ContinueAsNew(strconv.Itoa(left - 1))
	return "", nil
}
