package model_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/internal/leaf"
	"github.com/durosim/durosim/properties/internal/model"
)

// TestDifferences changes the fields of a store's snapshot one at a time, and then the fields of an instance's previous
// state, and prints the difference reported for each change. Before the first change, no difference may be reported:
// what the model shares with the snapshot is not compared with itself.
func TestDifferences(t *testing.T) {
	datadriven.RunTest(t, "testdata/differences.txt", func(t *testing.T, d *datadriven.TestData) string {
		builds := engine.ShippedBuilds()
		m := model.New(builds, nil)
		store := memprovider.New(memprovider.Options{Sink: m, StartMs: 1_000_000})
		fill(t, store, builds[1])
		var lines []string
		switch d.Cmd {
		case "snapshot":
			shot := store.Snapshot()
			told := func(path string) {
				no, seen := m.Difference(shot)
				lines = append(lines, fmt.Sprintf("%s\n  %s: %s", path, m.Name(no), seen))
			}
			told("nothing")
			leaf.Change(shot, told)
		case "before":
			in := m.Instances[1]
			in.Was.Created, in.Was.Orchestration, in.Was.Version = in.Created, in.Orchestration, in.Version
			in.Was.CurrentID, in.Was.Parent, in.Was.Lock, in.Was.Values = in.CurrentID, in.Parent, in.Lock, in.Values
			in.Was.Values.Store, in.Was.Values.Delta = slices.Clone(in.Values.Store), slices.Clone(in.Values.Delta)
			leaf.Change(&in.Was, func(path string) { lines = append(lines, path+"\n  "+in.Left()) })
			c := model.Call{Sessions: append([]model.Session(nil), m.Sessions...), TouchedSessions: true}
			leaf.Change(&c.Sessions, func(path string) { lines = append(lines, "Sessions"+path+"\n  "+m.SessionsLeft(&c)) })
			c.TouchedSessions, c.Sessions = false, nil
			lines = append(lines, "sessions not touched\n  "+m.SessionsLeft(&c))
		}
		return strings.Join(lines, "\n")
	})
}

// fill creates two instances with two executions, queues, keys, a custom status and sessions.
func fill(t testing.TB, s *memprovider.Store, b *engine.Build) {
	t.Helper()
	p, ctx := s.Handle(b.Codec, observe.Caller{Node: 1, Incarnation: 1}), t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	status, next := "half", "next"
	event := func(id uint64, data engine.EventData) engine.Event {
		return engine.Event{EventID: id, InstanceID: "order-1", ExecutionID: 1, Data: data}
	}
	must(p.EnqueueForOrchestrator(ctx, engine.StartItem{Instance: "order-1", Orchestration: "Order", ExecutionID: 1, ParentInstance: "shop", ParentID: 3, ParentExecutionID: 1}, 0))
	must(p.EnqueueForOrchestrator(ctx, engine.QueueMessageItem{Instance: "order-2", Name: "q"}, time.Minute))
	for execution, acked := range []engine.OrchestrationAck{
		{
			HistoryDelta: []engine.Event{event(1, eventdata.OrchestrationStarted{Name: "Order", Version: "1.0.0"}), event(2, eventdata.KeyValueSet{Key: "k", Value: "v"}), event(3, eventdata.KeyValueSet{Key: "l", Value: "w"})},
			Metadata:     engine.ExecutionMetadata{Status: engine.StatusContinuedAsNew, Output: &next, OrchestrationName: "Order", OrchestrationVersion: "1.0.0", PinnedVersion: &b.Version},
			OrchestratorItems: []engine.WorkItem{
				engine.ContinueAsNewItem{Instance: "order-1", Orchestration: "Order"}, engine.TimerFiredItem{Instance: "order-1", ExecutionID: 1, ID: 9, FireAtMs: 2_000_000},
			},
		},
		{
			HistoryDelta: []engine.Event{event(1, eventdata.OrchestrationStarted{Name: "Order", Version: "2.0.0"}), event(2, eventdata.KeyValueCleared{Key: "k"}), event(3, eventdata.CustomStatusUpdated{Status: &status})},
			Metadata:     engine.ExecutionMetadata{OrchestrationName: "Order", OrchestrationVersion: "2.0.0", PinnedVersion: &b.Version},
			WorkerItems: []engine.WorkItem{
				engine.ActivityExecuteItem{Instance: "order-1", ExecutionID: 2, ID: 5, Name: "Charge", SessionID: "till"},
				engine.ActivityExecuteItem{Instance: "order-1", ExecutionID: 2, ID: 6, Name: "Pack"},
			},
			OrchestratorItems: []engine.WorkItem{engine.ExternalRaisedItem{Instance: "order-1", Name: "go"}},
		},
	} {
		f, err := p.FetchOrchestrationItem(ctx, 5*time.Second, 0, nil)
		must(err)
		acked.LockToken, acked.ExecutionID = f.LockToken, uint64(execution+1)
		must(p.AckOrchestrationItem(ctx, acked))
	}
	if _, err := p.FetchWorkItem(ctx, time.Second, 0, &engine.SessionFetchConfig{OwnerID: "w1", LockTimeout: time.Minute}, engine.TagFilter{}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.FetchOrchestrationItem(ctx, 5*time.Second, 0, nil); err != nil {
		t.Fatal(err)
	}
}
