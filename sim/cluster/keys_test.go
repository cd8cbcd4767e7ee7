package cluster_test

import (
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
)

func builtin(t *testing.T, seed uint64) []*plan.Plan {
	t.Helper()
	full := faults.Full()
	var plans []*plan.Plan
	for _, named := range sample.Of(scenario.Builtin(), 4) {
		s := sample.Must(scenario.Lookup(named.Name))(t)
		plan := sample.Must(s.Expand(seed, scenario.Overrides{Faults: &full}))(t)
		plans = append(plans, plan)
	}
	return plans
}

// seeds are the seeds with which the tests run each built-in plan.
func seeds(all ...uint64) []uint64 { return sample.Of(all, len(all)) }

// reused is a chooser that notes the keys of choices with which it has been asked before.
type reused struct {
	sim.Chooser
	asked map[uint64]bool
	keys  []sim.Key
}

func (r *reused) note(k sim.Key) {
	if r.asked[k.Hash()] {
		r.keys = append(r.keys, k)
	}
	r.asked[k.Hash()] = true
}

func (r *reused) Choose(k sim.Key, n uint64) uint64 {
	r.note(k)
	return r.Chooser.Choose(k, n)
}

func (r *reused) Weigh(k sim.Key, odds sim.Odds) uint64 {
	r.note(k)
	return r.Chooser.Weigh(k, odds)
}

// TestEachDrawHasItsKey checks that keys are unique: two draws with one key would not be independent, and only the first
// could be replayed.
func TestEachDrawHasItsKey(t *testing.T) {
	for _, seed := range seeds(0, 1, 2, 3, 4) {
		for _, plan := range append(builtin(t, seed), stormy()) {
			chooser := &reused{Chooser: sim.Random(seed), asked: map[uint64]bool{}}
			sample.Must(cluster.Run(cluster.Config{Plan: plan, Seed: seed, Chooser: chooser, Narrator: func(cluster.Line) {}}))(t)
			if len(chooser.keys) > 0 {
				t.Errorf("%s, seed %d: %d draws have the key of another, the first is %s", plan.Name, seed, len(chooser.keys), chooser.keys[0])
			}
		}
	}
}

// TestWatchingChangesNothing checks that narration, recording and marks do not change the digest of a run.
func TestWatchingChangesNothing(t *testing.T) {
	for _, seed := range seeds(1, 0, 2) {
		for _, plan := range append(builtin(t, seed), stormy()) {
			alone := sample.Must(cluster.Run(cluster.Config{Plan: plan, Seed: seed}))(t)
			watched := sample.Must(cluster.Run(cluster.Config{
				Plan: plan, Seed: seed, KeepTrace: true, Narrator: func(cluster.Line) {}, Recording: &sim.Recording{Complete: true},
			}))(t)
			if alone.Digest != watched.Digest || alone.Steps != watched.Steps {
				t.Errorf("%s, seed %d: %s after %d steps alone, %s after %d watched", plan.Name, seed, alone.Digest, alone.Steps, watched.Digest, watched.Steps)
			}
		}
	}
}
