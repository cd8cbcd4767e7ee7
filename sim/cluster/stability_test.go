package cluster_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/workload"
)

// histories runs a plan and returns the events that the store appended, by instance name.
func histories(t *testing.T, plan *plan.Plan, seed uint64, chooser sim.Chooser) map[string][]string {
	t.Helper()
	history := map[string][]string{}
	m := &watcher{recoveryMs: 200_000, observe: func(w *cluster.World, o *observe.Observation) {
		if o.Kind == observe.EventAppended && o.Call != 0 {
			name := w.Store().InstanceName(o.Instance)
			history[name] = append(history[name], fmt.Sprintf("%d/%d %s", o.Execution, o.EventID, o.Bytes))
		}
	}}
	sample.Must(cluster.Run(cluster.Config{Plan: plan, Seed: seed, Chooser: chooser, Monitor: m.of}))(t)
	return history
}

// nosy makes an extra draw before each draw.
type nosy struct{ sim.Chooser }

var extra = sim.NewLabel("one-more-draw")

func (n nosy) Choose(k sim.Key, most uint64) uint64 {
	n.Chooser.Choose(k.At(extra), most)
	return n.Chooser.Choose(k, most)
}

func TestOneMoreDrawMovesNothing(t *testing.T) {
	plan := upgradePlan(16, faults.Light())
	want := histories(t, plan, 3, nil)
	got := histories(t, plan, 3, nosy{sim.Random(3)})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a draw that nobody looks at has changed histories (-without +with):\n%s", diff)
	}
}

func TestAnInstanceThatNobodyAdmitsMovesNothing(t *testing.T) {
	pin := engine.V(9, 9, 9)
	for seed := range uint64(10) {
		p := upgradePlan(16, faults.Light())
		want := histories(t, p, seed, nil)
		stranger := *p
		stranger.Histories = []plan.History{{Instance: "stranger", Pin: &pin, Shape: plan.ShapeWaiting, KickAt: 5 * time.Second}}
		got := histories(t, &stranger, seed, nil)
		for name := range want {
			if diff := cmp.Diff(want[name], got[name]); diff != "" {
				t.Errorf("seed %d: the history of %s has changed (-without +with):\n%s", seed, name, diff)
			}
		}
	}
}

// TestSameSeedSameTrace runs each seed twice. A run that nobody is told of does not make its records about calls, but
// traces them.
func TestSameSeedSameTrace(t *testing.T) {
	for seed := range uint64(10) {
		cfg := cluster.Config{Plan: upgradePlan(16, faults.Full()), Seed: seed, KeepTrace: true}
		a := sample.Must(cluster.Run(cfg))(t)
		cfg.Narrator = func(cluster.Line) {}
		b := sample.Must(cluster.Run(cfg))(t)
		if a.Digest != b.Digest {
			t.Errorf("seed %d: digests %s and %s, records differ from %d on", seed, a.Digest, b.Digest, sim.FirstDifference(a.Marks, b.Marks))
		}
	}
}

// TestAMapIterationIsSeen plants the mistake for which the digest exists: a handler that schedules in map order.
func TestAMapIterationIsSeen(t *testing.T) {
	planted := func(r *node.Registry, b *engine.Build) error {
		if err := workload.Handlers(r, b); err != nil {
			return err
		}
		return r.Register("Shuffled", engine.V(1, 0, 0), func(ctx *orch.Context, _ string) (string, error) {
			for name := range map[string]bool{"a": true, "b": true, "c": true, "d": true, "e": true, "f": true} {
				ctx.ScheduleActivity("Work", name)
			}
			return "", nil
		})
	}
	p := upgradePlan(4, faults.None())
	p.Instances = append(p.Instances, plan.Instance{ID: "shuffled", Orchestration: "Shuffled"})
	digests := map[sim.Digest]bool{}
	for range 20 {
		r := sample.Must(cluster.Run(cluster.Config{Plan: p, Seed: 1, Handlers: planted}))(t)
		digests[r.Digest] = true
	}
	if len(digests) == 1 {
		t.Error("20 runs with a planted map iteration have one digest: the digest does not see what it is for")
	}
}
