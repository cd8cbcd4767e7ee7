package answers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/properties/internal/rig"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
)

// judged runs a seed of a scenario, with or without the second judge.
func judged(t *testing.T, name string, seed, second uint64, ids ...faults.BugID) *cluster.Result {
	t.Helper()
	s, err := scenario.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := s.Expand(seed, scenario.Overrides{Bugs: ids})
	if err != nil {
		t.Fatal(err)
	}
	result, err := cluster.Run(cluster.Config{Plan: plan, Seed: seed, Monitor: func(w *cluster.World) cluster.Monitor {
		return monitor.New(w, monitor.Options{SecondJudge: second})
	}})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestSecondJudgeAgrees checks that the second judge allows all answers in a few runs with preloaded histories, damage and old
// builds.
func TestSecondJudgeAgrees(t *testing.T) {
	for _, name := range []string{"rolling-upgrade", "bad-history", "torn-acks", "orphans"} {
		for seed := uint64(1); seed <= sample.Number(1, 3); seed++ {
			result := judged(t, name, seed, 1)
			for _, v := range result.Violations {
				t.Errorf("%s, seed %d: %s", name, seed, v.Message)
			}
			if result.Digest != judged(t, name, seed, 0).Digest {
				t.Errorf("%s, seed %d: the second judge changes the trace", name, seed)
			}
		}
	}
}

func scenarioOf(t *testing.T, id faults.BugID) string {
	t.Helper()
	bug, ok := faults.Lookup(id)
	if !ok {
		t.Fatal(id)
	}
	return bug.Scenario
}

func TestSecondJudgeRefuses(t *testing.T) {
	for _, c := range []struct {
		bug            faults.BugID
		property, want string
	}{
		{"provider/filter-ignored", "S01", "the filter does not admit the pin"},
		{"provider/timer-visible-at-once", "S15", "visible: the store has 1735689601117, and should have 1735689605116"},
		{"provider/renewal-adds", "S05", "lock: the store has "},
		{"provider/ack-partial", "S06", "that should not be there"},
		{"provider/restored-status-lost", "S17", "custom status: the store has "},
		{"provider/orphan-kept", "S12", "the store has a message, QueueMessage"},
	} {
		seen := 0
		for _, v := range judged(t, scenarioOf(t, c.bug), 1, 1, c.bug).Violations {
			if !strings.HasPrefix(v.Message, "second judge: ") {
				continue
			}
			if seen++; v.Property != c.property || v.Class != cluster.ClassSafety || v.Node == "" || v.Instance == "" || !strings.Contains(v.Message, c.want) {
				t.Errorf("%s: %+v", c.bug, v)
			}
		}
		if seen != 1 {
			t.Errorf("%s: the second judge has refused %d answers, expected the first wrong one", c.bug, seen)
		}
	}
}

// TestSecondJudgeKnowsSeeds reads every part of a preloaded instance.
func TestSecondJudgeKnowsSeeds(t *testing.T) {
	w := &rig.FakeWorld{Now: rig.StartMs, AllBuilds: engine.ShippedBuilds()}
	m := monitor.New(w, monitor.Options{SecondJudge: 1})
	w.RealStore = memprovider.New(memprovider.Options{Sink: m, StartMs: rig.StartMs})
	status, b, pin := "half way", w.AllBuilds[1], engine.V(1, 5, 0)
	start, err := b.Codec.AppendEvent(nil, engine.Event{EventID: 1, InstanceID: "child", ExecutionID: 2, Data: eventdata.OrchestrationStarted{Name: "Order", Version: "1.0.0"}})
	if err != nil {
		t.Fatal(err)
	}
	held := memprovider.PreloadedInstance{
		Instance: "child", Orchestration: "Order", Version: "1.0.0", Parent: &engine.ParentLink{Instance: "root", ExecutionID: 1, EventID: 2},
		CustomStatus: &status, KV: []engine.KVEntry{{Key: "k", Value: "v", LastUpdatedAtMs: 7}},
		Executions: []memprovider.PreloadedExecution{
			{ID: 1, Status: engine.StatusContinuedAsNew},
			{ID: 2, Pin: &pin, Events: []memprovider.PreloadedEvent{{ID: 1, Kind: eventdata.KindOrchestrationStarted, Data: start}}},
		},
	}
	w.ThePlan.Contents = &plan.Contents{Instances: []memprovider.PreloadedInstance{held}}
	if err := w.RealStore.Preload(held); err != nil {
		t.Fatal(err)
	}
	p, ctx := m.WatchHandle(w.RealStore.Handle(b.Codec, observe.Caller{Node: 1, Incarnation: 1}), b.Codec), t.Context()
	_ = p.EnqueueForOrchestrator(ctx, engine.ExternalRaisedItem{Instance: "child", Name: "go"}, 0)
	got, err := p.FetchOrchestrationItem(ctx, time.Second, 0, nil)
	if err != nil || got == nil || got.Item.ExecutionID != 2 || len(got.Item.KVSnapshot) != 1 {
		t.Fatalf("fetched %+v, %v", got, err)
	}
	_, _ = p.GetCustomStatus(ctx, "child", 0)
	_, _ = p.GetKVAllValues(ctx, "child")
	_, _ = p.Admin().GetInstanceInfo(ctx, "child")
	_, _ = p.Admin().GetExecutionInfo(ctx, "child", 2)
	_, _ = p.Admin().ListExecutions(ctx, "child")
	for _, v := range m.Violations() {
		t.Error(v.Message)
	}
}
