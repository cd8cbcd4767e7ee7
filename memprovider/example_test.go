package memprovider_test

import (
	"context"
	"fmt"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
)

// One turn of a new instance, and the filter that keeps it from an older node afterwards.
func ExampleNew() {
	ctx := context.Background()
	store := memprovider.New(memprovider.Options{StartMs: 1000})
	node := store.Handle(build("2.0.0").Codec, observe.Caller{Node: 1, Incarnation: 1})

	_ = node.EnqueueForOrchestrator(ctx, engine.StartItem{Instance: "order-1", Orchestration: "Order", ExecutionID: 1}, 0)
	fetched, _ := node.FetchOrchestrationItem(ctx, 5*time.Second, 0, nil)
	fmt.Println(fetched.Item.Instance, fetched.Item.OrchestrationName, "attempt", fetched.AttemptCount, fetched.LockToken)

	pin := engine.V(2, 0, 0)
	err := node.AckOrchestrationItem(ctx, engine.OrchestrationAck{
		LockToken: fetched.LockToken, ExecutionID: 1, HistoryDelta: []engine.Event{startedEvent(1)},
		OrchestratorItems: []engine.WorkItem{engine.TimerFiredItem{Instance: "order-1", ExecutionID: 1, ID: 2, FireAtMs: 1500}},
		Metadata:          engine.ExecutionMetadata{OrchestrationName: "Order", OrchestrationVersion: "1.0.0", PinnedVersion: &pin},
	})
	fmt.Println("ack:", err)

	store.SetNow(1500)
	old := engine.FilterFor(engine.MustParseRange("<2.0.0"))
	fetched, _ = node.FetchOrchestrationItem(ctx, 5*time.Second, 0, old)
	fmt.Println("old node:", fetched)
	fetched, _ = node.FetchOrchestrationItem(ctx, 5*time.Second, 0, engine.FilterFor(engine.MustParseRange("2.x")))
	fmt.Println("new node:", fetched.Item.Messages[0].Kind(), "with", len(fetched.Item.History), "event")
	// Output:
	// order-1 Order attempt 1 o1
	// ack: <nil>
	// old node: <nil>
	// new node: TimerFired with 1 event
}

// The store reports what a fetch would find, and when that may change.
func ExampleStore_NextOrchestration() {
	store := memprovider.New(memprovider.Options{})
	client := store.Handle(build("2.0.0").Codec, observe.Caller{})
	_ = client.EnqueueForOrchestrator(context.Background(), engine.StartItem{Instance: "later", Orchestration: "Order"}, time.Minute)

	e := store.NextOrchestration(nil)
	fmt.Println(e.Now, e.AtMs)
	store.SetNow(e.AtMs)
	e = store.NextOrchestration(nil)
	fmt.Println(e.Now, store.InstanceName(e.Instance))
	// Output:
	// false 60000
	// true later
}

// NextWork is the same for the worker queue.
func ExampleStore_NextWork() {
	store := memprovider.New(memprovider.Options{})
	node := store.Handle(build("2.0.0").Codec, observe.Caller{Node: 1})
	_ = node.EnqueueForWorker(context.Background(), engine.ActivityExecuteItem{Instance: "a", ExecutionID: 1, ID: 2, Name: "Charge", Tag: "gpu"})
	fmt.Println(store.NextWork(nil, engine.TagFilter{}).Now, store.NextWork(nil, engine.TagFilter{Mode: engine.TagAny}).Now)
	// Output: false true
}

// A preloaded history that no running build wrote, damaged afterwards.
func ExampleStore_Preload() {
	codec := build("2.0.0").Codec
	store := memprovider.New(memprovider.Options{})
	data, _ := codec.AppendEvent(nil, startedEvent(1))
	pin := engine.V(99, 0, 0)
	err := store.Preload(memprovider.PreloadedInstance{Instance: "foreign", Orchestration: "Order", Version: "1.0.0",
		Executions: []memprovider.PreloadedExecution{{ID: 1, Pin: &pin, Events: []memprovider.PreloadedEvent{{ID: 1, Data: data}}}}})
	state, _ := store.Peek("foreign")
	events, _ := store.PeekHistory("foreign", 1, codec)
	fmt.Println(err, state.Status, state.Pin, len(events))

	_ = store.Damage("foreign", 1, 1, []byte("garbage"))
	_, err = store.PeekHistory("foreign", 1, codec)
	fmt.Println(err != nil)
	// Output:
	// <nil> Running 99.0.0 1
	// true
}

// A Snapshot is the whole state as data.
func ExampleStore_Snapshot() {
	store := memprovider.New(memprovider.Options{})
	client := store.Handle(build("2.0.0").Codec, observe.Caller{})
	_ = client.EnqueueForOrchestrator(context.Background(), engine.CancelInstanceItem{Instance: "a", Reason: "test"}, time.Second)
	shot := store.Snapshot()
	fmt.Println(len(shot.Instances), shot.Messages[0].Number, shot.Messages[0].VisibleMs, string(shot.Messages[0].Data))
	// Output: 1 1 1000 {"CancelInstance":{"instance":"a","reason":"test"}}
}
