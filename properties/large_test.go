package properties_test

import (
	"runtime"
	"testing"

	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// TestLargeRun limits how much memory a run with many instances uses at its end for each ended instance. That includes
// the instance's history and the properties' state, but not its messages and calls (docs/performance.md#one-large-run).
func TestLargeRun(t *testing.T) {
	if !sample.All() {
		return // this takes a second
	}
	const instances, most = 4000, 15_000
	s := sample.Must(scenario.Parse("large.txt", []byte(`
nodes A B C run 1.5.0
  option orchestration_concurrency 8
  option worker_concurrency 8
faults light
load 4000 instances over 800s
  mix 2 Chain with 2..4
  mix 1 Chain with 1
at 200s upgrade A to 2.0.0
at 400s upgrade B to 2.0.0
at 600s upgrade C to 2.0.0
`)))(t)
	p := sample.Must(s.Expand(1, scenario.Overrides{}))(t)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var world *cluster.World
	r := sample.Must(cluster.Run(cluster.Config{Plan: p, Seed: 1, Monitor: func(w *cluster.World) cluster.Monitor {
		world = w
		return properties.New(w, properties.Options{})
	}}))(t)
	for _, v := range r.Violations {
		t.Errorf("%s: %s", v.Property, v.Message)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if each := (after.HeapAlloc - before.HeapAlloc) / instances; each > most {
		t.Errorf("%d bytes an instance, want %d at most", each, most)
	} else {
		t.Logf("%d bytes an instance", each)
	}
	runtime.KeepAlive(world)
	runtime.KeepAlive(r)
}
