package machine_test

import (
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
)

// Drives a node by hand: it fetches, receives a start, takes its time over the turn, and commits it.
func ExampleNode_Step() {
	registry := node.NewRegistry()
	_ = registry.Register("Greet", engine.V(1, 0, 0), func(_ *orch.Context, name string) (string, error) { return "hello " + name, nil })
	options := node.DefaultOptions()
	options.OrchestrationConcurrency, options.WorkerConcurrency = 1, 0
	n, err := machine.New(machine.Config{Name: "a", Build: engine.ShippedBuilds()[1], Registry: registry, Options: options})
	if err != nil {
		fmt.Println(err)
		return
	}
	show := func(effects []machine.Effect) {
		for _, c := range effects {
			switch c := c.(type) {
			case *machine.ProviderCall:
				fmt.Println("call", c.ID, call.Kind(c.Request))
				if ack, ok := c.Request.(call.AckOrchestrationItem); ok {
					fmt.Println("  ", ack.Metadata.Status, *ack.Metadata.Output)
				}
			case *machine.Note:
				fmt.Println("decides", c.Decision, c.Instance)
			case *machine.RunTurn:
				fmt.Println("job", c.Job)
			case *machine.Stopped:
				fmt.Println("stopped")
			}
		}
	}
	show(n.Step(&machine.Start{NowMs: 1000}))
	show(n.Step(&machine.Answer{NowMs: 1010, Call: 1, Orchestration: &engine.FetchedOrchestration{
		LockToken: "t1", AttemptCount: 1,
		Item: engine.OrchestrationItem{Instance: "i", ExecutionID: 1, Messages: []engine.WorkItem{engine.StartItem{Instance: "i", Orchestration: "Greet", Input: "world", ExecutionID: 1}}},
	}}))
	show(n.Step(&machine.Finished{NowMs: 1020, Job: 1}))
	show(n.Step(&machine.Drain{NowMs: 1021}))
	show(n.Step(&machine.Answer{NowMs: 1030, Call: 2}))
	// Output:
	// call 1 fetch_orchestration_item
	// decides turn i
	// job 1
	// call 2 ack_orchestration_item
	//    Completed hello world
	// stopped
}

func ExampleNew() {
	options := node.DefaultOptions()
	options.MaxAttempts = 0
	_, err := machine.New(machine.Config{Name: "a", Build: engine.ShippedBuilds()[1], Registry: node.NewRegistry(), Options: options})
	fmt.Println(err)
	// Output: node a: option max_attempts: 0: expected a whole number from 1 to 4294967295
}

func ExampleCounters_List() {
	total := machine.Counters{Turns: 4, TurnsCommitted: 2}
	for _, c := range total.List() {
		if c.Value > 0 {
			fmt.Println(c.Name, c.Value)
		}
	}
	// Output:
	// turns 4
	// turns_committed 2
}
