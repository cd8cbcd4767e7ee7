package workload

import (
	"errors"
	"fmt"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/sim/plan"
)

const archivistChild = "child of the archivist"

func archivist(ctx *orch.Context, input string) (string, error) {
	if status, ok := ctx.CustomStatus(); input != plan.HardText || !ok || status != plan.HardText {
		return "", fmt.Errorf("begins with %q and %q", input, status)
	}
	text, err := ctx.ScheduleActivity(plan.HardText, plan.HardText, orch.OnSession(plan.HardText), orch.WithTag(plan.HardText)).Await()
	if err != nil || text != plan.HardText {
		return "", fmt.Errorf("the activity says %q, %v", text, err)
	}
	if _, err := ctx.ScheduleActivity("Work", plan.HardText).Await(); err == nil || err.Error() != plan.HardText {
		return "", fmt.Errorf("the failure says %v", err)
	}
	ctx.SetKVValue(plan.HardText, plan.HardText)
	ctx.SetCustomStatus(plan.HardText)
	ctx.StartOrchestration("Leaf", plan.HardText, plan.HardText)
	if text, err := ctx.ScheduleSubOrchestrationWithID("Leaf", archivistChild, plan.HardText).Await(); err != nil || text != plan.HardText {
		return "", fmt.Errorf("the child says %q, %v", text, err)
	}
	sleep(ctx, time.Second)
	if text, err := ctx.DequeueEvent(plan.HardText).Await(); err != nil || text != plan.HardText {
		return "", fmt.Errorf("the message says %q, %v", text, err)
	}
	if text, err := ctx.ScheduleWait(plan.HardText).Await(); err != nil || text != plan.HardText {
		return "", fmt.Errorf("the event says %q, %v", text, err)
	}
	if value, ok := ctx.KVValue(plan.HardText); !ok || value != plan.HardText {
		return "", errors.New("the key is gone")
	}
	return ctx.ScheduleWait("go").Await()
}

// archived returns the recorded history of a stored Archivist up to its wait for "go".
func archived() []stored {
	hard := plan.HardText
	failed := engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppActivityFailed, Message: plan.HardText}}
	return []stored{
		{eventdata.OrchestrationStarted{Name: "Archivist", Version: "1.0.0", Input: plan.HardText, InitialCustomStatus: &hard,
			CarryForwardEvents: []engine.CarriedEvent{{Name: plan.HardText, Data: plan.HardText}}}, 0},
		{eventdata.QueueEventDelivered{Name: plan.HardText, Data: plan.HardText}, 0},
		{eventdata.ActivityScheduled{Name: plan.HardText, Input: plan.HardText, SessionID: plan.HardText, Tag: plan.HardText}, 0},
		{eventdata.ActivityCompleted{Result: plan.HardText}, 3},
		{eventdata.ActivityScheduled{Name: "Work", Input: plan.HardText}, 0},
		{eventdata.ActivityFailed{Details: failed}, 5},
		{eventdata.KeyValueSet{Key: plan.HardText, Value: plan.HardText, LastUpdatedAtMs: 1}, 0},
		{eventdata.CustomStatusUpdated{Status: &hard}, 0},
		{eventdata.OrchestrationChained{Name: "Leaf", Instance: plan.HardText, Input: plan.HardText}, 0},
		{eventdata.SubOrchestrationScheduled{Name: "Leaf", Instance: archivistChild, Input: plan.HardText}, 0},
		{eventdata.SubOrchestrationCompleted{Result: plan.HardText}, 10},
		{eventdata.TimerCreated{FireAtMs: 1}, 0},
		{eventdata.TimerFired{FireAtMs: 1}, 12},
		{eventdata.QueueSubscribed{Name: plan.HardText}, 0},
		{eventdata.ExternalSubscribed{Name: plan.HardText}, 0},
		{eventdata.ExternalEvent{Name: plan.HardText, Data: plan.HardText}, 0},
		{eventdata.ExternalSubscribed{Name: "go"}, 0},
	}
}

// stored is an event in a stored history, with the id of its schedule.
type stored struct {
	data   engine.EventData
	source uint64
}

// Stored returns the history of Archivist, as recorded by an earlier cluster. sources holds the id of each event's
// schedule, or 0 if it has none. Ids start at 1.
func Stored() (data []engine.EventData, sources []uint64) {
	for _, e := range archived() {
		data, sources = append(data, e.data), append(sources, e.source)
	}
	return data, sources
}
