package safety

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/planterm"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/sim/plan"
)

// TestStoredBytesSayWhatWasSaid stores messages and events with the right bytes, and with bytes whose contents differ.
func TestStoredBytesSayWhatWasSaid(t *testing.T) {
	codec := planterm.FindBuild(engine.ShippedBuilds(), "2.0.0").Codec
	status := "busy"
	items := []engine.WorkItem{
		engine.StartItem{Instance: "a", Orchestration: "O", Input: "\"<é", Version: "1.0.0", ParentInstance: "p", ParentID: 3, ParentExecutionID: 2, ExecutionID: 1},
		engine.ContinueAsNewItem{Instance: "a", Orchestration: "O", Input: "i", Version: "1.0.0", CarryForwardEvents: []engine.CarriedEvent{{Name: "n", Data: "d"}}, InitialCustomStatus: &status},
		engine.ActivityExecuteItem{Instance: "a", ExecutionID: 1, ID: 2, Name: "W", Input: "i", SessionID: "s", Tag: "t"},
		engine.ActivityFailedItem{Instance: "a", ExecutionID: 1, ID: 2, Details: engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppActivityFailed, Message: "no"}}},
		engine.TimerFiredItem{Instance: "a", ExecutionID: 1, ID: 2, FireAtMs: 77},
		engine.SubOrchCompletedItem{ParentInstance: "p", ParentExecutionID: 1, ParentID: 4, Result: "r"},
		engine.CancelInstanceItem{Instance: "a", Reason: "because"},
	}
	for _, item := range items {
		data, err := codec.AppendWorkItem(nil, item)
		if err != nil {
			t.Fatal(err)
		}
		tell := func(bytes string) string {
			w := &fakeWorld{builds: engine.ShippedBuilds(), plan: &plan.Plan{}}
			m := check.New(w, func(string) bool { return true })
			m.Add(newAtomicChecker(m.Run))
			m.Observe(&observe.Observation{Kind: observe.InstanceNamed, Instance: 1, Name: "a"})
			m.Observe(&observe.Observation{Kind: observe.CallBegin, Call: bytesEvery - 1, CallKind: observe.CallEnqueueForOrchestrator, Request: &observe.CallRequest{}})
			m.Observe(&observe.Observation{Kind: observe.RowInserted, Call: bytesEvery - 1, Instance: 1, Message: 1, Item: item, Bytes: []byte(bytes)})
			if v := m.Violations(); len(v) > 0 {
				return v[0].Message
			}
			return ""
		}
		if seen := tell(string(data)); seen != "" {
			t.Errorf("%s: %s", data, seen)
		}
		for _, old := range []string{`"a"`, `"p"`, `"i"`, `"t"`, `"s"`, `"d"`, `"r"`, `"no"`, `"busy"`, `"because"`, ":77", ":2", ":1", `"` + string(item.Kind()) + `"`} {
			if other := strings.Replace(string(data), old, old[:1]+"9"+old[1:], 1); other != string(data) && tell(other) == "" {
				t.Errorf("%s is taken for %+v", other, item)
			}
		}
		if other := strings.Replace(string(data), `{"`, `{"beyond":"x","`, 2); tell(other) == "" {
			t.Errorf("%s is taken for %+v", other, item)
		}
	}
}
