package safety

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
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
	var told []string
	for _, c := range []struct {
		name       string
		handler    orch.Handler
		build, pin string
		damage     bool
	}{
		{"S11_ok", charge("Charge", "done"), "1.5.0", "1.5.0", false},
		{"S11_ok on a newer build", charge("Charge", "done"), "2.0.0", "1.5.0", false},
		{"S11_ok not admitted", charge("Refund", "done"), "1.5.0", "2.0.0", false},
		{"S11_ok no handler", nil, "1.5.0", "1.5.0", false},
		{"S11_ok damaged", charge("Refund", "done"), "1.5.0", "1.5.0", true},
		{"S11_bad other action", charge("Refund", "done"), "1.5.0", "1.5.0", false},
		{"S11_bad other end", charge("Charge", "charged"), "1.5.0", "1.5.0", false},
		{"S11_bad on a newer build", charge("Refund", "done"), "2.0.0", "1.5.0", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &rig.FakeWorld{Now: rig.StartMs, AllBuilds: engine.ShippedBuilds()}
			m := newSafety(w, "S11")
			w.RealStore = memprovider.New(memprovider.Options{Sink: m, StartMs: rig.StartMs})
			var build *engine.Build
			for _, b := range w.AllBuilds {
				if b.Name() == c.build {
					build = b
				}
			}
			registry := node.NewRegistry()
			if c.handler != nil {
				sample.OK(t, registry.Register("Order", engine.V(1, 0, 0), c.handler))
			}
			for _, had := range []*node.Registry{node.NewRegistry(), registry} { // without a filter, as under bounce
				w.Infos = []cluster.NodeInfo{{Number: 1, Name: "A", Incarnation: 1, Build: build, Registry: had}}
				m.Record(&cluster.Record{Kind: record.NodeStarted, Node: 1, Incarnation: 1})
			}
			endOrder(t, w.RealStore, build, engine.MustParseVersion(c.pin), done)
			if c.damage {
				sample.OK(t, w.RealStore.Damage("order-1", 1, 3, []byte("{")))
			}
			m.Finish()
			told = append(told, c.name+": "+rig.Found(m.Violations()))
		})
	}
	tells(t, told)
}

// tells compares what the checkers say in the cases of a test with its block of a file.
func tells(t *testing.T, told []string) {
	datadriven.RunTest(t, "testdata/replays.txt", func(_ *testing.T, d *datadriven.TestData) string {
		if d.Cmd != t.Name() {
			return d.Expected
		}
		return rig.Brief{}.Of(places.ReplaceAllString(strings.Join(told, "\n"), "at a place of this file"))
	})
}

var places = regexp.MustCompile(`at safety\.\S+ \(replay_test\.go:\d+\)`)

// TestOutputsOfBuilds takes an execution that A has ended, and replays it with the code of B's newer build.
func TestOutputsOfBuilds(t *testing.T) {
	ends := func(output string, err error) orch.Handler {
		return func(ctx *orch.Context, _ string) (string, error) {
			_, _ = ctx.ScheduleActivity("Charge", "").Await()
			return output, err
		}
	}
	panics := func(ctx *orch.Context, _ string) (string, error) { _, _ = ends("", nil)(ctx, ""); panic("no") }
	waits := func(ctx *orch.Context, _ string) (string, error) {
		_, _ = ends("", nil)(ctx, "")
		return ctx.ScheduleWait("more").Await()
	}
	var told []string
	failed, no, never := failedWith("no"), ends("", errors.New("no")), ends("", errors.New("never"))
	for _, c := range []struct {
		name string
		end  engine.EventData
		a, b orch.Handler // of A, which may have been replaced since, and of B
	}{
		{"S29_ok", done, ends("done", nil), ends("done", nil)},
		{"S29_bad output", done, ends("done", nil), ends("fine", nil)},
		{"S29_bad error", failed, no, never},
		{"S29_bad, A has no such handler any more", done, nil, ends("fine", nil)},
		{"S11_bad, A itself gives another output", done, ends("fine", nil), ends("fine", nil)},
		{"S11_bad, each gives another output", done, ends("one", nil), no},
		{"S11_bad failure", done, ends("done", nil), no}, {"S11_bad success", failed, no, ends("done", nil)},
		{"S11_bad panic", done, ends("done", nil), panics}, {"S11_bad wait", done, ends("done", nil), waits},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &rig.FakeWorld{Now: rig.StartMs, AllBuilds: engine.ShippedBuilds()}
			m := newSafety(w, "S11", "S29")
			w.RealStore = memprovider.New(memprovider.Options{Sink: m, StartMs: rig.StartMs})
			for i, h := range []orch.Handler{c.a, c.b} {
				build, registry := w.AllBuilds[1+3*i], node.NewRegistry()
				if h != nil {
					sample.OK(t, registry.Register("Order", engine.V(1, 0, 0), h))
				}
				w.Infos = append(w.Infos, cluster.NodeInfo{Number: uint32(i + 1), Name: string(rune('A' + i)), Incarnation: 1, Build: build, Filter: engine.FilterFor(build.DefaultRange), Registry: registry})
				m.Record(&cluster.Record{Kind: record.NodeStarted, Node: uint32(i + 1), Incarnation: 1})
			}
			endOrder(t, w.RealStore, w.AllBuilds[1], w.AllBuilds[1].Version, c.end)
			m.Finish()
			told = append(told, c.name+": "+rig.Found(m.Violations()))
		})
	}
	tells(t, told)
}

var done = eventdata.OrchestrationCompleted{Output: "done"}

// endOrder commits an execution by A that ran a single activity.
func endOrder(t testing.TB, s *memprovider.Store, b *engine.Build, pin engine.Version, end engine.EventData) {
	t.Helper()
	p, ctx := s.Handle(b.Codec, observe.Caller{Node: 1, Incarnation: 1}), t.Context()
	sample.OK(t, p.EnqueueForOrchestrator(ctx, engine.StartItem{Instance: "order-1", Orchestration: "Order", ExecutionID: 1}, 0))
	f := sample.Must(p.FetchOrchestrationItem(ctx, 5*time.Second, 0, nil))(t)
	status, output := engine.StatusCompleted, "done"
	if d, ok := end.(eventdata.OrchestrationFailed); ok {
		status, output = engine.StatusFailed, d.Details.Display()
	}
	ack := engine.OrchestrationAck{LockToken: f.LockToken, ExecutionID: 1, Metadata: engine.ExecutionMetadata{
		OrchestrationName: "Order", OrchestrationVersion: "1.0.0", PinnedVersion: &pin, Status: status, Output: &output,
	}}
	for i, d := range []engine.EventData{
		eventdata.OrchestrationStarted{Name: "Order", Version: "1.0.0"}, eventdata.ActivityScheduled{Name: "Charge"},
		eventdata.ActivityCompleted{Result: "ok"}, end,
	} {
		e := engine.Event{EventID: uint64(i + 1), InstanceID: "order-1", ExecutionID: 1, DuroxideVersion: pin.String(), Data: d}
		if i == 2 {
			e.SourceEventID = 2
		}
		ack.HistoryDelta = append(ack.HistoryDelta, e)
	}
	sample.OK(t, p.AckOrchestrationItem(ctx, ack))
}

func failedWith(text string) engine.EventData {
	return eventdata.OrchestrationFailed{Details: engine.ErrorDetails{Application: &eventdata.ApplicationError{Kind: eventdata.AppOrchestrationFailed, Message: text}}}
}
