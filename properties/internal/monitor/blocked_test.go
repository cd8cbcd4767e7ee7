package monitor_test

import (
	"slices"
	"testing"

	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/sim/plan"
)

// Work that no node admits must end under strategies that let nothing wait. Work that any node may take can wait for a
// node.
func TestBlocked(t *testing.T) {
	const upA, end = "0 up A 1.5.0\n", "100 phase recovery\n20000 tick\n90000 tick\n90000 finish"
	for _, test := range []struct {
		name, story string
		strategy    plan.Strategy
		want        []string
	}{
		{"L13_ok_filtered_waits", upA + "0 seed x 2.0.0\n0 send x\n" + end, "", nil},
		{"L13_bad_deadletter_keeps_it", upA + "0 seed x 2.0.0\n0 send x\n" + end, plan.StrategyDeadletter, []string{"L13 x"}},
		{"L13_bad_deadletter_without_a_node", "0 seed x 2.0.0\n0 send x\n" + end, plan.StrategyDeadletter, []string{"L13 x"}},
		{"L13_ok_unpinned_without_a_node", "0 seed x none\n0 send x\n" + end, plan.StrategyDeadletter, nil},
		{"L13_bad_sweeper_keeps_it", upA + "0 seed x 2.0.0\n0 send x\n" + end, plan.StrategySweeper, []string{"L13 x"}},
		{"L13_ok_sweeper_without_a_node", "0 seed x 2.0.0\n0 send x\n" + end, plan.StrategySweeper, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := New(t, plan.Plan{Strategy: test.strategy}, monitor.Options{Properties: []string{"L13"}})
			if got := r.Tell(test.story); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q: %v", got, test.want, r.M.Violations())
			}
		})
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
