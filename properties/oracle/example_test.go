package oracle_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/oracle"
)

// An answer is judged by what was seen before it.
func ExampleOracle() {
	o := oracle.New(oracle.Options{})
	start := oracle.Item{WorkItem: engine.StartItem{Instance: "order-1", Orchestration: "Order", Version: "1.0.0", ExecutionID: 1}}
	send := oracle.Call{Args: oracle.EnqueueForOrchestrator{Item: start, DelayMs: 500}}
	fetch := oracle.Call{Args: oracle.FetchOrchestrationItem{LockTimeoutMs: 5000}}

	fmt.Println(o.Apply(send, oracle.Answer{}, oracle.At(1000)) == nil)
	fetched := oracle.Answer{Item: &oracle.Fetched{
		Instance: "order-1", OrchestrationName: "Order", Version: "1.0.0", ExecutionID: 1,
		Messages: oracle.Items{start.WorkItem}, Token: "t1", AttemptCount: 1,
	}}
	refusal := o.Apply(fetch, fetched, oracle.At(1499))
	for _, objection := range refusal.Objections {
		fmt.Println("but", objection)
	}
	for _, allowed := range refusal.Allowed {
		fmt.Println("allowed", allowed)
	}
	fmt.Println(o.Apply(fetch, fetched, oracle.At(1500)) == nil)
	// Output:
	// true
	// but instance "order-1" cannot be fetched at 1499 ms: none of its messages is visible yet [docs/contract/provider.md#p5.2, I3]
	// allowed nothing [docs/contract/provider.md#p5.2, I10]
	// true
}

// A log of calls is judged later, perhaps on another machine.
func ExampleRecord() {
	store := memprovider.New(memprovider.Options{StartMs: 1000})
	build := engine.ShippedBuilds()[1]
	var log bytes.Buffer
	p := oracle.Record(store.Handle(build.Codec, engine.Caller{}), store.Now, &log)
	ctx := context.Background()
	_ = p.EnqueueForOrchestrator(ctx, engine.StartItem{Instance: "order-1", Orchestration: "Order", ExecutionID: 1}, 0)
	_, _ = p.FetchOrchestrationItem(ctx, 5*time.Second, 0, nil)
	_ = p.RenewOrchestrationItemLock(ctx, "o1", 10*time.Second)
	fmt.Println(p.Err())

	fmt.Println(oracle.CheckLog(&log, oracle.Options{}))
	// Output:
	// <nil>
	// 3 <nil>
}

// The first wrong line of a log is named.
func ExampleCheckLog() {
	log := `{"at_ms":[5,9],"method":"latest_execution_id","params":{"instance":"A"},"result":1}
{"at_ms":9,"method":"get_kv_value","params":{"instance":"A","key":"k"},"result":"v"}`
	calls, err := oracle.CheckLog(strings.NewReader(log), oracle.Options{})
	fmt.Println(calls, err)
	// Output:
	// 1 line 2: call 2 at 9 ms: get_kv_value {"instance":"A","key":"k"}
	//   answered   "v"
	//   but        the merged view of the key is null [docs/contract/provider.md#p5.15, I14, I15, I17]
	//   allowed    null [docs/contract/provider.md#p5.15, I14, I15]
}

// A provider that promises more than the contract can be held to that.
func ExampleOptions() {
	message := func(instance string) engine.WorkItem {
		return engine.StartItem{Instance: instance, Orchestration: "Order", Version: "1.0.0", ExecutionID: 1}
	}
	younger := oracle.Answer{Item: &oracle.Fetched{
		Instance: "B", OrchestrationName: "Order", Version: "1.0.0", ExecutionID: 1, Messages: oracle.Items{message("B")}, Token: "t1", AttemptCount: 1,
	}}
	for _, options := range []oracle.Options{{}, {Deny: []oracle.Freedom{oracle.F1AnyInstance}}} {
		o := oracle.New(options)
		for _, instance := range []string{"A", "B"} {
			o.Apply(oracle.Call{Args: oracle.EnqueueForOrchestrator{Item: oracle.Item{WorkItem: message(instance)}}}, oracle.Answer{}, oracle.At(1))
		}
		refusal := o.Apply(oracle.Call{Args: oracle.FetchOrchestrationItem{LockTimeoutMs: 1000}}, younger, oracle.At(2))
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
	p := oracle.Watch(store.Handle(engine.ShippedBuilds()[1].Codec, engine.Caller{}), "1.5.0", store.Now, func(c oracle.Call, a oracle.Answer, at oracle.Span) {
		fmt.Println(c.Args.Method(), a.Err.Message, o.Apply(c, a, at) == nil)
	})
	_ = p.AckWorkItem(context.Background(), "w1", nil)
	// Output:
	// ack_work_item Invalid lock token "w1": never given out true
}

// A provider's test is this, as func TestProvider(t *testing.T).
func ExampleCheck() {
	TestProvider := func(t *testing.T) {
		oracle.Check(t, oracle.Factory{New: func(testing.TB) *oracle.Instance {
			store := memprovider.New(memprovider.Options{StartMs: 1000})
			return &oracle.Instance{
				Provider: store.Handle(engine.ShippedBuilds()[1].Codec, engine.Caller{}),
				NowMs:    store.Now,
				Advance:  func(d time.Duration) { store.SetNow(store.Now() + d.Milliseconds()) },
			}
		}})
	}
	_ = TestProvider
}
