package safety

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/eventdata"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/planterm"
	"github.com/durosim/durosim/internal/probe"
	"github.com/durosim/durosim/internal/record"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// busyPlan is a rolling upgrade with every kind of work. It includes histories that only some builds or none can read,
// and probes with filters that nodes never send.
func busyPlan(f faults.Plan) *plan.Plan {
	p := &plan.Plan{Name: "busy", Faults: f}
	for i, name := range []string{"A", "B", "C"} {
		p.Nodes = append(p.Nodes, plan.Node{Name: name, Build: "1.5.0"})
		p.Schedule = append(p.Schedule, plan.Step{At: time.Duration(10+15*i) * time.Second, Verb: plan.VerbUpgrade, Node: name, Build: "2.0.0"})
	}
	for i := range 27 {
		kind := []string{"ProcessOrder", "Eternal", "Counter", "FanOut", "Parent", "Approval", "Chain", "Cancellable", "Panicky"}[i%9]
		in := plan.Instance{ID: fmt.Sprintf("%s-%d", kind, i), Orchestration: kind, StartAt: time.Duration(i) * 1500 * time.Millisecond}
		switch kind {
		case "Eternal":
			in.Expect = planterm.EndEternal
		case "ProcessOrder", "Approval":
			in.Actions = []plan.Action{{At: in.StartAt + 3*time.Second, Verb: plan.ActionRaise, Name: "approval", Data: "boss"}}
		case "Cancellable", "Panicky":
			in.Expect = planterm.EndAny
		}
		p.Instances = append(p.Instances, in)
	}
	for i, shape := range []plan.Shape{
		planterm.ShapeWaiting, planterm.ShapeUnknownKind, planterm.ShapeNewKind, planterm.ShapeLegacy, planterm.ShapeCorrupt,
	} {
		pin := []engine.Version{engine.V(1, 5, 0), engine.V(3, 0, 0), engine.V(0, 8, 0)}[i%3]
		p.Histories = append(p.Histories, plan.History{Instance: "seeded-" + string(shape), Pin: &pin, Shape: shape, KickAt: time.Second})
	}
	p.Histories = append(p.Histories, plan.History{Instance: "seeded-unpinned", Shape: planterm.ShapeWaiting, KickAt: time.Second})
	for i, filter := range []string{"none", "any", "1.x | >=2.0.0, <=3.0.0"} {
		p.Probes = append(p.Probes, probe.Probe{
			Name: fmt.Sprintf("probe-%d", i), Build: "1.5.0", Filter: filter, IgnoreAttempt: i == 1, Every: 3 * time.Second, Count: 20,
		})
	}
	return p
}

// patient watches only safety. It keeps a run going even though safety has no obligations.
type patient struct {
	*check.Monitor
	w *cluster.World
}

func (patient) Coverage() []cluster.Point { return nil }

func (p patient) Open(nowMs int64) (bool, int64) { return nowMs < p.w.StartMs()+120_000, nowMs + 1 }

func runSafety(t testing.TB, plan *plan.Plan, seed uint64) *cluster.Result {
	t.Helper()
	r, err := cluster.Run(cluster.Config{Plan: plan, Seed: seed, Monitor: func(w *cluster.World) cluster.Monitor {
		return patient{newSafety(w, IDs()...), w}
	}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRightClusterIsSafe(t *testing.T) {
	for _, load := range []struct {
		name string
		plan faults.Plan
	}{{"none", faults.None()}, {"light", faults.Light()}, {"full", faults.Full()}} {
		t.Run(load.name, func(t *testing.T) {
			plan := busyPlan(load.plan)
			for seed := range sample.Number(5, 15) {
				for _, v := range runSafety(t, plan, seed).Violations {
					t.Errorf("seed %d step %d: %s %s %s: %s", seed, v.Step, v.Property, v.Node, v.Instance, v.Message)
				}
			}
		})
	}
}

// TestPlantedBugsBreakSafety turns on the planted bugs in this version's catalogue, one at a time.
func TestPlantedBugsBreakSafety(t *testing.T) {
	planted := []struct {
		id    faults.BugID
		first string // the property that must be among the violated ones
	}{
		{"provider/filter-after-lock", "S01"},
		{"provider/filter-after-count", "S01"},
		{"provider/filter-after-decode", "S02"},
		{"provider/filter-ignored", "S01"},
		{"provider/any-range", "S01"},
		{"provider/empty-filter-as-none", "S01"},
		{"provider/pin-of-first-execution", "S01"},
		{"provider/unpinned-incompatible", "S03"},
		{"provider/head-of-line-block", "S03"},
		{"provider/count-lost-when-decoding-fails", "S04"},
		{"provider/count-reset-by-abandon", "S04"},
		{"provider/decrement-below-zero", "S04"},
		{"provider/ignore-attempt-ignored", "S04"},
		{"provider/error-while-locked", "S05"},
		{"provider/expiry-not-checked", "S05"},
		{"provider/token-not-checked", "S05"},
		{"provider/ack-partial", "S06"},
		{"provider/ack-re-encodes", "S07"},
		{"provider/late-arrivals-deleted-by-ack", "S12"},
		{"provider/delay-ignored", "S15"},
		{"provider/timer-visible-at-once", "S15"},
		{"provider/undecodable-event-skipped", "S18"},
		{"engine/writes-newer-kind", "S23"},
	}
	tried := 0
	for _, c := range sample.Of(planted, 3) {
		if _, known := faults.Lookup(c.id); !known {
			continue // not in this version's catalogue, so stories test its checker
		}
		tried++
		plan := busyPlan(faults.Full())
		plan.Bugs = []faults.BugID{c.id}
		caught := false
		for seed := uint64(0); seed < 40 && !caught; seed++ {
			r := runSafety(t, plan, seed)
			caught = slices.ContainsFunc(r.Violations, func(v cluster.Violation) bool { return v.Property == c.first })
		}
		if !caught {
			t.Errorf("%s is on, and %s finds nothing in 40 seeds", c.id, c.first)
		}
	}
	if tried == 0 {
		t.Error("the catalogue has none of these bugs")
	}
}

// TestShadowOfKeptState is like TestShadow, for an instance's other state and for sessions.
func TestShadowOfKeptState(t *testing.T) {
	other := "other"
	for _, c := range []struct {
		name string
		lie  func(m *model.Shadow)
		want string
	}{
		{"shadow_ok", func(*model.Shadow) {}, ""},
		{"shadow_bad custom status", func(m *model.Shadow) { m.Instances[1].Values.CustomStatus = &other }, `custom status: the store has "paid", its calls left "other"`},
		{"shadow_bad version", func(m *model.Shadow) { m.Instances[1].Values.CustomVersion = 7 }, "version of the custom status: the store has 1, its calls left 7"},
		{"shadow_bad value", func(m *model.Shadow) { m.Instances[1].Values.Store[0].Value = &other }, `key-value store, key "k": the store has "v", its calls left "other"`},
		{"shadow_bad time", func(m *model.Shadow) { m.Instances[1].Values.Store[0].UpdatedMs++ }, `key-value store, key "k"`},
		{"shadow_bad tombstone", func(m *model.Shadow) { m.Instances[1].Values.Delta = nil }, `key-value delta, the store has key "k", which was never observed`},
		{"shadow_bad key", func(m *model.Shadow) { m.Instances[1].Values.Store[0].Key = "j" }, `key-value store, key "j" was observed, but the store does not have it`},
		{"shadow_bad session", func(m *model.Shadow) { m.Sessions = nil }, `the store has session "till", which was never observed`},
		{"shadow_bad owner", func(m *model.Shadow) { m.Sessions[0].Owner = "w2" }, `session "till": the store has {till w1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &fakeWorld{nowMs: storyStartMs, plan: &plan.Plan{}, builds: engine.ShippedBuilds()}
			m := newSafety(w, "S06")
			w.store = memprovider.New(memprovider.Options{Sink: m, StartMs: storyStartMs})
			fillStore(t, w.store, w.builds[1])
			fillKept(t, w.store, w.builds[1])
			c.lie(m.Model)
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

// fillKept adds a custom status, a key that is stored and then cleared, and a session.
func fillKept(t testing.TB, s *memprovider.Store, b *engine.Build) {
	t.Helper()
	p, ctx, status := s.Handle(b.Codec, observe.Caller{Node: 1, Incarnation: 1}), t.Context(), "paid"
	for i, ack := range []engine.OrchestrationAck{
		{HistoryDelta: []engine.Event{{EventID: 5, Data: eventdata.CustomStatusUpdated{Status: &status}}, {EventID: 6, Data: eventdata.KeyValueSet{Key: "k", Value: "v"}}},
			Metadata:          engine.ExecutionMetadata{Status: engine.StatusCompleted},
			OrchestratorItems: []engine.WorkItem{engine.ExternalRaisedItem{Instance: "order-1", Name: "again"}}},
		{HistoryDelta: []engine.Event{{EventID: 7, Data: eventdata.KeyValueCleared{Key: "k"}}}},
	} {
		f, err := p.FetchOrchestrationItem(ctx, time.Second, 0, nil)
		if f == nil || err != nil {
			t.Fatalf("turn %d: %v, %v", i, f, err)
		}
		ack.LockToken, ack.ExecutionID = f.LockToken, 1
		if err := p.AckOrchestrationItem(ctx, ack); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.EnqueueForWorker(ctx, engine.ActivityExecuteItem{Instance: "order-1", ExecutionID: 1, ID: 3, Name: "Charge", SessionID: "till", Tag: "t"}); err != nil {
		t.Fatal(err)
	}
	tags := engine.TagFilter{Mode: engine.TagTags, Tags: []string{"t"}}
	if _, err := p.FetchWorkItem(ctx, time.Second, 0, &engine.SessionFetchConfig{OwnerID: "w1", LockTimeout: time.Minute}, tags); err != nil {
		t.Fatal(err)
	}
}

// TestShadow falsifies the model, as if the store's observations were wrong.
func TestShadow(t *testing.T) {
	for _, c := range []struct {
		name string
		lie  func(m *model.Shadow)
		want string
	}{
		{"shadow_ok", func(*model.Shadow) {}, ""},
		{"shadow_bad count", func(m *model.Shadow) { m.Row(2).Count++ }, "attempt count: the store has 0, its calls left 1"},
		{"shadow_bad mark", func(m *model.Shadow) { m.Row(2).Lock.Token = "o9" }, "mark: the store has , its calls left o9"},
		{"shadow_bad row gone", func(m *model.Shadow) { m.Unlink(m.Row(2)) }, "the store has message 2, which was removed or never inserted according to the observations"},
		{"shadow_bad row kept", func(m *model.Shadow) { m.Link(m.Row(1)) }, "StartOrchestration (message 1) is not in the orchestrator queue"},
		{"shadow_bad activity", func(m *model.Shadow) { m.Row(3).VisibleMs++ }, "ActivityExecute 1/2 (message 3): time of visibility"},
		{"shadow_bad pin", func(m *model.Shadow) { m.Instances[1].Executions[0].Pin = nil }, "execution 1: pin: the store has 1.5.0, its calls left none"},
		{"shadow_bad status", func(m *model.Shadow) { m.Instances[1].Executions[0].Status = "Failed" }, "execution 1: status: the store has Running, its calls left Failed"},
		{"shadow_bad event", func(m *model.Shadow) { m.Instances[1].Executions[0].Events[0].Bytes = []byte(`{"event_id":7}`) }, `event 1: bytes: from offset 12 the store has`},
		{"shadow_bad event written over", func(m *model.Shadow) { m.Instances[1].Executions[0].Events[0].Sum++ }, "event 1: bytes: the store wrote over"},
		{"shadow_bad event gone", func(m *model.Shadow) { m.Instances[1].Executions[0].Events = nil }, "the store has event 1, which was never observed"},
		{"shadow_bad lock", func(m *model.Shadow) { m.Instances[1].Lock.Token = "o9" }, "lock token: the store has , its calls left o9"},
		{"shadow_bad instance", func(m *model.Shadow) { *m.Instances[1] = model.Instance{No: 1, Name: "order-1"} }, "instances row: the store has true, its calls left false"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &fakeWorld{nowMs: storyStartMs, plan: &plan.Plan{}, builds: engine.ShippedBuilds()}
			m := newSafety(w, "S06")
			w.store = memprovider.New(memprovider.Options{Sink: m, StartMs: storyStartMs})
			fillStore(t, w.store, w.builds[1])
			c.lie(m.Model)
			m.Finish()
			found := m.Violations()
			switch {
			case c.want == "" && len(found) == 0:
			case c.want == "" || len(found) != 1 || found[0].Class != cluster.ClassSafety || !strings.Contains(found[0].Message, c.want):
				t.Errorf("found %+v, want %q", found, c.want)
			}
		})
	}
}

// fillStore stores an instance with a history, a message and an activity.
func fillStore(t testing.TB, s *memprovider.Store, b *engine.Build) {
	t.Helper()
	p, ctx := s.Handle(b.Codec, observe.Caller{Node: 1, Incarnation: 1}), t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(p.EnqueueForOrchestrator(ctx, engine.StartItem{Instance: "order-1", Orchestration: "Order", ExecutionID: 1}, 0))
	f, err := p.FetchOrchestrationItem(ctx, 5*time.Second, 0, nil)
	must(err)
	must(p.EnqueueForOrchestrator(ctx, engine.ExternalRaisedItem{Instance: "order-1", Name: "go"}, 0))
	must(p.AckOrchestrationItem(ctx, engine.OrchestrationAck{
		LockToken: f.LockToken, ExecutionID: 1,
		HistoryDelta: []engine.Event{{EventID: 1, InstanceID: "order-1", ExecutionID: 1, Data: eventdata.OrchestrationStarted{Name: "Order", Version: "1.0.0"}}},
		WorkerItems:  []engine.WorkItem{engine.ActivityExecuteItem{Instance: "order-1", ExecutionID: 1, ID: 2, Name: "Charge"}},
		Metadata:     engine.ExecutionMetadata{OrchestrationName: "Order", OrchestrationVersion: "1.0.0", PinnedVersion: &b.Version},
	}))
}

// tape records a monitor's input during a run, so that the input can be replayed without the run.
type tape struct {
	plan         *plan.Plan
	entries      []tapeEntry
	observations int
	builds       []*engine.Build
	nodes        []cluster.NodeInfo
}

type tapeEntry struct {
	observation *observe.Observation
	record      *cluster.Record
	info        cluster.NodeInfo // the node that started
}

type recorder struct {
	patient
	tape *tape
}

func (r recorder) Observe(o *observe.Observation) {
	kept := *o
	kept.Messages = slices.Clone(o.Messages)
	if o.Request != nil {
		request := *o.Request
		if request.Ack != nil {
			ack := *request.Ack
			ack.HistoryDelta = slices.Clone(ack.HistoryDelta)
			ack.WorkerItems, ack.OrchestratorItems = slices.Clone(ack.WorkerItems), slices.Clone(ack.OrchestratorItems)
			ack.CancelledActivities = slices.Clone(ack.CancelledActivities)
			request.Ack = &ack
		}
		kept.Request = &request
	}
	r.tape.entries = append(r.tape.entries, tapeEntry{observation: &kept})
	r.tape.observations++
}

func (r recorder) Record(rec *cluster.Record) {
	e := tapeEntry{record: &cluster.Record{}}
	*e.record = *rec
	if rec.Note != nil {
		note := *rec.Note
		e.record.Note = &note
	}
	if rec.Kind == record.NodeStarted {
		e.info = *r.w.Node(rec.Node)
	}
	r.tape.entries = append(r.tape.entries, e)
}

func recordRun(t testing.TB, plan *plan.Plan) *tape {
	tp := &tape{plan: plan, builds: engine.ShippedBuilds()}
	_, err := cluster.Run(cluster.Config{Plan: plan, Seed: 7, Builds: tp.builds, Monitor: func(w *cluster.World) cluster.Monitor {
		tp.nodes = slices.Clone(w.Nodes())
		return recorder{patient{newSafety(w), w}, tp}
	}})
	if err != nil {
		t.Fatal(err)
	}
	return tp
}

// play replays the tape into a new monitor for the safety properties.
func (tp *tape) play() *check.Monitor { return tp.playTo(IDs()...) }

func (tp *tape) playTo(ids ...string) *check.Monitor { return tp.playUntil(len(tp.entries), ids...) }

// playUntil plays a tape, but stops the given number of entries after the first violation.
func (tp *tape) playUntil(later int, ids ...string) *check.Monitor {
	w := &fakeWorld{plan: tp.plan, builds: tp.builds, nodes: slices.Clone(tp.nodes)}
	m := newSafety(w, ids...)
	for i := range tp.entries {
		if len(m.Violations()) > 0 {
			if later--; later < 0 {
				break
			}
		}
		e := &tp.entries[i]
		if e.observation != nil {
			m.Observe(e.observation)
			continue
		}
		if e.record.Kind == record.NodeStarted {
			w.nodes[e.record.Node-1] = e.info
		}
		m.Record(e.record)
	}
	return m
}

// TestObservingAllocatesLittle leaves out S24, which computes each turn a second time.
func TestObservingAllocatesLittle(t *testing.T) {
	tp := recordRun(t, busyPlan(faults.Light()))
	ids := slices.DeleteFunc(IDs(), func(id string) bool { return id == "S24" })
	perRun := testing.AllocsPerRun(5, func() { tp.playTo(ids...) })
	if per := perRun / float64(tp.observations); per > 0.2 {
		t.Errorf("%.2f allocations for each of %d observations; want growth of the model only, below 0.2", per, tp.observations)
	}
}

func BenchmarkSafetyObserve(b *testing.B) {
	tp := recordRun(b, busyPlan(faults.Light()))
	b.ReportAllocs()
	for b.Loop() {
		if found := tp.play().Violations(); len(found) > 0 {
			b.Fatal(found[0])
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(tp.observations), "ns/observation")
	b.ReportMetric(float64(tp.observations), "observations")
}
