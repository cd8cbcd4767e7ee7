package monitor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties/internal/coverage"
	"github.com/durosim/durosim/properties/internal/safety"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// liveProperties lists the liveness properties.
var liveProperties = []string{"L01", "L02", "L03", "L04", "L05", "S22"}

// upgradePlan is a rolling upgrade under load.
func upgradePlan(instances int, f faults.Plan) *plan.Plan {
	p := &plan.Plan{Name: "upgrade", Faults: f}
	for i, name := range []string{"A", "B", "C"} {
		p.Nodes = append(p.Nodes, plan.Node{Name: name, Build: "1.5.0"})
		p.Schedule = append(p.Schedule, plan.Step{At: time.Duration(10+15*i) * time.Second, Verb: plan.VerbUpgrade, Node: name, Build: "2.0.0"})
	}
	p.Schedule = append([]plan.Step{{At: time.Second, Verb: plan.VerbMark, Mark: "old"}}, p.Schedule...)
	kinds := []string{"ProcessOrder", "Eternal", "Counter", "FanOut", "Parent", "Approval", "Chain", "Cancellable"}
	for i := range instances {
		kind := kinds[i%len(kinds)]
		in := plan.Instance{ID: fmt.Sprintf("%s-%d", kind, i), Orchestration: kind, StartAt: time.Duration(i) * 1500 * time.Millisecond}
		switch kind {
		case "Eternal":
			in.Expect = plan.EndEternal
		case "ProcessOrder", "Approval":
			in.Actions = []plan.Action{{At: in.StartAt + 3*time.Second, Verb: plan.ActionRaise, Name: "approval", Data: "boss"}}
		case "Cancellable":
			in.Expect = plan.EndAny
		}
		p.Instances = append(p.Instances, in)
	}
	return p
}

func runPlan(t testing.TB, p *plan.Plan, seed uint64, o Options) *cluster.Result {
	t.Helper()
	r, err := cluster.Run(cluster.Config{Plan: p, Seed: seed, Monitor: func(w *cluster.World) cluster.Monitor { return New(w, o) }})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestUpgradeHolds(t *testing.T) {
	seeds := sample.Number(6, 20)
	for _, load := range []struct {
		name string
		plan faults.Plan
	}{{"none", faults.None()}, {"light", faults.Light()}, {"full", faults.Full()}} {
		t.Run(load.name, func(t *testing.T) {
			for seed := range seeds {
				r := runPlan(t, upgradePlan(30, load.plan), seed, Options{Without: []string{"outcome"}})
				for _, v := range r.Violations {
					t.Errorf("seed %d: %s %s: %s", seed, v.Property, v.Instance, v.Message)
				}
				if r.Exhausted {
					t.Errorf("seed %d: out of budget", seed)
				}
				if seed == 0 {
					t.Logf("steps %d turns %d virtual %dms", r.Steps, r.Turns, r.Virtual)
					for _, p := range r.Coverage {
						t.Logf("%6d %s", p.Count, p.Name)
					}
				}
			}
		})
	}
}

// oddPlan has unusual cases: histories of every shape and with foreign pins, a handler that no node has, another that
// only one node has, a node whose narrowed range excludes its own build, and probes with filters that nodes never send.
func oddPlan(f faults.Plan) *plan.Plan {
	v := func(major, minor uint32) *engine.Version { p := engine.V(major, minor, 0); return &p }
	p := &plan.Plan{
		Name: "odd", Faults: f, FaultPhase: 40 * time.Second,
		Nodes: []plan.Node{{Name: "A", Build: "1.5.0"}, {Name: "B", Build: "2.0.0"}, {Name: "C", Build: "1.6.0", Handlers: []string{"Cancellable@1.0.0"}}},
		Histories: []plan.History{
			{Instance: "waiting", Pin: v(1, 5), Shape: plan.ShapeWaiting},
			{Instance: "unpinned", Shape: plan.ShapeWaiting},
			{Instance: "foreign", Pin: v(3, 5), Shape: plan.ShapeWaiting},
			{Instance: "legacy", Pin: v(0, 8), Shape: plan.ShapeLegacy},
			{Instance: "new-kind", Pin: v(2, 0), Shape: plan.ShapeNewKind},
			{Instance: "unknown-kind", Pin: v(1, 5), Shape: plan.ShapeUnknownKind},
			{Instance: "corrupt", Pin: v(1, 5), Shape: plan.ShapeCorrupt},
			{Instance: "corrupt-foreign", Pin: v(4, 0), Shape: plan.ShapeCorrupt},
		},
		Schedule: []plan.Step{{At: 20 * time.Second, Verb: plan.VerbNarrow, Node: "B", Range: &engine.VersionRange{Min: engine.V(1, 0, 0), Max: engine.V(1, 9, 0)}}},
		Instances: []plan.Instance{
			{ID: "nowhere", Orchestration: "NoSuch", Expect: plan.EndPoison},
			{ID: "stranded", Orchestration: "ProcessOrder", Version: "2.0.0", StartAt: 2 * time.Second, Expect: plan.EndAny},
			{ID: "eternal", Orchestration: "Eternal", Expect: plan.EndEternal},
			{ID: "parent", Orchestration: "Parent", StartAt: 3 * time.Second, Expect: plan.EndAny},
			{ID: "counter", Orchestration: "Counter", StartAt: 4 * time.Second, Expect: plan.EndAny},
		},
	}
	for i, filter := range []string{"none", "1.x | >=2.0.0, <=3.0.0"} {
		p.Probes = append(p.Probes, plan.Probe{Name: fmt.Sprintf("probe-%d", i), Build: "1.5.0", Filter: filter, Every: 3 * time.Second, Count: 20})
	}
	return p
}

func TestOddHolds(t *testing.T) {
	for _, load := range []struct {
		name string
		plan faults.Plan
	}{{"none", faults.None()}, {"light", faults.Light()}, {"full", faults.Full()}} {
		t.Run(load.name, func(t *testing.T) {
			for seed := range sample.Number(6, 20) {
				r := runPlan(t, oddPlan(load.plan), seed, Options{Without: []string{"outcome"}})
				for _, v := range r.Violations {
					t.Errorf("seed %d: %s %s %s: %s", seed, v.Property, v.Node, v.Instance, v.Message)
				}
				if seed == 0 {
					t.Logf("steps %d turns %d virtual %dms", r.Steps, r.Turns, r.Virtual)
					for _, p := range r.Coverage {
						t.Logf("%6d %s", p.Count, p.Name)
					}
					for _, o := range r.FinalStates {
						t.Logf("%+v", o)
					}
				}
			}
		})
	}
}

// TestPlantedBugs checks that each of these bugs violates its property in a campaign of a few seeds. It skips bugs that
// are not in this version's catalogue.
func TestPlantedBugs(t *testing.T) {
	odd := func() *plan.Plan { return oddPlan(faults.None()) }
	upgrade := func() *plan.Plan { return upgradePlan(20, faults.Light()) }
	tests := []struct {
		id       faults.BugID
		plan     func() *plan.Plan
		property string
	}{
		{"provider/filter-after-lock", upgrade, "S01"},
		{"provider/filter-after-count", upgrade, "S01"},
		{"provider/filter-after-decode", upgrade, "S02"},
		{"provider/filter-ignored", upgrade, "S01"},
		{"provider/any-range", odd, "S01"},
		{"provider/empty-filter-as-none", odd, "S01"},
		{"provider/pin-of-first-execution", upgrade, "S01"},
		{"provider/unpinned-incompatible", upgrade, "S03"},
		{"provider/head-of-line-block", upgrade, "S03"},
		{"provider/count-lost-when-decoding-fails", odd, "S04"},
		{"provider/count-reset-by-abandon", upgrade, "S04"},
		{"provider/decrement-below-zero", odd, "S04"},
		{"provider/ignore-attempt-ignored", odd, "S04"},
		{"provider/ack-re-encodes", upgrade, "S07"},
		{"engine/writes-newer-kind", upgrade, "S23"},
		{"engine/count-ignored", odd, "L01"},
		{"engine/history-error-ignores-attempt", odd, "L01"},
		{"engine/backoff-doubles-forever", odd, "L01"},
		{"engine/poison-off-by-one", odd, "L05"},
		{"engine/filter-not-declared", upgrade, "L03"},
		{"engine/cancel-ignored", upgrade, "L10"},
		{"engine/parent-not-told", upgrade, "L02"},
		{"engine/phantom-activity", upgrade, "L02"},
		{"provider/filter-ignored", upgrade, "L05"},
		{"provider/filter-after-lock", upgrade, "L03"},
		{"provider/exclusive-upper-bound", upgrade, "S22"},
		{"provider/unpinned-incompatible", upgrade, "S22"},
		{"provider/head-of-line-block", odd, "S22"},
		{"provider/count-lost-when-decoding-fails", odd, "L01"},
		{"provider/count-reset-by-abandon", odd, "L01"},
		{"provider/error-while-locked", odd, "L01"},
		{"provider/late-arrivals-deleted-by-ack", upgrade, "L02"},
	}
	for _, test := range sample.Of(tests, 3) {
		t.Run(string(test.id), func(t *testing.T) {
			for seed := range uint64(40) {
				p := test.plan()
				p.Bugs = []faults.BugID{test.id}
				r, err := cluster.Run(cluster.Config{Plan: p, Seed: seed, Monitor: func(w *cluster.World) cluster.Monitor {
					return New(w, Options{Properties: []string{test.property}})
				}})
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Violations) > 0 && r.Violations[0].Property == test.property {
					return
				}
			}
			t.Errorf("no violation of %s in 40 seeds", test.property)
		})
	}
}

// TestMonitorMovesNothing checks that a run with a monitor equals the run without one, except for when it ends.
func TestMonitorMovesNothing(t *testing.T) {
	one := runPlan(t, upgradePlan(12, faults.Full()), 3, Options{})
	two := runPlan(t, upgradePlan(12, faults.Full()), 3, Options{Properties: liveProperties})
	if one.Digest != two.Digest {
		t.Errorf("digests %v and %v", one.Digest, two.Digest)
	}
	if fmt.Sprint(one.Coverage) != fmt.Sprint(two.Coverage) {
		t.Errorf("coverage %v and %v", one.Coverage, two.Coverage)
	}
}

func TestCoveragePoints(t *testing.T) {
	known := map[string]bool{}
	for _, p := range coverage.All() {
		if p.Summary == "" || known[p.Name] {
			t.Errorf("point %q: %q, named before: %v", p.Name, p.Summary, known[p.Name])
		}
		known[p.Name] = true
	}
	for _, p := range []*plan.Plan{upgradePlan(12, faults.Full()), oddPlan(faults.Full())} {
		last := ""
		for _, point := range runPlan(t, p, 1, Options{}).Coverage {
			if point.Name <= last {
				t.Errorf("%s stands behind %s", point.Name, last)
			}
			last = point.Name
			if !known[last] && !strings.HasPrefix(last, "upgrade ") && !strings.HasPrefix(last, "rollback ") {
				t.Errorf("%s is in no list", last)
			}
		}
	}
}

// TestSelfChecks: what can blame only durosim is left out for users, unless they ask for it or plant a bug.
func TestSelfChecks(t *testing.T) {
	planted := &plan.Plan{Bugs: []faults.BugID{"engine/poll-stops"}}
	for _, c := range []struct {
		o    Options
		p    *plan.Plan
		id   string
		want bool
	}{
		{Options{}, &plan.Plan{}, safety.OwnTurns, true},
		{Options{UserOnly: true}, &plan.Plan{}, safety.OwnTurns, false},
		{Options{UserOnly: true}, &plan.Plan{Profile: plan.ProfileContract}, safety.OwnTurns, false},
		{Options{UserOnly: true}, &plan.Plan{}, "S11", true},
		{Options{UserOnly: true}, planted, safety.OwnTurns, true},
		{Options{UserOnly: true}, &plan.Plan{Profile: "duroxide-0.1.26"}, safety.OwnTurns, true},
		{Options{UserOnly: true, Properties: []string{"S13"}}, &plan.Plan{}, safety.OwnTurns, true},
	} {
		if got := c.o.wants(c.id, c.p); got != c.want {
			t.Errorf("%+v, bugs %v, %s: %v, want %v", c.o, c.p.Bugs, c.id, got, c.want)
		}
	}
}
