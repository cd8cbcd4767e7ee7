package replay

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/engine/orch"
)

// TestForeignGoroutine checks that if a handler's goroutine calls anything on the Context, the orchestration fails with
// a message. The goroutine's calls must return, and nothing that they do may be recorded.
func TestForeignGoroutine(t *testing.T) {
	uses := map[string]func(c *orch.Context){
		"await":     func(c *orch.Context) { _, _ = c.ScheduleActivity("a", "").Await() },
		"schedule":  func(c *orch.Context) { c.ScheduleTimer(second) },
		"select":    func(c *orch.Context) { _, _, _ = orch.Select(c.ScheduleWait("e"), c.ScheduleTimer(second)) },
		"drop":      func(c *orch.Context) { c.DequeueEvent("e").Drop() },
		"coroutine": func(c *orch.Context) { c.Go(func(*orch.Context) (string, error) { return "", nil }) },
		"detached":  func(c *orch.Context) { c.StartOrchestration("o", "i", "") },
		"continue":  func(c *orch.Context) { c.ContinueAsNew("") },
		"status":    func(c *orch.Context) { c.SetCustomStatus("s"); c.CustomStatus() },
		"keys":      func(c *orch.Context) { c.SetKVValue("k", "v"); c.KVAllValues(); c.PruneKVValuesUpdatedBefore(5) },
		"info":      func(c *orch.Context) { c.Trace(c.InstanceID()) },
		"again and again": func(c *orch.Context) {
			for {
				c.ScheduleTimer(second)
			}
		},
	}
	for name, use := range uses {
		for _, then := range []string{"returns", "waits"} {
			t.Run(name+", then the handler "+then, func(t *testing.T) {
				out := mustTurn(t, input(func(c *orch.Context, _ string) (string, error) {
					done := make(chan struct{})
					go func() {
						defer close(done)
						use(c)
					}()
					<-done
					if then == "waits" {
						return c.ScheduleActivity("own", "").Await()
					}
					return "", nil
				}))
				if out.Result != ResultFailed || !strings.Contains(out.Details.Display(), foreignText) {
					t.Errorf("the turn ends as %v, %q", out.Result, out.Details.Display())
				}
				if len(out.WorkerItems)+len(out.OrchestratorItems)+len(out.Traces) > 0 {
					t.Errorf("the goroutine's calls had effects: %+v", out)
				}
			})
		}
	}
}

// TestForeignGoroutineAfterTheTurn checks that a goroutine that outlives its turn gets errors and does no harm.
func TestForeignGoroutineAfterTheTurn(t *testing.T) {
	var kept *orch.Context
	mustTurn(t, input(func(c *orch.Context, _ string) (string, error) { kept = c; return "", nil }))
	failed := make(chan error)
	go func() {
		_, err := kept.ScheduleActivity("a", "").Await()
		failed <- err
	}()
	if err := <-failed; err == nil || err.Error() != foreignText {
		t.Errorf("the call gives %v", err)
	}
}
