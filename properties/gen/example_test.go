package gen_test

import (
	"errors"
	"fmt"
	"github.com/durosim/durosim/properties/gen"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/workload"
)

// printer stands for the *testing.T of a test.
type printer struct{}

func (printer) Helper()                           {}
func (printer) Name() string                      { return "TestRefund" }
func (printer) Logf(format string, args ...any)   { fmt.Printf(format+"\n", args...) }
func (printer) Fatalf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// register gives each build an orchestration that pays money back.
func register(r *node.Registry, _ *engine.Build) error {
	payBack := func(_ node.ActivityContext, input string) (string, error) { return "paid back " + input, nil }
	refund := func(ctx *orch.Context, input string) (string, error) {
		return ctx.ScheduleActivity("PayBack", input).Await()
	}
	return errors.Join(r.Register("Refund", engine.V(1, 0, 0), refund), r.RegisterActivity("PayBack", payBack))
}

// A test of generated plans: clusters, schedules, loads and faults that nobody has thought of.
//
//	func TestEveryPlan(t *testing.T) {
//		properties.Test(t, properties.Config{Plan: gen.PlanFrom(gen.Space{}.Plan()), Seeds: 200})
//	}
func ExamplePlanFrom() {
	t := printer{}
	properties.Test(t, properties.Config{Plan: gen.PlanFrom(gen.Space{}.Plan()), Seeds: 100})
	// Output:
	// durosim: 100 seeds of Config.Plan from 1 on: every property holds
}

// A user's handlers under generated plans: the space says what there is to run.
func ExampleSpace() {
	t := printer{}
	space := gen.Space{Work: []plan.Instance{{ID: "refund", Orchestration: "Refund", Input: "30 euros"}}}
	properties.Test(t, properties.Config{Plan: gen.PlanFrom(space.Plan()), Seeds: 100, Handlers: register})
	// Output:
	// durosim: 100 seeds of Config.Plan from 1 on: every property holds
}

// The same on builds of the user's own, without generated programs.
func ExampleSpace_ownBuilds() {
	space := gen.Space{
		Builds:     ownBuilds,
		Work:       []plan.Instance{{ID: "refund", Orchestration: "Refund", Input: "30 euros"}},
		NoPrograms: true,
	}
	t := printer{}
	properties.Test(t, properties.Config{Plan: gen.PlanFrom(space.Plan()), Seeds: 50, Builds: ownBuilds, Handlers: register})
	// Output:
	// durosim: 50 seeds of Config.Plan from 1 on: every property holds
}

// ownBuilds are builds of a user: what 4.1.0 writes, 4.0.0 reads.
func ownBuilds() []*engine.Build {
	kinds := engine.ShippedBuilds()[1] // 1.5.0
	old, new := *kinds, *kinds
	old.Version, new.Version = engine.V(4, 0, 0), engine.V(4, 1, 0)
	old.DefaultRange = engine.VersionRange{Max: old.Version}
	new.DefaultRange = engine.VersionRange{Max: new.Version}
	return []*engine.Build{&old, &new}
}

// A handler that is wrong, and what is said of it: it keeps a number between its calls.
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
	t := &firstLine{}
	properties.Test(t, properties.Config{Plan: gen.PlanFrom(space.Plan()), Seeds: 1, Handlers: handlers})
	fmt.Println(t.text)
	// Output:
	// durosim: seed 1 of Config.Plan gave two different runs
}

// firstLine keeps the first line of what a test says.
type firstLine struct {
	printer
	text string
}

func (l *firstLine) Fatalf(format string, args ...any) {
	l.text, _, _ = strings.Cut(fmt.Sprintf(format, args...), "\n")
}

// The generators are ordinary ones of rapid, and can be part of others: here, plans of a user's that always freeze a node.
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
