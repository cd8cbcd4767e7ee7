package orch_test

import (
	"fmt"
	"time"

	"github.com/durosim/durosim/engine/orch"
)

func ExampleContext_DequeueEvent() {
	run(func(ctx *orch.Context, _ string) (string, error) {
		change, err := ctx.DequeueEvent("changes").Await()
		return "took one of " + change, err
	}, "")
	// Output:
	// dequeue changes
	// returns "took one of changes", <nil>
}

func ExampleContext_SetCustomStatus() {
	run(func(ctx *orch.Context, input string) (string, error) {
		ctx.SetCustomStatus("packing")
		if _, err := ctx.ScheduleActivity("pack", input).Await(); err != nil {
			return "", err
		}
		status, _ := ctx.CustomStatus()
		ctx.ResetCustomStatus()
		_, left := ctx.CustomStatus()
		return fmt.Sprint(status, " ", left), nil
	}, "book")
	// Output:
	// status packing
	// schedule pack(book)
	// no status
	// returns "packing false", <nil>
}

func ExampleContext_SetKVValue() {
	run(func(ctx *orch.Context, _ string) (string, error) {
		ctx.SetKVValue("colour", "blue")
		ctx.SetKVValue("size", "9")
		colour, found := ctx.KVValue("colour")
		_, missing := ctx.KVValue("weight")
		pruned := ctx.PruneKVValuesUpdatedBefore(2)
		ctx.ClearKVValue("weight")
		text := fmt.Sprint(colour, found, missing, pruned, ctx.KVAllValues())
		ctx.ClearAllKVValues()
		return text, nil
	}, "")
	// Output:
	// set colour to blue
	// set size to 9
	// clear colour
	// clear weight
	// clear all
	// returns "bluetrue false 1 [{size 9}]", <nil>
}

func ExampleOnSession() {
	run(func(ctx *orch.Context, input string) (string, error) {
		return ctx.ScheduleActivity("render", input, orch.OnSession("scene-1"), orch.WithTag("gpu")).Await()
	}, "frame")
	// Output:
	// schedule render(frame) on session scene-1 with tag gpu
	// returns "render(frame)", <nil>
}

func ExampleContext_ScheduleActivityWithRetry() {
	run(func(ctx *orch.Context, _ string) (string, error) {
		policy := orch.DefaultRetryPolicy()
		policy.Timeout = time.Minute
		return ctx.ScheduleActivityWithRetry("bad", "", policy)
	}, "")
	// Output:
	// schedule bad()
	// timer of 1m0s
	// drop future 2
	// timer of 100ms
	// schedule bad()
	// timer of 1m0s
	// drop future 5
	// timer of 200ms
	// schedule bad()
	// timer of 1m0s
	// drop future 8
	// returns "", bad failed
}

func ExampleContext_NewGUID() {
	run(func(ctx *orch.Context, _ string) (string, error) {
		id, err := ctx.NewGUID()
		if err != nil {
			return "", err
		}
		now, err := ctx.UTCNowMs()
		if err != nil {
			return "", err
		}
		colour, found, err := ctx.RemoteKVValue("order-2", "colour")
		return fmt.Sprint(id, " ", now, " ", colour, " ", found), err
	}, "")
	// Output:
	// schedule __duroxide_syscall:new_guid()
	// schedule __duroxide_syscall:utc_now_ms()
	// schedule __duroxide_syscall:get_kv_value({"instance_id":"order-2","key":"colour"})
	// returns "5f3c 1500 blue true", <nil>
}
