package live_test

import (
	"context"
	"fmt"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/memprovider/live"
)

// A dispatcher waits for work, a client sends some.
func Example() {
	store := live.Open(memprovider.Options{})
	defer store.Close()
	builds := engine.ShippedBuilds()
	provider := store.Handle(builds[len(builds)-1].Codec, observe.Caller{})
	ctx := context.Background()

	turns := make(chan *engine.FetchedOrchestration)
	go func() {
		fetched, err := provider.FetchOrchestrationItem(ctx, 5*time.Second, time.Minute, nil)
		if err != nil {
			fmt.Println(err)
		}
		turns <- fetched
	}()
	_ = provider.EnqueueForOrchestrator(ctx, engine.StartItem{Instance: "order-1", Orchestration: "Order"}, 20*time.Millisecond)
	fetched := <-turns
	fmt.Println(fetched.Item.Instance, fetched.Item.OrchestrationName, fetched.AttemptCount)
	// Output: order-1 Order 1
}

// Do gives access to operations that are not provider calls.
func ExampleStore_Do() {
	store := live.Open(memprovider.Options{})
	defer store.Close()
	store.Do(func(s *memprovider.Store) {
		fmt.Println(len(s.Snapshot().Instances))
	})
	// Output: 0
}
