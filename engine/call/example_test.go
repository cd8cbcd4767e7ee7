package call_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
)

// The store is busy for the first fetch. The call does not reach the provider, and the caller may try again.
func ExampleThrough() {
	store := memprovider.New(memprovider.Options{}).Handle(engine.ShippedBuilds()[0].Codec, observe.Caller{})
	calls := 0
	busy := call.Through(store.Name(), store.Version(), store.Admin() != nil, func(ctx context.Context, c call.Call) call.Answer {
		if calls++; calls == 1 {
			return call.Answer{Err: engine.Retryablef(call.Method(c), "storage is busy")}
		}
		return call.Perform(ctx, store, c)
	})
	for range 2 {
		item, err := busy.FetchOrchestrationItem(context.Background(), 0, 0, nil)
		fmt.Println(item == nil, err == nil, errors.Is(err, engine.ErrRetryable))
	}
	// Output:
	// true false true
	// true true false
}
