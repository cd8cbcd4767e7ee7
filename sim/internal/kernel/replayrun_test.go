package kernel_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/internal/kernel"
)

// A whole run, recorded and replayed, gives the same trace.
func TestReplayOfARun(t *testing.T) {
	run := func(c sim.Chooser) sim.Digest {
		k := mustKernel[uint64](t, kernel.Options{Chooser: c, StepBudget: 500})
		trace := kernel.NewTrace()
		root := sim.RootKey(true)
		for i := range uint64(10) {
			k.After(0, root.Num(labelNode, i), i)
		}
		for e, ok := k.Next(); ok; e, ok = k.Next() {
			k.Step()
			trace.Begin(k.Now(), 1)
			trace.Uint(e)
			trace.End()
			key := root.Num(labelNode, e).Num(labelCall, k.Steps())
			d := time.Duration(c.Choose(key.At(labelTimer), 3)) * time.Millisecond
			if !sim.Chance(c, key, 1, 100) {
				k.After(d, key, e)
			}
		}
		return trace.Digest()
	}
	rec := &sim.Recording{}
	want := run(sim.Record(sim.Random(77), rec))
	again := &sim.Recording{}
	if got := run(sim.Record(sim.Replay(rec), again)); got != want || !reflect.DeepEqual(again, rec) {
		t.Errorf("replay gives %v, want %v; it takes %v of %v", got, want, again, rec)
	}
	if run(sim.Random(78)) == want {
		t.Error("another seed gives the same run")
	}
}
