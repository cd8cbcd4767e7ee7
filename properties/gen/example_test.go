package gen_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/properties/gen"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/workload"
)

// printer stands in for a test's *testing.T. It prints the first line of a report.
type printer struct{}

func (printer) Helper()                           {}
func (printer) Name() string                      { return "TestRefund" }
func (printer) Logf(format string, args ...any)   { first(format, args) }
func (printer) Fatalf(format string, args ...any) { first(format, args) }

func first(format string, args []any) {
	line, _, _ := strings.Cut(fmt.Sprintf(format, args...), "\n")
	fmt.Println(line)
}

// register gives each build an orchestration that pays money back.
func register(r *node.Registry, _ *engine.Build) error {
	payBack := func(_ node.ActivityContext, input string) (string, error) { return "paid back " + input, nil }
	refund := func(ctx *orch.Context, input string) (string, error) {
		return ctx.ScheduleActivity("PayBack", input).Await()
	}
	return errors.Join(r.Register("Refund", engine.V(1, 0, 0), refund), r.RegisterActivity("PayBack", payBack))
}

// This test uses generated plans, with random clusters, schedules, loads and faults:
//
//	func TestEveryPlan(t *testing.T) {
//		durosim.Test(t, durosim.Config{Plan: gen.PlanFrom(gen.Space{}.Plan()), Seeds: 200})
//	}
func ExamplePlanFrom() {
	t := printer{}
	durosim.Test(t, durosim.Config{Plan: gen.PlanFrom(gen.Space{}.Plan()), Seeds: 100})
	// Output:
	// durosim: 100 seeds of Config.Plan from 1 on: every property holds; 10 of the seeds, those that 10 divides, had a second judge of the store
}

// Run your own handlers under generated plans: Work lists what the plans may run.
func ExampleSpace() {
	t := printer{}
	space := gen.Space{Work: []plan.Instance{{ID: "refund", Orchestration: "Refund", Input: "30 euros"}}}
	durosim.Test(t, durosim.Config{Plan: gen.PlanFrom(space.Plan()), Seeds: 100, Handlers: register})
	// Output:
	// durosim: 100 seeds of Config.Plan from 1 on: every property holds; 10 of the seeds, those that 10 divides, had a second judge of the store
}

// Use your own builds, too, and leave out generated programs.
func ExampleSpace_ownBuilds() {
	space := gen.Space{
		Builds:     ownBuilds,
		Work:       []plan.Instance{{ID: "refund", Orchestration: "Refund", Input: "30 euros"}},
		NoPrograms: true,
	}
	t := printer{}
	durosim.Test(t, durosim.Config{Plan: gen.PlanFrom(space.Plan()), Seeds: 50, Builds: ownBuilds, Handlers: register})
	// Output:
	// durosim: 50 seeds of Config.Plan from 1 on: every property holds; 5 of the seeds, those that 10 divides, had a second judge of the store
}

// ownBuilds returns a user's builds: 4.0.0 reads what 4.1.0 writes.
func ownBuilds() []*engine.Build {
	kinds := engine.ShippedBuilds()[1] // 1.5.0
	old, new := *kinds, *kinds
	old.Version, new.Version = engine.V(4, 0, 0), engine.V(4, 1, 0)
	old.DefaultRange = engine.VersionRange{Max: old.Version}
	new.DefaultRange = engine.VersionRange{Max: new.Version}
	return []*engine.Build{&old, &new}
}

// A wrong handler keeps a number between its calls. The report names it.
func ExampleSpace_Plan() {
	packed := 0
	forgetful := func(ctx *orch.Context, _ string) (string, error) {
		packed++
		return ctx.ScheduleActivity("Pack", fmt.Sprint("parcel ", packed)).Await()
	}
	handlers := func(r *node.Registry, _ *engine.Build) error {
		pack := func(_ node.ActivityContext, input string) (string, error) { return input, nil }
		return errors.Join(r.Register("Pack", engine.V(1, 0, 0), forgetful), r.RegisterActivity("Pack", pack))
	}
	space := gen.Space{Work: []plan.Instance{{ID: "pack", Orchestration: "Pack"}}, NoPrograms: true}
	t := printer{}
	durosim.Test(t, durosim.Config{Plan: gen.PlanFrom(space.Plan()), Seeds: 1, Handlers: handlers})
	// Output:
	// durosim: seed 1 of Config.Plan gave two different runs
}

// The generators are ordinary rapid generators and can be combined with others, here into plans that always pause a
// node.
func ExampleSpace_Schedule() {
	nodes := []plan.Node{{Name: "A", Build: "1.5.0"}, {Name: "B", Build: "2.0.0"}}
	frozen := rapid.Custom(func(t *rapid.T) *plan.Plan {
		pause := plan.Step{Verb: plan.VerbPause, Node: "A", For: 5 * time.Second}
		return &plan.Plan{
			Nodes: nodes, Schedule: append([]plan.Step{pause}, gen.Space{}.Schedule(nodes).Draw(t, "schedule")...),
			Instances: gen.Space{NoPrograms: true}.Workload().Draw(t, "workload").Instances,
		}
	})
	plan, err := gen.PlanFrom(frozen)(1)
	fmt.Println(err, plan.Name, plan.Schedule[0].Verb, plan.Validate(workload.Known()))
	// Output:
	// <nil> generated-1 pause <nil>
}
