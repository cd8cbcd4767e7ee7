package campaign_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// fake is a monitor that reports the violations that a test has assigned to seeds. It learns the seed from the plan's
// name.
type fake struct {
	seed  uint64
	panic bool
}

func (*fake) Observe(*observe.Observation) {}
func (*fake) Record(*cluster.Record)       {}
func (*fake) AfterStep()                   {}
func (*fake) Open(int64) (bool, int64)     { return false, 0 }

func (f *fake) Finish() {
	if f.panic {
		panic(fmt.Sprintf("seed %d went wrong", f.seed))
	}
}

func (f *fake) Violations() []cluster.Violation {
	var found []cluster.Violation
	if f.seed%5 == 0 {
		found = append(found, cluster.Violation{Property: "S04", Class: cluster.ClassSafety}, cluster.Violation{Property: "S04", Class: cluster.ClassSafety})
	}
	if f.seed%7 == 0 {
		found = append(found, cluster.Violation{Property: "L01", Class: cluster.ClassLiveness})
	}
	return found
}

func (f *fake) Coverage() []cluster.Point {
	points := []cluster.Point{{Name: "always", Count: 2}, {Name: "never", Count: 0}}
	if f.seed == 9 {
		points = append(points, cluster.Point{Name: "ninth", Count: 1})
	}
	return points
}

// options returns the options for a campaign over a small plan, whose name is the seed.
func options(count uint64) campaign.Options {
	return campaign.Options{
		Plan: func(seed uint64) (*plan.Plan, error) {
			return &plan.Plan{
				Name:      fmt.Sprint(seed),
				Nodes:     []plan.Node{{Name: "A", Build: "1.5.0"}},
				Instances: []plan.Instance{{ID: "chain-1", Orchestration: "Chain", Input: "3", StartAt: time.Second}},
			}, nil
		},
		Config: func() cluster.Config {
			return cluster.Config{Monitor: func(w *cluster.World) cluster.Monitor {
				f := &fake{}
				if _, err := fmt.Sscan(w.Plan().Name, &f.seed); err != nil {
					panic(err)
				}
				return f
			}}
		},
		First: 1, Count: count, KeepGoing: true,
	}
}

func mustRun(t *testing.T, o campaign.Options) *campaign.Summary {
	t.Helper()
	return sample.Must(campaign.Run(o))(t)
}

func TestSummaryAddsUp(t *testing.T) {
	s := mustRun(t, options(40))
	if s.Seeds != 40 || s.Total != 40 || s.Passed != 40-8-5+1 {
		t.Errorf("%d of %d seeds, %d passed; want 40 of 40, 28 passed", s.Seeds, s.Total, s.Passed)
	}
	if s.Steps == 0 || s.Turns == 0 || s.Calls == 0 || s.Virtual == 0 || s.Digest == (sim.Digest{}) {
		t.Errorf("something was not added up: %+v", s)
	}
	want := campaign.Coverage{{Name: "always", Count: 80}, {Name: "ninth", Count: 1}}
	if !reflect.DeepEqual(s.Coverage, want) {
		t.Errorf("coverage %v, want %v", s.Coverage, want)
	}
	if got := s.Missed([]string{"zzz", "always", "never"}); !reflect.DeepEqual(got, []string{"zzz", "never"}) {
		t.Errorf("missed %v", got)
	}
	if len(s.Violations) != 2*8+5 || s.Violations[0].Seed != 5 || s.Violations[2].Seed != 7 {
		t.Errorf("%d violations, not 21 in order of seeds: %v", len(s.Violations), s.Violations)
	}
	if len(s.Properties) != 2 {
		t.Fatalf("properties %+v", s.Properties)
	}
	if p := s.Properties[0]; p.Property != "S04" || p.Seeds != 8 || p.Violations != 16 || p.FirstSeed != 5 || p.First.Seed != 5 {
		t.Errorf("first property %+v, want S04 in 8 seeds from 5 on, 16 times", p)
	}
	if p := s.Properties[1]; p.Property != "L01" || p.Seeds != 5 || p.FirstSeed != 7 {
		t.Errorf("second property %+v, want L01 in 5 seeds from 7 on", p)
	}
}

func TestResultDoesNotDependOnWorkers(t *testing.T) {
	o := options(30)
	o.Workers = 1
	want := mustRun(t, o)
	for _, workers := range []int{2, 3, 64} {
		o.Workers = workers
		if got := mustRun(t, o); !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers:\n%+v\none:\n%+v", workers, got, want)
		}
	}
	o.Workers, o.KeepGoing = 1, false
	want = mustRun(t, o)
	if want.Seeds != 5 || want.Passed != 4 || want.Total != 30 {
		t.Errorf("stopped after %d seeds of %d, %d passed; want 5 of 30, 4 passed", want.Seeds, want.Total, want.Passed)
	}
	for _, workers := range []int{2, 8} {
		o.Workers = workers
		if got := mustRun(t, o); !reflect.DeepEqual(got, want) {
			t.Errorf("stopping early, %d workers:\n%+v\none:\n%+v", workers, got, want)
		}
	}
}

func TestShardsAreTheWhole(t *testing.T) {
	whole := mustRun(t, options(10))
	seeds, steps := uint64(0), uint64(0)
	for i := range uint64(3) {
		o := options(10)
		o.Shard = campaign.Shard{Index: i + 1, Of: 3}
		s := mustRun(t, o)
		seeds += s.Seeds
		steps += s.Steps
	}
	if seeds != whole.Seeds || steps != whole.Steps {
		t.Errorf("three parts have %d seeds and %d steps, the whole %d and %d", seeds, steps, whole.Seeds, whole.Steps)
	}
}

func TestPanicIsAnEntry(t *testing.T) {
	o := options(10)
	monitor := o.Config().Monitor
	o.Config = func() cluster.Config {
		return cluster.Config{Monitor: func(w *cluster.World) cluster.Monitor {
			f := monitor(w).(*fake)
			f.panic = f.seed == 3
			return f
		}}
	}
	s := mustRun(t, o)
	if s.Seeds != 10 || s.Passed != 10-2-1-1 || len(s.Internal) != 1 {
		t.Fatalf("%d seeds, %d passed, internal errors %v", s.Seeds, s.Passed, s.Internal)
	}
	if e := s.Internal[0]; e.Seed != 3 || e.Text != "seed 3 went wrong" || !strings.Contains(e.Stack, "campaign_test.go") {
		t.Errorf("internal error %+v", e)
	}
}

func TestDriftIsFound(t *testing.T) {
	o := options(10)
	o.Twice = 10
	if s := mustRun(t, o); len(s.Drifts) > 0 {
		t.Errorf("drifts %v in a deterministic campaign", s.Drifts)
	}
	calls := 0
	pl := o.Plan
	o.Workers = 1
	o.Plan = func(seed uint64) (*plan.Plan, error) {
		p, err := pl(seed)
		if calls++; calls%2 == 0 && seed == 4 {
			p.Instances[0].StartAt += time.Second
		}
		return p, err
	}
	s := mustRun(t, o)
	if len(s.Drifts) != 1 || s.Drifts[0].Seed != 4 || s.Drifts[0].First == s.Drifts[0].Second {
		t.Errorf("drifts %v, want one of seed 4", s.Drifts)
	}
}

func TestViolationsAreBounded(t *testing.T) {
	o := options(40)
	o.MaxViolations = 1
	s := mustRun(t, o) // the first of each property is kept
	if len(s.Violations) != 2 || s.Omitted != 19 || s.Properties[0].Violations != 16 {
		t.Errorf("%d violations kept, %d omitted, first property %+v", len(s.Violations), s.Omitted, s.Properties[0])
	}
}

func TestFirstSeedWithoutPlanIsTheError(t *testing.T) {
	bad := errors.New("no such plan")
	o := options(30)
	pl := o.Plan
	o.Plan = func(seed uint64) (*plan.Plan, error) {
		if seed >= 6 {
			return nil, bad
		}
		return pl(seed)
	}
	for _, workers := range []int{1, 4} {
		o.Workers = workers
		_, err := campaign.Run(o)
		var p *campaign.PlanError
		if !errors.As(err, &p) || p.Seed != 6 || !errors.Is(err, bad) {
			t.Errorf("%d workers: %v, want a PlanError of seed 6", workers, err)
		}
	}
}

func TestProgressCountsUp(t *testing.T) {
	o := options(12)
	var got []uint64
	var failed uint64
	o.OnProgress = func(p campaign.Progress) {
		if p.Total != 12 {
			t.Errorf("total %d", p.Total)
		}
		got, failed = append(got, p.Done), p.Failed
	}
	if sum := mustRun(t, o); failed != sum.Seeds-sum.Passed {
		t.Errorf("%d failed at the end, and %d of %d passed", failed, sum.Passed, sum.Seeds)
	}
	for i, done := range got {
		if done != uint64(i+1) {
			t.Fatalf("progress %v", got)
		}
	}
	if len(got) != 12 {
		t.Errorf("progress %v", got)
	}
}

// TestMerge checks that merging the results of all shards in seed order gives the same summary as the whole campaign.
func TestMerge(t *testing.T) {
	want := mustRun(t, options(12))
	var results []campaign.SeedResult
	for part := range uint64(3) {
		o := options(12)
		o.KeepGoing = true
		o.Shard = campaign.Shard{Index: part + 1, Of: 3}
		o.OnResult = func(r campaign.SeedResult) { results = append(results, r) }
		mustRun(t, o)
	}
	slices.SortFunc(results, func(a, b campaign.SeedResult) int { return int(a.Seed) - int(b.Seed) })
	if diff := cmp.Diff(want, campaign.Merge(results, nil), cmpopts.IgnoreUnexported(campaign.PropertyCount{})); diff != "" {
		t.Error(diff)
	}
}

func TestUntil(t *testing.T) {
	o := options(12)
	o.KeepGoing, o.Workers = true, 3
	want := mustRun(t, options(4)).Violations
	o.Until = func(r *cluster.Result) bool { return r.Seed == o.First+3 }
	if sum := mustRun(t, o); sum.Seeds != 4 || sum.Total != 12 || len(sum.Violations) < len(want) {
		t.Errorf("%d of %d seeds with %d violations, want the first 4 with at least %d", sum.Seeds, sum.Total, len(sum.Violations), len(want))
	}
}

// TestInterrupted checks that the results merged before an interrupt equal a campaign with as many seeds.
func TestInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	o := options(12)
	o.Context = ctx
	o.OnProgress = func(p campaign.Progress) {
		if p.Done == 5 {
			interrupt()
		}
	}
	got := mustRun(t, o)
	if want := mustRun(t, options(5)); !got.Interrupted || got.Seeds != 5 || got.Total != 12 || got.Digest != want.Digest {
		t.Errorf("interrupted %v after %d of %d seeds with digest %v; want 5 of 12 with %v", got.Interrupted, got.Seeds, got.Total, got.Digest, want.Digest)
	}
}

func TestSenselessOptionsAreRefused(t *testing.T) {
	for want, change := range map[string]func(o *campaign.Options){
		"Plan is not set":       func(o *campaign.Options) { o.Plan = nil },
		"Count is 0":            func(o *campaign.Options) { o.Count = 0 },
		"exceed the largest":    func(o *campaign.Options) { o.First = 1<<64 - 1 },
		"-1 workers":            func(o *campaign.Options) { o.Workers = -1 },
		"shard 3/2":             func(o *campaign.Options) { o.Shard = campaign.Shard{Index: 3, Of: 2} },
		"at most -1 violations": func(o *campaign.Options) { o.MaxViolations = -1 },
	} {
		o := options(2)
		change(&o)
		if _, err := campaign.Run(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want an error with %q", err, want)
		}
	}
}
