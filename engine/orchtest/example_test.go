package orchtest_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing/fstest"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/orchtest"
)

// refund pays money back, unless the bank takes longer than a minute; then it asks a person.
func refund(ctx *orch.Context, amount string) (string, error) {
	ctx.SetCustomStatus("paying")
	paid, late := ctx.ScheduleActivity("PayBack", amount), ctx.ScheduleTimer(time.Minute)
	winner, receipt, err := orch.Select(paid, late)
	if winner == 0 {
		return receipt, err
	}
	ctx.SetCustomStatus("waiting for a person")
	answer, err := ctx.ScheduleWait("decision").Await()
	if err != nil || answer != "by cheque" {
		return "", errors.New("the bank does not answer")
	}
	return ctx.ScheduleSubOrchestration("Cheque", amount).Await()
}

func Example() {
	env := orchtest.New(t, refund)
	payBack := env.Activity("PayBack").Returns("paid back")
	fmt.Println(env.Run("30 euros"), payBack.Inputs())
	// Output: paid back [30 euros]
}

// The test skips time, raises an event, and mocks a child.
func ExampleEnv_Skip() {
	env := orchtest.New(t, refund)
	env.Activity("PayBack").Takes(time.Hour)
	cheque := env.Child("Cheque").Returns("cheque 17")
	env.Start("30 euros")
	fmt.Println(env.CustomStatus())
	env.Skip(2 * time.Minute)
	fmt.Println(env.CustomStatus())
	fmt.Println(env.Waits())
	env.Raise("decision", "by cheque")
	env.Finish()
	fmt.Println(env.Output(), cheque.Inputs())
	// Output:
	// paying true
	// waiting for a person true
	// [the event decision]
	// cheque 17 [30 euros]
}

func ExampleEnv_After() {
	env := orchtest.New(t, refund)
	env.Activity("PayBack").Takes(time.Hour)
	env.After(10*time.Minute, func() { env.Raise("decision", "no") })
	env.Start("30 euros")
	env.Finish()
	fmt.Println(env.Failure())
	// Output: the bank does not answer
}

func ExampleEnv_History() {
	env := orchtest.New(t, refund)
	env.Activity("PayBack").Fails("closed")
	env.Start("30 euros")
	env.Finish()
	for _, e := range env.History() {
		fmt.Println(e.EventID, e.Kind())
	}
	// Output:
	// 1 OrchestrationStarted
	// 2 CustomStatusUpdated
	// 3 ActivityScheduled
	// 4 TimerCreated
	// 5 ActivityFailed
	// 6 OrchestrationFailed
}

// A recorded history is replayed against the code to be deployed, which has swapped two calls.
func ExampleCheckHistory() {
	env := orchtest.New(t, refund)
	env.Activity("PayBack").Returns("paid back")
	env.Run("30 euros")
	var file bytes.Buffer
	if err := orchtest.WriteHistory(&file, env.History()); err != nil {
		fmt.Println(err)
		return
	}
	history, err := orchtest.ReadHistory(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	swapped := func(ctx *orch.Context, amount string) (string, error) {
		ctx.SetCustomStatus("paying")
		late, paid := ctx.ScheduleTimer(time.Minute), ctx.ScheduleActivity("PayBack", amount)
		_, receipt, err := orch.Select(paid, late)
		return receipt, err
	}
	fmt.Println(orchtest.CheckHistory(refund, history))
	fmt.Println(orchtest.CheckHistory(swapped, history))
	// Output:
	//  <nil>
	// nondeterministic: schedule mismatch: action=Timer(delay_ms=60000) vs event=ActivityScheduled(name="PayBack", input="30 euros"), at orchtest_test.ExampleCheckHistory.func1 (example_test.go:103) <nil>
}

func ExampleCheckHistories() {
	env := orchtest.New(t, refund)
	env.Activity("PayBack").Takes(time.Hour)
	env.Start("30 euros")
	var file bytes.Buffer
	if err := orchtest.WriteHistory(&file, env.History()); err != nil {
		fmt.Println(err)
		return
	}
	// In a test: os.DirFS("testdata/histories").
	tree := fstest.MapFS{"refund-1.jsonl": &fstest.MapFile{Data: file.Bytes()}}
	registry := node.NewRegistry()
	_ = registry.Register("Orchestration", engine.V(2, 0, 0), refund)
	orchtest.CheckHistories(t, tree, registry)
	// Output: refund-1.jsonl: Orchestration@1.0.0 is not registered: the instance could not continue
}

// t prints the reports of a test.
var t printer

type printer struct{}

func (printer) Helper()                           {}
func (printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (printer) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
