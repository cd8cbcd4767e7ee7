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
	// plan: all 426 pieces of work ended as expected
	// fate of the work:
	//       252  completed
	//        72  cancelled, a cancel request
	//        53  completed [calm raised "approval"]
	//         7  never begun, no node is up
	//         5  failed, KV key count (120) exceeds limit (100)
	//         5  failed, its code panicked: panicky orchestration
	//   ... and 23 more kinds of ends as expected
	// waits for a build, from when no live node admitted the work:
	//        19  before the first step: max 51.487s, p99 51.487s; the longest is old-1 (pin 1.1500.0) from 685ms, seed 41
	//         1  after narrow A to >=2.0.0, <=2.0.0: max 48.609s, p99 48.609s; the longest is Chain-3 (pin 1.5.0) from 3.446s, seed 44
	//         1  after pause C for 1s: max 41.748s, p99 41.748s; the longest is old-1 (pin 10.0.0) from 294ms, seed 81
	//   ... and 22 more steps
}

// A user's handlers under generated plans: the space says what there is to run.
func ExampleSpace() {
	t := printer{}
	space := gen.Space{Work: []plan.Instance{{ID: "refund", Orchestration: "Refund", Input: "30 euros"}}}
	properties.Test(t, properties.Config{Plan: gen.PlanFrom(space.Plan()), Seeds: 100, Handlers: register})
	// Output:
	// durosim: 100 seeds of Config.Plan from 1 on: every property holds
	// plan: all 380 pieces of work ended as expected
	// fate of the work:
	//       317  completed
	//        31  cancelled, a cancel request
	//        12  completed [calm sent "job"]
	//         6  never begun, no node is up
	//         2  failed, instance already exists: program-1/kin
	//         1  failed, Activity 'program.call' tag size (257 bytes) exceeds limit (256 bytes)
	//   ... and 11 more kinds of ends as expected
	// waits for a build, from when no live node admitted the work:
	//         2  after narrow D to >=0.0.0, <=1.5.0: max 19.543s, p99 19.543s; the longest is refund-1 (pin 2.0.0) from 828ms, seed 50
	//         1  after crash A: max 10.154s, p99 10.154s; the longest is refund-3 (pin 0.8.0) from 30.22s, seed 63
	//         2  after add B: max 7.591s, p99 7.591s; the longest is refund-2 (pin 0.8.0) from 269ms, seed 63
	//   ... and 6 more steps
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
	// plan: all 167 pieces of work ended as expected
	// fate of the work:
	//       145  completed
	//        16  cancelled, a cancel request
	//         5  never begun, no node is up
	//         1  completed [relief widened the core, since no live node took it]
	// waits for a build, from when no live node admitted the work:
	//         1  after upgrade A to 4.0.0: max 21.212s, p99 21.212s; the longest is refund-4 (pin 4.0.0) from 20.157s, seed 27
	//         1  after narrow D to >=0.0.0, <=1.5.0: max 3.957s, p99 3.957s; the longest is refund-1 (pin 4.0.0) from 905ms, seed 50
	//         1  after rollback C to 4.0.0: max 251ms, p99 251ms; the longest is refund-2 (pin 4.1.0) from 377ms, seed 28
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
