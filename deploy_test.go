package durosim_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
)

// ordering returns an Order that asks for these activities, with three minutes before each.
func ordering(activities ...string) orch.Handler {
	return func(ctx *orch.Context, item string) (string, error) {
		for _, name := range activities {
			if _, err := ctx.ScheduleTimer(3 * time.Minute).Await(); err != nil {
				return "", err
			}
			if _, err := ctx.ScheduleActivity(name, item).Await(); err != nil {
				return "", err
			}
		}
		return item, nil
	}
}

// ships returns an application that registers these versions of Order. Orders start as the version start, or as the
// latest if it is zero.
func ships(version string, start engine.Version, orders map[engine.Version]orch.Handler) durosim.Application {
	return durosim.Application{Version: version, Register: func(r *node.Registry) error {
		var all error
		for _, v := range []engine.Version{engine.V(1, 0, 0), engine.V(2, 0, 0)} {
			if code := orders[v]; code != nil {
				all = errors.Join(all, r.Register("Order", v, code))
			}
		}
		if start != (engine.Version{}) {
			all = errors.Join(all, r.SetPolicy("Order", node.Exact(start)))
		}
		for _, name := range []string{"Charge", "Ship"} {
			all = errors.Join(all, r.RegisterActivity(name, func(_ node.ActivityContext, item string) (string, error) { return item, nil }))
		}
		return all
	}}
}

// A new version of an orchestration is deployed in three steps: register it everywhere, start it, remove the old one.
// Each step that is left out loses work.
func TestDeployment(t *testing.T) {
	v1, v2 := engine.V(1, 0, 0), engine.V(2, 0, 0)
	old, mended := ordering("Ship"), ordering("Charge", "Ship")
	both := map[engine.Version]orch.Handler{v1: old, v2: mended}
	applications := []durosim.Application{
		ships("1.0.0", v1, map[engine.Version]orch.Handler{v1: old}),
		ships("1.1.0", v1, both),                                                      // registers 2.0.0, and starts 1.0.0
		ships("1.2.0", engine.Version{}, both),                                        // starts 2.0.0
		ships("1.3.0", engine.Version{}, map[engine.Version]orch.Handler{v2: mended}), // no longer has 1.0.0
		ships("1.9.0", v1, map[engine.Version]orch.Handler{v1: mended}),               // the new code under the old version
	}
	for _, c := range []struct{ name, steps, want string }{
		{"all steps", "1.1.0 1.2.0 wait 1.3.0", ""},
		{"under the old version", "1.9.0", "violates S11"},
		{"not registered everywhere first", "1.2.0", "handler missing: Order@2.0.0"},
		{"removed before the old ones have ended", "1.1.0 1.2.0 1.3.0", "handler missing: Order@1.0.0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			scenario := "# Orders take minutes, and so does each step of a deployment, after a canary on A.\nnodes A B run 0.1.32+1.0.0\nfaults light\nload 30 instances over 40m\n  mix 1 Order with 1..99\n"
			for i, step := range strings.Fields(c.steps) {
				if step == "wait" {
					scenario += "after 1h mark ended\n"
					continue
				}
				at := "after 1m"
				if i == 0 {
					at = "at 5m"
				}
				scenario += fmt.Sprintf("%s upgrade A to 0.1.32+%s\nafter 10m upgrade B to 0.1.32+%s\n", at, step, step)
			}
			r := runTest(durosim.Config{Scenario: scenario, Seeds: 10, Applications: applications, ShrinkRuns: 1})
			if r.failed != (c.want != "") || !strings.Contains(r.text, c.want) {
				t.Errorf("want %q:\n%s", c.want, r.text)
			}
		})
	}
}
