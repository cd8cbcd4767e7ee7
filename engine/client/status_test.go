package client

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
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

func TestNextWaitPoll(t *testing.T) {
	var got []time.Duration
	for d := nextWaitPoll(0); len(got) < 6; d = nextWaitPoll(d) {
		got = append(got, d/time.Millisecond)
	}
	if want := []time.Duration{5, 10, 20, 40, 80, 100}; !slices.Equal(got, want) {
		t.Errorf("the pauses are %d ms, want %d", got, want)
	}
}

func TestStatusFromHistory(t *testing.T) {
	started, text := eventdata.OrchestrationStarted{}, "half way"
	failed := eventdata.OrchestrationFailed{Details: eventdata.Nondeterminism("x")}
	for _, c := range []struct {
		history []engine.EventData
		custom  *engine.CustomStatus
		want    Status
		changed bool
	}{
		{nil, nil, Status{}, false},
		{nil, &engine.CustomStatus{Version: 9}, Status{}, false},
		{[]engine.EventData{started}, &engine.CustomStatus{Status: &text, Version: 3}, Status{Kind: StatusRunning, CustomStatus: &text, CustomStatusVersion: 3}, true},
		{[]engine.EventData{started}, &engine.CustomStatus{Version: 2}, Status{Kind: StatusRunning, CustomStatusVersion: 2}, false},
		{[]engine.EventData{started, eventdata.OrchestrationContinuedAsNew{}}, nil, Status{Kind: StatusRunning}, false},
		{[]engine.EventData{started, eventdata.OrchestrationCompleted{Output: "x"}, failed}, nil, Status{Kind: StatusFailed, Details: failed.Details}, true},
		{[]engine.EventData{failed}, nil, Status{Kind: StatusFailed, Details: failed.Details}, true},
		{[]engine.EventData{eventdata.TimerCreated{}}, nil, Status{}, false},
	} {
		got := statusFromHistory(history(c.history...), c.custom)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%v: status differs (-want +got):\n%s", c.history, d)
		}
		if got.changed(2) != c.changed {
			t.Errorf("%v: changed since version 2 is %v, want %v", c.history, got.changed(2), c.changed)
		}
	}
}
