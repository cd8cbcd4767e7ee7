package secondjudge_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
	"github.com/durosim/durosim/sim/scenario"
)

func TestMain(m *testing.M) { sample.Main(m) }

func judged(t *testing.T, name string, seed, second uint64, ids ...faults.BugID) *cluster.Result {
	t.Helper()
	s := sample.Must(scenario.Lookup(name))(t)
	plan := sample.Must(s.Expand(seed, scenario.Overrides{Bugs: ids}))(t)
	return sample.Must(cluster.Run(cluster.Config{Plan: plan, Seed: seed, Monitor: func(w *cluster.World) cluster.Monitor {
		return monitor.New(w, monitor.Options{SecondJudge: second})
	}}))(t)
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

// TestSecondJudgeRefuses checks that the second judge finds a bug, with the property that has it, and that what a rule
// finds in the same step is the same finding.
func TestSecondJudgeRefuses(t *testing.T) {
	for _, c := range []struct {
		bug            faults.BugID
		property, want string
		alone          bool // no rule finds it in that step
	}{
		{"provider/filter-ignored", "S01", "the filter does not admit the pin", false},
		{"provider/timer-visible-at-once", "S15", "TimerFired 1/4 (message 9) of Chain-17: visible from 9.723s on: expected from 10.021s", true},
		{"provider/renewal-adds", "S05", "until 11.715s: expected until 10.718s", true},
		{"provider/ack-partial", "S06", "the instance is there: expected no such instance", true},
		{"provider/restored-status-lost", "S17", "at the start of the run: spelled-1: custom status none, version 0: expected ", true},
		{"provider/exclusive-upper-bound", "S22", "nothing was found although something is eligible", false},
		{"provider/cancel-ignores-activity", "S12", "ActivityExecute for Race-12: not in its queue", true},
	} {
		seen := 0
		for _, v := range judged(t, scenarioOf(t, c.bug), 1, 1, c.bug).Violations {
			clause, alone := strings.CutPrefix(v.Message, "second judge: ")
			if !alone {
				clause = v.Clause
			}
			if clause == "" {
				continue
			}
			if seen++; v.Property != c.property || v.Class != cluster.ClassSafety || v.Instance == "" || !strings.Contains(clause, c.want) || c.alone != alone {
				t.Errorf("%s: %+v", c.bug, v)
			}
		}
		if seen != 1 {
			t.Errorf("%s: the second judge has refused %d answers, expected the first wrong one", c.bug, seen)
		}
	}
}

// watched returns a monitor with a second judge of a store that holds what it is given, whatever the plan says, and a
// handle for a node.
func watched(t *testing.T, o memprovider.Options, planned, given []memprovider.PreloadedInstance) (*monitor.Monitor, *memprovider.Store, engine.Provider) {
	t.Helper()
	w := &rig.FakeWorld{Now: rig.StartMs, AllBuilds: engine.ShippedBuilds()}
	m := monitor.New(w, monitor.Options{SecondJudge: 1})
	o.Sink, o.StartMs = m, rig.StartMs
	w.RealStore = memprovider.New(o)
	w.ThePlan.Contents = &plan.Contents{Instances: planned}
	for _, in := range given {
		sample.OK(t, w.RealStore.Preload(in))
	}
	codec := w.AllBuilds[1].Codec
	return m, w.RealStore, m.WatchHandle(w.RealStore.Handle(codec, observe.Caller{Node: 1, Incarnation: 1}), codec)
}

// finds checks that there is one violation whose first line is a text behind "second judge: ", or none if there is no text.
func finds(t *testing.T, m *monitor.Monitor, property, text string) {
	t.Helper()
	m.AfterStep()
	var got []string
	for _, v := range m.Violations() {
		line, _, _ := strings.Cut(v.Message, "\n")
		got = append(got, v.Property+strings.TrimPrefix(line, "second judge"))
	}
	want := property + ": " + text
	if text == "" {
		want = ""
	}
	if said := strings.Join(got, "\n"); said != want {
		t.Errorf("found %q, want %q", said, want)
	}
}

// TestStoreFails checks that an ack may fail if a fault makes it fail, and not otherwise.
func TestStoreFails(t *testing.T) {
	for _, injected := range []bool{false, true} {
		m, _, p := watched(t, memprovider.Options{BeforeAckStep: func(memprovider.AckStep) error {
			return engine.Retryablef("ack_orchestration_item", "storage failed")
		}}, nil, nil)
		_ = p.EnqueueForOrchestrator(t.Context(), engine.StartItem{Instance: "A", Orchestration: "Order", ExecutionID: 1}, 0)
		got, err := p.FetchOrchestrationItem(t.Context(), time.Second, 0, nil)
		if err != nil || got == nil {
			t.Fatal(got, err)
		}
		text := "after ack_orchestration_item by caller 1, which failed with a retryable error and so must have changed nothing: a retryable error, although the storage works and no other caller competes [docs/contract/provider.md#p8]"
		if injected {
			text = ""
			m.Record(&cluster.Record{Kind: record.Fault, Fault: faults.AckStepError, CallKind: observe.CallAckOrchestrationItem})
		}
		if err := p.AckOrchestrationItem(t.Context(), engine.OrchestrationAck{LockToken: got.LockToken, ExecutionID: 1}); !engine.IsRetryable(err) {
			t.Fatal(err)
		}
		finds(t, m, cluster.PropertyProvider, text)
	}
}

// TestDamageOfOneOfTwo damages the older of two equal messages, which is the only one that is delivered.
func TestDamageOfOneOfTwo(t *testing.T) {
	m, store, p := watched(t, memprovider.Options{}, nil, nil)
	_ = p.EnqueueForOrchestrator(t.Context(), engine.StartItem{Instance: "A", Orchestration: "Order", ExecutionID: 1}, 0)
	for _, delay := range []time.Duration{0, time.Hour} {
		_ = p.EnqueueForOrchestrator(t.Context(), engine.ExternalRaisedItem{Instance: "A", Name: "go"}, delay)
	}
	sample.OK(t, store.DamageMessage(2, []byte("{")))
	if got, err := p.FetchOrchestrationItem(t.Context(), time.Second, 0, nil); err != nil || got == nil || got.Item.HistoryError == "" {
		t.Fatalf("fetched %+v, %v", got, err)
	}
	finds(t, m, "", "")
}

// TestAbandonedActivity checks that an activity that is given up without a delay is visible from then on, not since
// before, which matters where a store uses its callers' clocks.
func TestAbandonedActivity(t *testing.T) {
	m, store, p := watched(t, memprovider.Options{}, nil, nil)
	_ = p.EnqueueForWorker(t.Context(), engine.ActivityExecuteItem{Instance: "A", ExecutionID: 1, ID: 2, Name: "Work"})
	got, err := p.FetchWorkItem(t.Context(), time.Second, 0, nil, engine.TagFilter{Mode: engine.TagAny})
	if err != nil || got == nil {
		t.Fatal(got, err)
	}
	store.SetNow(rig.StartMs + 500)
	sample.OK(t, p.AbandonWorkItem(t.Context(), got.LockToken, 0, false))
	finds(t, m, "", "")
}

// TestDroppedOrphans checks that a finding begins with the messages that were dropped although their instance has begun.
func TestDroppedOrphans(t *testing.T) {
	const bug = "provider/undecodable-history-is-orphan"
	want := "dropped as an orphan QueueMessage (message 80), although Picky-12 has begun; nothing was found although something is eligible"
	for _, v := range judged(t, scenarioOf(t, bug), 2, 1, bug).Violations {
		if v.Property == "S22" && strings.Contains(v.Message, want) {
			return
		}
	}
	t.Errorf("no violation of S22 says %q", want)
}

// TestPreloadedIsKept checks that a store must hold what the plan says that it holds.
func TestPreloadedIsKept(t *testing.T) {
	pin, other, output := engine.V(1, 5, 0), engine.V(2, 0, 0), "done"
	var events []memprovider.PreloadedEvent
	for id, data := range []engine.EventData{eventdata.OrchestrationStarted{Name: "Order", Version: "1.0.0"}, eventdata.OrchestrationCompleted{Output: output}} {
		e := engine.Event{EventID: uint64(id + 1), InstanceID: "A", ExecutionID: 1, Data: data}
		bytes := sample.Must(engine.ShippedBuilds()[1].Codec.AppendEvent(nil, e))(t)
		events = append(events, memprovider.PreloadedEvent{ID: e.EventID, Kind: e.Kind(), Data: bytes})
	}
	third := events[1]
	third.ID = 3
	for _, c := range []struct {
		change         func(x *memprovider.PreloadedExecution)
		property, want string
	}{
		{func(*memprovider.PreloadedExecution) {}, "", ""},
		{func(x *memprovider.PreloadedExecution) { x.Events = append(x.Events[:1:1], third) }, "S07", "execution 1 has event 3: expected no such event"},
		{func(x *memprovider.PreloadedExecution) { x.Events = x.Events[:1] }, "S06", "1 executions with 1 events: expected 1 with 2"},
		{func(x *memprovider.PreloadedExecution) { x.Status, x.Output = engine.StatusFailed, nil }, "S06", "execution 1 is Failed: expected Completed"},
		{func(x *memprovider.PreloadedExecution) { x.Pin = &other }, "S09", "execution 1 has pin 2.0.0: expected 1.5.0"},
	} {
		given := memprovider.PreloadedInstance{Instance: "A", Orchestration: "Order", Executions: []memprovider.PreloadedExecution{
			{ID: 1, Pin: &pin, Status: engine.StatusCompleted, Output: &output, Events: events},
		}}
		planned := []memprovider.PreloadedInstance{given}
		given.Executions = slices.Clone(given.Executions)
		c.change(&given.Executions[0])
		// The first call shows it: as what was so from the start, if it has touched nothing.
		for what, first := range map[string]func(p engine.Provider){ // the order does not matter
			"at the start of the run: A: ": func(p engine.Provider) { _, _ = p.GetCustomStatus(t.Context(), "A", 0) },
			"after enqueue_for_orchestrator by caller 1: A: ": func(p engine.Provider) {
				_ = p.EnqueueForOrchestrator(t.Context(), engine.ExternalRaisedItem{Instance: "A", Name: "go"}, 0)
			},
		} {
			m, _, p := watched(t, memprovider.Options{}, planned, []memprovider.PreloadedInstance{given})
			first(p)
			if c.want == "" {
				what = ""
			}
			finds(t, m, c.property, what+c.want)
		}
		m, _, p := watched(t, memprovider.Options{}, planned, nil)
		_, _ = p.GetCustomStatus(t.Context(), "B", 0)
		finds(t, m, "S06", "after get_custom_status by caller 1: the store has nothing of 1 instances, of which it should have 1")
	}
}

// TestEndOfRun checks that everything is compared at the end, with or without a call before, if there is a handle.
func TestEndOfRun(t *testing.T) {
	for _, called := range []bool{false, true} {
		m, store, p := watched(t, memprovider.Options{}, nil, nil)
		if called {
			_, _ = p.GetCustomStatus(t.Context(), "A", 0)
		}
		own := store.Handle(engine.ShippedBuilds()[1].Codec, observe.Caller{Node: 1, Incarnation: 1})
		_ = own.EnqueueForOrchestrator(t.Context(), engine.ExternalRaisedItem{Instance: "A", Name: "go"}, 0)
		m.Finish()
		finds(t, m, "S12", "at the end of the run: ExternalRaised (message 1) of A: in its queue: expected no such row")
	}
}

// TestSecondJudgeKnowsSeeds reads every part of a preloaded instance.
func TestSecondJudgeKnowsSeeds(t *testing.T) {
	status, b, pin := "half way", engine.ShippedBuilds()[1], engine.V(1, 5, 0)
	start := sample.Must(b.Codec.AppendEvent(nil, engine.Event{EventID: 1, InstanceID: "child", ExecutionID: 2, Data: eventdata.OrchestrationStarted{Name: "Order", Version: "1.0.0"}}))(t)
	held := memprovider.PreloadedInstance{
		Instance: "child", Orchestration: "Order", Version: "1.0.0", Parent: &engine.ParentLink{Instance: "root", ExecutionID: 1, EventID: 2},
		CustomStatus: &status, KV: []engine.KVEntry{{Key: "k", Value: "v", LastUpdatedAtMs: 7}},
		Executions: []memprovider.PreloadedExecution{
			{ID: 1, Status: engine.StatusContinuedAsNew},
			{ID: 2, Pin: &pin, Events: []memprovider.PreloadedEvent{{ID: 1, Kind: eventdata.KindOrchestrationStarted, Data: start}}},
		},
	}
	m, _, p := watched(t, memprovider.Options{}, []memprovider.PreloadedInstance{held}, []memprovider.PreloadedInstance{held})
	ctx := t.Context()
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
	finds(t, m, "", "")
}
