package safety

import (
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/program"
)

// TestEndsOfChildren ends instances that the plan does not start. Their input comes from their stored history, and they
// can be cancelled if they have a parent.
func TestEndsOfChildren(t *testing.T) {
	parser := program.NewParser("Order", "")
	sample.Must(parser.Line([]string{"call", "a"}))(t)
	for _, row := range []struct {
		name, parent, output string
		status               engine.Status
		want                 string
		again                bool // it was deleted, and began again
	}{
		{"as its program says", "", "call(a);", engine.StatusCompleted, "", false},
		{"otherwise", "", "call(b);", engine.StatusCompleted, `execution 1 of order-1 is Completed with "call(b);" by an ack of caller 1: expected an end that its program Order allows, such as completed with "call(a);" ($input is "x")`, false},
		{"cancelled", "", "canceled: parent", engine.StatusFailed, `execution 1 of order-1 is Failed with "canceled: parent" by an ack of caller 1: expected an end that its program Order allows, such as completed with "call(a);" ($input is "x")`, false},
		{"cancelled by its parent", "shop", "canceled: parent", engine.StatusFailed, "", false},
		{"otherwise, in another life", "", "call(b);", engine.StatusCompleted, "", true},
	} {
		w := &rig.FakeWorld{Now: rig.StartMs, ThePlan: plan.Plan{Programs: program.Set{parser.Program()}}, AllBuilds: engine.ShippedBuilds()}
		m := newSafety(w, "S20")
		w.RealStore = memprovider.New(memprovider.Options{Sink: m, StartMs: rig.StartMs})
		p := w.RealStore.Handle(w.AllBuilds[1].Codec, observe.Caller{Node: 1, Incarnation: 1})
		if row.again {
			ends(t, p, "call(a);", row.status, "")
			sample.Must(p.Admin().DeleteInstance(t.Context(), "order-1", true))(t)
		}
		ends(t, p, row.output, row.status, row.parent)
		got := ""
		for _, v := range m.Violations() {
			got += v.Message
		}
		if got != row.want {
			t.Errorf("%s: found %s\nwant %s", row.name, got, row.want)
		}
	}
}

// ends runs one execution of order-1 from its start to its end.
func ends(t *testing.T, p engine.Provider, output string, status engine.Status, parent string) {
	t.Helper()
	sample.OK(t, p.EnqueueForOrchestrator(t.Context(), engine.StartItem{Instance: "order-1", Orchestration: "Order", ExecutionID: 1}, 0))
	f := sample.Must(p.FetchOrchestrationItem(t.Context(), 5*time.Second, 0, nil))(t)
	event := func(id uint64, d engine.EventData) engine.Event {
		return engine.Event{EventID: id, InstanceID: "order-1", ExecutionID: 1, DuroxideVersion: "1.5.0", Data: d}
	}
	meta := engine.ExecutionMetadata{OrchestrationName: "Order", OrchestrationVersion: "1.0.0", Status: status, Output: &output, ParentInstanceID: parent}
	sample.OK(t, p.AckOrchestrationItem(t.Context(), engine.OrchestrationAck{LockToken: f.LockToken, ExecutionID: 1, Metadata: meta, HistoryDelta: []engine.Event{
		event(1, eventdata.OrchestrationStarted{Name: "Order", Version: "1.0.0", Input: "x"}), event(2, eventdata.OrchestrationCompleted{}),
	}}))
}
