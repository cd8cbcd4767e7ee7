package oracle_test

import (
	"context"
	"fmt"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/oracle"
)

// The oracle judges an answer in the light of the earlier ones.
func ExampleOracle() {
	o := oracle.New(oracle.Options{})
	start := engine.StartItem{Instance: "order-1", Orchestration: "Order", Version: "1.0.0", ExecutionID: 1}
	send := call.EnqueueForOrchestrator{Item: start, Delay: 500 * time.Millisecond}
	fetch := oracle.Exchange{
		Call: call.FetchOrchestrationItem{LockTimeout: 5 * time.Second},
		Answer: call.Answer{Orchestration: &engine.FetchedOrchestration{LockToken: "t1", AttemptCount: 1, Item: engine.OrchestrationItem{
			Instance: "order-1", OrchestrationName: "Order", Version: "1.0.0", ExecutionID: 1, Messages: []engine.WorkItem{start},
		}}},
	}

	fmt.Println(o.Apply(oracle.Exchange{Call: send, At: oracle.At(1000)}) == nil)
	fetch.At = oracle.At(1499)
	refusal := o.Apply(fetch)
	for _, objection := range refusal.Objections {
		fmt.Println("but", objection)
	}
	for _, allowed := range refusal.Allowed {
		fmt.Println("allowed", allowed)
	}
	fetch.At = oracle.At(1500)
	fmt.Println(o.Apply(fetch) == nil)
	// Output:
	// true
	// but instance "order-1" cannot be fetched at 1499 ms: none of its messages is visible yet [docs/contract/provider.md#p5.2, I3]
	// allowed nothing [docs/contract/provider.md#p5.2, I10]
	// true
}

// If a provider promises more than the contract, the oracle can hold it to these promises.
func ExampleOptions() {
	message := func(instance string) engine.WorkItem {
		return engine.StartItem{Instance: instance, Orchestration: "Order", Version: "1.0.0", ExecutionID: 1}
	}
	younger := call.Answer{Orchestration: &engine.FetchedOrchestration{LockToken: "t1", AttemptCount: 1, Item: engine.OrchestrationItem{
		Instance: "B", OrchestrationName: "Order", Version: "1.0.0", ExecutionID: 1, Messages: []engine.WorkItem{message("B")},
	}}}
	for _, options := range []oracle.Options{{}, {Deny: []oracle.Freedom{"F1"}}} {
		o := oracle.New(options)
		for _, instance := range []string{"A", "B"} {
			o.Apply(oracle.Exchange{Call: call.EnqueueForOrchestrator{Item: message(instance)}, At: oracle.At(1)})
		}
		refusal := o.Apply(oracle.Exchange{Call: call.FetchOrchestrationItem{LockTimeout: time.Second}, Answer: younger, At: oracle.At(2)})
		fmt.Println(refusal == nil)
	}
	// Output:
	// true
	// false
}

// Watch reports calls as they are made.
func ExampleWatch() {
	store := memprovider.New(memprovider.Options{})
	o := oracle.New(oracle.Options{})
	p := oracle.Watch(store.Handle(engine.ShippedBuilds()[1].Codec, observe.Caller{}), "1.5.0", store.Now, func(e oracle.Exchange) {
		fmt.Println(call.Method(e.Call), e.Answer.Err, o.Apply(e) == nil)
	})
	_ = p.AckWorkItem(context.Background(), "w1", nil)
	// Output:
	// ack_work_item ack_work_item: Invalid lock token "w1": never given out true
}
