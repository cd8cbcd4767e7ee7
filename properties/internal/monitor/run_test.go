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
	"github.com/durosim/durosim/sim/scenario"
)

func TestMain(m *testing.M) { sample.Main(m) }

// liveProperties lists the liveness properties.
var liveProperties = []string{"L01", "L02", "L03", "L04", "L05", "S22"}

// upgradePlan is a rolling upgrade under load.
func upgradePlan(t testing.TB, f faults.Plan) *plan.Plan {
	return sample.Must(sample.Must(scenario.Lookup("rolling-upgrade"))(t).Expand(1, scenario.Overrides{Faults: &f}))(t)
}

func runPlan(t testing.TB, p *plan.Plan, seed uint64, o Options) *cluster.Result {
	t.Helper()
	return sample.Must(cluster.Run(cluster.Config{Plan: p, Seed: seed, Monitor: func(w *cluster.World) cluster.Monitor { return New(w, o) }}))(t)
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

// TestNothingIsViolated runs both plans without faults, with light and with full ones. In every other seed, the second
// judge watches.
func TestNothingIsViolated(t *testing.T) {
	for seed := range sample.Number(6, 20) {
		for load, f := range map[string]faults.Plan{"none": faults.None(), "light": faults.Light(), "full": faults.Full()} {
			for _, p := range []*plan.Plan{upgradePlan(t, f), oddPlan(f)} {
				r := runPlan(t, p, seed, Options{Without: []string{"outcome"}, SecondJudge: 2})
				for _, v := range r.Violations {
					t.Errorf("%s, faults %s, seed %d: %s %s: %s", p.Name, load, seed, v.Property, v.Instance, v.Message)
				}
				if r.Exhausted {
					t.Errorf("%s, faults %s, seed %d: out of budget", p.Name, load, seed)
				}
			}
		}
	}
}

// TestMonitorMovesNothing checks that a run with a monitor equals the run without one, except for when it ends.
func TestMonitorMovesNothing(t *testing.T) {
	one := runPlan(t, upgradePlan(t, faults.Full()), 3, Options{})
	two := runPlan(t, upgradePlan(t, faults.Full()), 3, Options{Properties: liveProperties})
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
	for _, p := range []*plan.Plan{upgradePlan(t, faults.Full()), oddPlan(faults.Full())} {
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
