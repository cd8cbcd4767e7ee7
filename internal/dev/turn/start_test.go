package turn_test

import (
	"reflect"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/internal/dev/turn"
)

// TestStart checks that the recorded start of an execution must agree with the start message in every field.
func TestStart(t *testing.T) {
	status := "paid"
	carried := []engine.CarriedEvent{{Name: "queue", Data: "message"}}
	batch := []engine.WorkItem{engine.ContinueAsNewItem{
		Instance: "i", Orchestration: "Order", Input: "input", Version: "1.0.0", CarryForwardEvents: carried, InitialCustomStatus: &status,
		ParentInstance: "p", ParentID: 3, ParentExecutionID: 2,
	}}
	check := func(start eventdata.OrchestrationStarted) []string {
		delta := []engine.Event{{EventID: 1, Data: start}, {EventID: 2, Data: eventdata.QueueEventDelivered(carried[0])}}
		for i := range delta {
			delta[i].InstanceID, delta[i].ExecutionID = "i", 2
		}
		return ofEvents(told(new(turn.Checker).CheckAck(&turn.Turn{Instance: "i", Execution: 2, Batch: batch, Ack: engine.OrchestrationAck{ExecutionID: 2, HistoryDelta: delta}})))
	}
	right := eventdata.OrchestrationStarted{
		Name: "Order", Version: "1.0.0", Input: "input", ParentInstance: "p", ParentID: 3, ParentExecutionID: 2,
		CarryForwardEvents: carried, InitialCustomStatus: &status,
	}
	if wrong := check(right); len(wrong) > 0 {
		t.Errorf("%v, want nothing wrong", wrong)
	}
	fields := 0
	eachField(reflect.ValueOf(right), "", func(field string, changed reflect.Value) {
		if fields++; len(check(changed.Interface().(eventdata.OrchestrationStarted))) == 0 {
			t.Errorf("another %s is allowed", field)
		}
	})
	if most := reflect.TypeFor[eventdata.OrchestrationStarted]().NumField(); fields < most {
		t.Errorf("%d fields changed of %d", fields, most)
	}
}
