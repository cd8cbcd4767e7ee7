package safety

import (
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/record"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// TestReplaysAtTheEnd takes an execution that charged and completed, and replays it with the same code and with
// different code.
func TestReplaysAtTheEnd(t *testing.T) {
	charge := func(activity, output string) orch.Handler {
		return func(ctx *orch.Context, _ string) (string, error) {
			if _, err := ctx.ScheduleActivity(activity, "").Await(); err != nil {
				return "", err
			}
			return output, nil
		}
	}
	for _, c := range []struct {
		name    string
		handler orch.Handler
		build   string
		pin     string
		damage  bool
		want    string
	}{
		{"S11_ok", charge("Charge", "done"), "1.5.0", "1.5.0", false, ""},
		{"S11_ok on a newer build", charge("Charge", "done"), "2.0.0", "1.5.0", false, ""},
		{"S11_ok not admitted", charge("Refund", "done"), "1.5.0", "2.0.0", false, ""},
		{"S11_ok no handler", nil, "1.5.0", "1.5.0", false, ""},
		{"S11_ok damaged", charge("Refund", "done"), "1.5.0", "1.5.0", true, ""},
		{"S11_bad other action", charge("Refund", "done"), "1.5.0", "1.5.0", false, "does not replay on build 1.5.0"},
		{"S11_bad other end", charge("Charge", "charged"), "1.5.0", "1.5.0", false, `the code returns "charged", the history ends with`},
		{"S11_bad on a newer build", charge("Refund", "done"), "2.0.0", "1.5.0", false, "does not replay on build 2.0.0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &fakeWorld{nowMs: storyStartMs, plan: &plan.Plan{}, builds: engine.ShippedBuilds()}
			m := newSafety(w, "S11")
			w.store = memprovider.New(memprovider.Options{Sink: m, StartMs: storyStartMs})
			var build *engine.Build
			for _, b := range w.builds {
				if b.Name() == c.build {
					build = b
				}
			}
			registry := node.NewRegistry()
			if c.handler != nil {
				if err := registry.Register("Order", engine.V(1, 0, 0), c.handler); err != nil {
					t.Fatal(err)
				}
			}
			w.nodes = []cluster.NodeInfo{{Number: 1, Name: "A", Incarnation: 1, Build: build, Filter: engine.FilterFor(build.DefaultRange), Registry: registry}}
			m.Record(&cluster.Record{Kind: record.NodeStarted, Node: 1, Incarnation: 1})
			completeOrder(t, w.store, build, engine.MustParseVersion(c.pin))
			if c.damage {
				if err := w.store.Damage("order-1", 1, 3, []byte("{")); err != nil {
					t.Fatal(err)
				}
			}
			m.Finish()
			found := m.Violations()
			switch {
			case c.want == "" && len(found) == 0:
			case c.want == "" || len(found) != 1 || !strings.Contains(found[0].Message, c.want):
				t.Errorf("found %+v, want %q", found, c.want)
			}
		})
	}
}

// completeOrder commits an execution that ran a single activity.
func completeOrder(t testing.TB, s *memprovider.Store, b *engine.Build, pin engine.Version) {
	t.Helper()
	p, ctx := s.Handle(b.Codec, observe.Caller{Node: 1, Incarnation: 1}), t.Context()
	if err := p.EnqueueForOrchestrator(ctx, engine.StartItem{Instance: "order-1", Orchestration: "Order", ExecutionID: 1}, 0); err != nil {
		t.Fatal(err)
	}
	f, err := p.FetchOrchestrationItem(ctx, 5*time.Second, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	output := "done"
	ack := engine.OrchestrationAck{LockToken: f.LockToken, ExecutionID: 1, Metadata: engine.ExecutionMetadata{
		OrchestrationName: "Order", OrchestrationVersion: "1.0.0", PinnedVersion: &pin, Status: engine.StatusCompleted, Output: &output,
	}}
	for i, d := range []engine.EventData{
		eventdata.OrchestrationStarted{Name: "Order", Version: "1.0.0"}, eventdata.ActivityScheduled{Name: "Charge"},
		eventdata.ActivityCompleted{Result: "ok"}, eventdata.OrchestrationCompleted{Output: output},
	} {
		e := engine.Event{EventID: uint64(i + 1), InstanceID: "order-1", ExecutionID: 1, DuroxideVersion: pin.String(), Data: d}
		if i == 2 {
			e.SourceEventID = 2
		}
		ack.HistoryDelta = append(ack.HistoryDelta, e)
	}
	if err := p.AckOrchestrationItem(ctx, ack); err != nil {
		t.Fatal(err)
	}
}
