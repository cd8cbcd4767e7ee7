package replay_test

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/replay"
)

// Code and history disagree at the call that asks for something else, or, if the code lacks a call, at its last one.
func TestDiffersAt(t *testing.T) {
	history := []engine.Event{
		{EventID: 1, Data: eventdata.OrchestrationStarted{Name: "Order", Version: "1.0.0"}},
		{EventID: 2, Data: eventdata.ActivityScheduled{Name: "Reserve"}},
		{EventID: 3, Data: eventdata.ActivityScheduled{Name: "Ship"}},
		{EventID: 4, Data: eventdata.KeyValueSet{Key: "paid", Value: "yes"}},
		{EventID: 5, Data: eventdata.CustomStatusUpdated{}},
		{EventID: 6, Data: eventdata.OrchestrationCompleted{Output: "done"}},
	}
	for i := range history {
		history[i].InstanceID, history[i].ExecutionID = "order-1", 1
	}
	for _, c := range []struct {
		names string
		want  bool
	}{{"Reserve Ship paid =", false}, {"Reserve Charge", true}, {"Reserve", true}, {"Reserve Ship paid = Bill", true}, {"Reserve Ship paid", true}, {"Reserve Ship", true}} {
		place := replay.DiffersAt(replay.Input{
			Build: engine.ShippedBuilds()[1], Instance: "order-1", ExecutionID: 1, History: history,
			Handler: func(ctx *orch.Context, _ string) (string, error) {
				for _, name := range strings.Fields(c.names) {
					switch name {
					case "paid":
						ctx.SetKVValue(name, "yes")
					case "=":
						ctx.ResetCustomStatus()
					default:
						ctx.ScheduleActivity(name, "")
					}
				}
				return "done", nil
			},
		})
		if (place != "") != c.want || c.want && !strings.Contains(place, "TestDiffersAt.func1 (differs_test.go:") {
			t.Errorf("%q: %q", c.names, place)
		}
	}
}
