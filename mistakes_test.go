package durosim_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/sample"
)

// release is what a version of an application ships. A mistake changes part of the second release.
type release struct {
	order    orch.Handler
	versions []engine.Version
	parcel   orch.Handler // nil if the handler is not registered
	label    bool         // whether the activity Label is registered
}

// fulfil processes an order: it reserves goods, waits for the payment, sends a parcel, and confirms the order.
func fulfil(ctx *orch.Context, input string) (string, error) {
	ctx.SetCustomStatus("begun")
	if _, err := ctx.ScheduleActivity("Reserve", input).Await(); err != nil {
		return "", err
	}
	if _, err := ctx.ScheduleActivity("Label", input).Await(); err != nil {
		return "", err
	}
	if _, err := ctx.ScheduleWait("payment").Await(); err != nil {
		return "", err
	}
	return ctx.ScheduleSubOrchestration("Parcel", input).Await()
}

func parcel(ctx *orch.Context, input string) (string, error) {
	if _, err := ctx.ScheduleTimer(time.Second).Await(); err != nil {
		return "", err
	}
	return ctx.ScheduleActivity("Send", input).Await()
}

// mistakes lists typical mistakes in releases.
var mistakes = []struct {
	name   string
	change func(r *release)
	// property is the first property violated, within this number of seeds.
	property string
}{
	{"removed activity", func(r *release) { r.label = false }, "outcome"},
	{"removed version", func(r *release) { r.versions = r.versions[1:] }, "outcome"},
	{"removed child", func(r *release) { r.parcel = nil }, "outcome"},
	{"renamed event", func(r *release) {
		r.order = steps("status", "Reserve", "Label", "wait paid", "child Parcel")
	}, "S11"},
	{"changed input", func(r *release) {
		r.order = steps("status", "Reserve with priority", "Label", "wait payment", "child Parcel")
	}, "S11"},
	{"swapped calls", func(r *release) {
		r.order = steps("status", "Label", "Reserve", "wait payment", "child Parcel")
	}, "S11"},
	{"forgotten await", func(r *release) {
		r.order = steps("status", "Reserve", "Label, not awaited", "wait payment", "child Parcel")
	}, "S11"},
	{"removed status", func(r *release) {
		r.order = steps("Reserve", "Label", "wait payment", "child Parcel")
	}, "S11"},
	{"panic", func(r *release) {
		r.order = func(ctx *orch.Context, input string) (string, error) {
			panic("there is no price of " + input)
		}
	}, "handler-panics"},
	{"time.Now", func(r *release) {
		r.order = func(ctx *orch.Context, input string) (string, error) {
			if _, err := ctx.ScheduleActivity("Reserve", input+time.Now().String()).Await(); err != nil {
				return "", err
			}
			return fulfil(ctx, input)
		}
	}, "gave two different runs"},
	{"unbounded loop", func(r *release) {
		r.order = func(ctx *orch.Context, input string) (string, error) {
			for {
				if _, err := ctx.ScheduleActivity("Reserve", input).Await(); err != nil {
					return "", err
				}
			}
		}
	}, "run-ends"},
}

// steps returns an orchestration that performs the named steps one after another.
func steps(what ...string) orch.Handler {
	return func(ctx *orch.Context, input string) (last string, err error) {
		for _, step := range what {
			switch name, rest, _ := strings.Cut(step, " "); {
			case name == "status":
				ctx.SetCustomStatus("begun")
			case name == "wait":
				last, err = ctx.ScheduleWait(rest).Await()
			case name == "child":
				last, err = ctx.ScheduleSubOrchestration(rest, input).Await()
			case strings.HasSuffix(name, ","):
				ctx.ScheduleActivity(strings.TrimSuffix(name, ","), input)
			default:
				last, err = ctx.ScheduleActivity(name, input+rest).Await()
			}
			if err != nil {
				return "", err
			}
		}
		return last, nil
	}
}

// upgradeOfOrders is the scenario for every mistake: orders are in progress while two nodes are upgraded.
const upgradeOfOrders = `# Orders are paid and sent while the cluster is upgraded.
nodes A B run 1.5.0
faults light

load 5 instances over 8s
  mix 1 Order with 1..9
    raise payment data yes after 1s..6s

at 2s..6s upgrade A to 2.0.0
after 1s..3s upgrade B to 2.0.0
`

// ship registers a release on nodes of 1.5.0, and the release with the mistake on nodes of 2.0.0.
func ship(mistake func(r *release)) func(r *node.Registry, b *engine.Build) error {
	return func(r *node.Registry, b *engine.Build) error {
		v := release{order: fulfil, versions: []engine.Version{engine.V(1, 0, 0)}, parcel: parcel, label: true}
		if b.Version.Compare(engine.V(2, 0, 0)) >= 0 {
			v.versions = append(v.versions, engine.V(2, 0, 0))
			if mistake != nil {
				mistake(&v)
			}
		}
		same := func(_ node.ActivityContext, input string) (string, error) { return input, nil }
		errs := []error{r.RegisterActivity("Reserve", same), r.RegisterActivity("Send", same)}
		for _, version := range v.versions {
			errs = append(errs, r.Register("Order", version, v.order))
		}
		if v.parcel != nil {
			errs = append(errs, r.Register("Parcel", engine.V(1, 0, 0), v.parcel))
		}
		if v.label {
			errs = append(errs, r.RegisterActivity("Label", same))
		}
		return errors.Join(errs...)
	}
}

// found matches the first line of a failure.
var found = regexp.MustCompile(`^durosim: seed (\d+) of scenario (?:violates (\S+)|(gave two different runs))`)

// TestMistakesInAnUpgrade checks that each of eleven typical mistakes in a release is found within a few seeds, and that
// its failure is shrunk.
func TestMistakesInAnUpgrade(t *testing.T) {
	if r := runTest(durosim.Config{Scenario: upgradeOfOrders, Seeds: sample.Number(5, 20), Handlers: ship(nil)}); r.failed {
		t.Fatalf("without a mistake: %s", r.text)
	}
	for _, c := range sample.Of(mistakes, 4) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := durosim.Config{Scenario: upgradeOfOrders, Seeds: 20, Handlers: ship(c.change)}
			if c.property == "run-ends" {
				cfg.Overrides.Instances, cfg.ShrinkRuns = 2, 8 // a run takes thousands of turns
				cfg.First = 4                                  // an order begins with the release, and none that is older fails before
			}
			r := runTest(cfg)
			m := found.FindStringSubmatch(r.text)
			if m == nil {
				t.Fatalf("not found: %s", r.text)
			}
			if m[2]+m[3] != c.property {
				t.Errorf("seed %s shows %s%s, expected %s", m[1], m[2], m[3], c.property)
			}
			if c.name == "removed child" && !strings.Contains(r.text, "must keep that handler") {
				t.Errorf("the evidence does not say what the child needs: %s", r.text)
			}
			small, _, _ := strings.Cut(r.text, "The smallest plan as a stored run")
			t.Log(small)
		})
	}
}
