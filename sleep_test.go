package durosim_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/sim/cluster"
)

// TestActivitiesSleep checks that an activity's sleep takes virtual time in a campaign, also beyond the timeout of its lock
// and through crashes and upgrades, and that no property objects, for however long it runs and however short its lock is.
func TestActivitiesSleep(t *testing.T) {
	charge := func(ctx node.ActivityContext, input string) (string, error) {
		d, err := time.ParseDuration(input)
		ctx.Sleep(d)
		return "charged", err
	}
	order := func(ctx *orch.Context, input string) (string, error) {
		paid, late := ctx.ScheduleActivity("Charge", input), ctx.ScheduleTimer(5*time.Minute)
		if winner, receipt, err := orch.Select(paid, late); winner == 0 {
			return receipt, err
		}
		return "late", nil
	}
	wait := func(ctx *orch.Context, input string) (string, error) {
		return ctx.ScheduleActivity("Charge", input).Await()
	}
	r := runTest(durosim.Config{
		Scenario: "nodes A B run 1.5.0\n  option worker_lock_timeout 3s\nfaults light\n" +
			"instance wait runs Wait with 20m\n" +
			"instance long runs Order with 10m\ninstance longer runs Order with 1h\ninstance short runs Order with 40s\ninstance none runs Order with 0s\n" +
			"at 1s..2m upgrade A to 2.0.0\nafter 1s..1m upgrade B to 2.0.0\n",
		Seeds: 40,
		EachRun: func() durosim.Run {
			return durosim.Run{
				Handlers: func(r *node.Registry, _ *engine.Build) error {
					return errors.Join(r.Register("Order", engine.V(1, 0, 0), order), r.Register("Wait", engine.V(1, 0, 0), wait), r.RegisterActivity("Charge", charge))
				},
				Invariants: []durosim.Invariant{{Name: "in-time", Statement: "An order is late if its charge takes longer than five minutes.", AtEnd: func(ends []cluster.FinalState) error {
					for _, end := range ends {
						if want := map[string]string{"long": "late", "longer": "late", "short": "charged", "none": "charged", "wait": "charged"}[end.Instance]; end.Output != want {
							return fmt.Errorf("%s gives %q, want %q", end.Instance, end.Output, want)
						}
					}
					return nil
				}}},
			}
		},
	})
	if r.failed {
		t.Error(r.text)
	}
	visits := func(ctx *orch.Context, input string) (string, error) {
		var all []*orch.Future
		for i := range 30 {
			all = append(all, ctx.ScheduleActivity("Charge", input, orch.OnSession(fmt.Sprint(i))))
		}
		return "", orch.Join(all...)[0].Err
	}
	r = runTest(durosim.Config{Seeds: 2, Scenario: "nodes A B run 1.5.0\ninstance v runs Visits with 1m\n", Handlers: func(r *node.Registry, _ *engine.Build) error {
		return errors.Join(r.Register("Visits", engine.V(1, 0, 0), visits), r.RegisterActivity("Charge", charge))
	}})
	if r.failed {
		t.Error(r.text)
	}
}
