package node

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
)

func ExampleStartOrchestration() {
	fmt.Printf("%+v\n", StartOrchestration("order-1", "ProcessOrder", "5"))
	fmt.Println(StartOrchestrationVersioned("order-1", "ProcessOrder", "2.0.0", "5").Version)
	// Output:
	// {Instance:order-1 Orchestration:ProcessOrder Input:5 Version: ParentInstance: ParentID:0 ParentExecutionID:0 ExecutionID:1}
	// 2.0.0
}

func ExampleRaiseEvent2() {
	for _, reads := range []engine.KindSet{engine.Kinds1x(), engine.Kinds2x()} {
		item := RaiseEvent2(reads, "order-1", "approval", "manager", "yes")
		fmt.Printf("%s %+v\n", item.Kind(), item)
	}
	// Output:
	// ExternalRaised {Instance:order-1 Name:approval Data:yes}
	// ExternalRaised2 {Instance:order-1 Name:approval Topic:manager Data:yes}
}

func ExampleRaiseEvent() {
	fmt.Println(RaiseEvent("order-1", "approval", "yes").Kind())
	fmt.Println(EnqueueEvent("order-1", "mail", "hello").Kind())
	fmt.Println(CancelInstance("order-1", "too late").Kind())
	// Output:
	// ExternalRaised
	// QueueMessage
	// CancelInstance
}

func ExampleStatusFromHistory() {
	events := history(orderStarted, engine.OrchestrationCompleted{Output: "paid"}, engine.ActivityCancelRequested{})
	fmt.Println(StatusFromHistory(nil, nil).Kind)
	fmt.Println(StatusFromHistory(events[:1], nil).Kind)
	s := StatusFromHistory(events, nil)
	fmt.Println(s.Kind, s.Output)
	// Output:
	// NotFound
	// Running
	// Completed paid
}

func ExampleNextWaitPoll() {
	for d := NextWaitPoll(0); d < 100*time.Millisecond; d = NextWaitPoll(d) {
		fmt.Print(d, " ")
	}
	// Output: 5ms 10ms 20ms 40ms 80ms
}

func TestStatusFromHistory(t *testing.T) {
	started, text := engine.OrchestrationStarted{}, "half way"
	failed := engine.OrchestrationFailed{Details: engine.Nondeterminism("x")}
	for _, c := range []struct {
		history []engine.EventData
		custom  *engine.CustomStatus
		want    OrchestrationStatus
		changed bool
	}{
		{nil, nil, OrchestrationStatus{}, false},
		{nil, &engine.CustomStatus{Version: 9}, OrchestrationStatus{}, false},
		{[]engine.EventData{started}, &engine.CustomStatus{Status: &text, Version: 3}, OrchestrationStatus{Kind: StatusRunning, CustomStatus: &text, CustomStatusVersion: 3}, true},
		{[]engine.EventData{started}, &engine.CustomStatus{Version: 2}, OrchestrationStatus{Kind: StatusRunning, CustomStatusVersion: 2}, false},
		{[]engine.EventData{started, engine.OrchestrationContinuedAsNew{}}, nil, OrchestrationStatus{Kind: StatusRunning}, false},
		{[]engine.EventData{started, engine.OrchestrationCompleted{Output: "x"}, failed}, nil, OrchestrationStatus{Kind: StatusFailed, Details: failed.Details}, true},
		{[]engine.EventData{failed}, nil, OrchestrationStatus{Kind: StatusFailed, Details: failed.Details}, true},
		{[]engine.EventData{engine.TimerCreated{}}, nil, OrchestrationStatus{}, false},
	} {
		got := StatusFromHistory(history(c.history...), c.custom)
		if !reflect.DeepEqual(got, c.want) || got.Changed(2) != c.changed {
			t.Errorf("%v: %+v, changed %v; want %+v, %v", c.history, got, got.Changed(2), c.want, c.changed)
		}
	}
}

func TestCountersAdd(t *testing.T) {
	var c Counters
	v := reflect.ValueOf(&c).Elem()
	for i := range v.NumField() {
		v.Field(i).SetUint(uint64(i + 1))
	}
	sum := c
	sum.Add(c)
	if len(c.List()) != v.NumField() {
		t.Fatalf("%d counters are named, of %d", len(c.List()), v.NumField())
	}
	for i, count := range sum.List() {
		if count.Value != uint64(2*(i+1)) {
			t.Errorf("%s = %d, want %d", count.Name, count.Value, 2*(i+1))
		}
	}
}
