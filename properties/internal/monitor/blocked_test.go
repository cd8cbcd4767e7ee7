package monitor_test

import (
	"testing"

	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/sim/plan"
)

// Dead letters are for pinned work: what any node may take can wait for one.
func TestUnpinnedWaits(t *testing.T) {
	r := New(t, plan.Plan{Strategy: plan.StrategyDeadletter}, monitor.Options{Properties: []string{"L13"}})
	if found := r.Tell("0 seed x none\n0 send x\n100 phase recovery\n20000 tick\n90000 tick\n90000 finish"); found != nil {
		t.Errorf("found %q", found)
	}
}

// The child of a parent that no node admits may go on forever, so it has no obligation, but the run waits for it for a
// while.
func TestChildOfStrandedParent(t *testing.T) {
	r := New(t, plan.Plan{}, monitor.Options{Properties: []string{"L02"}})
	r.Tell("0 up A 1.5.0\n0 seed parent 2.0.0\n0 seed child 1.5.0")
	r.Observe(observe.Observation{Kind: observe.ParentSet, Instance: r.Instance("child"), Name: "parent"})
	r.Tell("100 phase recovery")
	if open, _ := r.M.Open(rig.StartMs + 200); !open {
		t.Error("recovery ends at once, and the child with it")
	}
	if open, _ := r.M.Open(rig.StartMs + 90_000); open {
		t.Error("recovery does not end")
	}
	if found := r.Tell("90000 tick\n90000 finish"); found != nil {
		t.Errorf("found %q", found)
	}
}

// Before recovery begins, the run goes on: nothing is overdue, and nothing will be.
func TestOpenBeforeRecovery(t *testing.T) {
	r := New(t, plan.Plan{}, monitor.Options{Properties: []string{"L02"}})
	r.Tell("0 up A 1.5.0")
	if open, until := r.M.Open(rig.StartMs + 200); !open || until != model.NeverMs {
		t.Errorf("open %t until %d, want true until %d", open, until, int64(model.NeverMs))
	}
}
