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
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/workload"
)

// collector keeps every event that the store appended, by instance name.
type collector struct {
	w       *cluster.World
	history map[string][]string
}

func (c *collector) Observe(o *observe.Observation) {
	if o.Kind == observe.EventAppended && o.Call != 0 {
		name := c.w.Store().InstanceName(o.Instance)
		c.history[name] = append(c.history[name], fmt.Sprintf("%d/%d %s", o.Execution, o.EventID, o.Bytes))
	}
}
func (c *collector) Record(*cluster.Record)          {}
func (c *collector) AfterStep()                      {}
func (c *collector) Open(nowMs int64) (bool, int64)  { return nowMs < c.w.StartMs()+200_000, nowMs + 1 }
func (c *collector) Finish()                         {}
func (c *collector) Violations() []cluster.Violation { return nil }
func (c *collector) Coverage() []cluster.Point       { return nil }
func (c *collector) monitor(w *cluster.World) cluster.Monitor {
	c.w, c.history = w, map[string][]string{}
	return c
}

// histories runs a plan and returns the stored events of each instance.
func histories(t *testing.T, cfg cluster.Config) map[string][]string {
	t.Helper()
	c := &collector{}
	cfg.Monitor = c.monitor
	if _, err := cluster.Run(cfg); err != nil {
		t.Fatal(err)
	}
	return c.history
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
	want := histories(t, cluster.Config{Plan: plan, Seed: 3})
	got := histories(t, cluster.Config{Plan: plan, Seed: 3, Chooser: nosy{sim.Random(3)}})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a draw that nobody looks at has changed histories (-without +with):\n%s", diff)
	}
}

// A run that nobody is told of does not make its records about calls, but traces them.
func TestBeingToldMovesNothing(t *testing.T) {
	plan := upgradePlan(16, faults.Light())
	var digests []sim.Digest
	for _, narrator := range []func(cluster.Line){nil, func(cluster.Line) {}} {
		r, err := cluster.Run(cluster.Config{Plan: plan, Seed: 3, Narrator: narrator})
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, r.Digest)
	}
	if digests[0] != digests[1] {
		t.Errorf("digest %v, and %v with a narrator", digests[0], digests[1])
	}
}

func TestAnInstanceThatNobodyAdmitsMovesNothing(t *testing.T) {
	pin := engine.V(9, 9, 9)
	for seed := range uint64(10) {
		p := upgradePlan(16, faults.Light())
		want := histories(t, cluster.Config{Plan: p, Seed: seed})
		stranger := *p
		stranger.Histories = []plan.History{{Instance: "stranger", Pin: &pin, Shape: plan.ShapeWaiting, KickAt: 5 * time.Second}}
		got := histories(t, cluster.Config{Plan: &stranger, Seed: seed})
		for name := range want {
			if diff := cmp.Diff(want[name], got[name]); diff != "" {
				t.Errorf("seed %d: the history of %s has changed (-without +with):\n%s", seed, name, diff)
			}
		}
	}
}

func TestSameSeedSameTrace(t *testing.T) {
	for seed := range uint64(10) {
		cfg := cluster.Config{Plan: upgradePlan(16, faults.Full()), Seed: seed, KeepTrace: true}
		a, err := cluster.Run(cfg)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Narrator = func(cluster.Line) {} // only renders names
		b, err := cluster.Run(cfg)
		if err != nil {
			t.Fatal(err)
		}
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
		r, err := cluster.Run(cluster.Config{Plan: p, Seed: 1, Handlers: planted})
		if err != nil {
			t.Fatal(err)
		}
		digests[r.Digest] = true
	}
	if len(digests) == 1 {
		t.Error("20 runs with a planted map iteration have one digest: the digest does not see what it is for")
	}
}
