package replay_test

import (
	"fmt"
	"runtime"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/replay"
)

// Two turns of one execution. The first schedules an activity, and the second receives its result.
func ExampleTurn() {
	in := replay.Input{
		Build: engine.ShippedBuilds()[1], Instance: "order-1", ExecutionID: 1, NowMs: 1000,
		Start: &replay.Start{Name: "Order", Version: "1.0.0", Input: "book"},
		Handler: func(ctx *orch.Context, input string) (string, error) {
			return ctx.ScheduleActivity("charge", input).Await()
		},
	}
	first, err := replay.Turn(in)
	fmt.Println(first.Result, err, "pin", first.Metadata.PinnedVersion)
	for _, e := range first.Delta {
		fmt.Println(e.EventID, e.Kind())
	}

	in.History = first.Delta
	in.Messages = []engine.WorkItem{engine.ActivityCompletedItem{Instance: "order-1", ExecutionID: 1, ID: 2, Result: "paid"}}
	second, err := replay.Turn(in)
	fmt.Println(second.Result, err, *second.Metadata.Output)
	for _, e := range second.Delta {
		fmt.Println(e.EventID, e.Kind())
	}
	// Output:
	// Continue <nil> pin 1.5.0
	// 1 OrchestrationStarted
	// 2 ActivityScheduled
	// Completed <nil> paid
	// 3 ActivityCompleted
	// 4 OrchestrationCompleted
}

// A child's start arrives for an instance that already exists. The parent that scheduled the child must not wait
// forever.
func ExampleRefuseStart() {
	start := engine.StartItem{Instance: "audit", Orchestration: "Audit", ParentInstance: "order-1", ParentExecutionID: 2, ParentID: 7}
	answer, ok := replay.RefuseStart(start, nil)
	fmt.Println(ok, answer.ParentInstance, answer.ParentExecutionID, answer.ParentID, answer.Details.Display())

	own := &engine.ParentLink{Instance: "order-1", ExecutionID: 2, EventID: 7}
	_, ok = replay.RefuseStart(start, own)
	fmt.Println(ok)
	// Output:
	// true order-1 2 7 instance already exists: audit
	// false
}

// Replays a history against code that has since changed.
func ExampleVerify() {
	in := replay.Input{
		Build: engine.ShippedBuilds()[1], Instance: "order-1", ExecutionID: 1,
		History: []engine.Event{
			{EventID: 1, Data: eventdata.OrchestrationStarted{Name: "Order", Input: "book"}},
			{EventID: 2, Data: eventdata.ActivityScheduled{Name: "charge", Input: "book"}},
			{EventID: 3, SourceEventID: 2, Data: eventdata.ActivityCompleted{Result: "paid"}},
			{EventID: 4, Data: eventdata.OrchestrationCompleted{Output: "paid"}},
		},
	}
	in.Handler = func(ctx *orch.Context, input string) (string, error) {
		return ctx.ScheduleActivity("charge", input).Await()
	}
	difference, err := replay.Verify(in)
	fmt.Printf("%q %v\n", difference, err)
	in.Handler = func(ctx *orch.Context, input string) (string, error) {
		_, err := ctx.ScheduleActivity("charge", input).Await()
		return "thanks", err
	}
	difference, err = replay.Verify(in)
	fmt.Printf("%q %v\n", difference, err)
	// Output:
	// "" <nil>
	// "the code returns \"thanks\", the history ends with OrchestrationCompleted(\"paid\")" <nil>
}

func ExampleArena_Contain() {
	w := replay.NewArena()
	defer w.Close()
	text, _, panicked := w.Contain(nil, func() { panic("no paper") })
	fmt.Println(panicked, text)
	text, _, panicked = w.Contain(nil, runtime.Goexit)
	fmt.Println(panicked, text)
	// Output:
	// true no paper
	// true called runtime.Goexit
}

func ExampleEnd() {
	history := []engine.Event{
		{EventID: 1, DuroxideVersion: "1.5.0", Data: eventdata.OrchestrationStarted{Name: "Order"}},
		{EventID: 2, Data: eventdata.ActivityScheduled{Name: "charge"}},
		{EventID: 3, Data: eventdata.QueueSubscribed{Name: "changes"}},
	}
	out, err := replay.End(replay.Input{Build: engine.ShippedBuilds()[1], Instance: "order-1", ExecutionID: 1, History: history},
		engine.ErrorDetails{Infrastructure: &eventdata.InfrastructureError{Operation: "fetch", Message: "delivered too often"}})
	for _, e := range out.Delta {
		fmt.Println(e.EventID, e.Kind())
	}
	fmt.Println(len(out.Cancelled), out.Metadata.Status, err)
	// Output:
	// 4 ExternalSubscribedPersistentCancelled
	// 5 OrchestrationFailed
	// 6 ActivityCancelRequested
	// 1 Failed <nil>
}
