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

// printer stands in for a test's *testing.T.
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
	// plan: all 431 pieces of work ended as expected, 64 of them with help beyond the plan
	// fate of the work:
	//       245  completed
	//        84  cancelled, a cancel request
	//        12  completed [calm raised "go"]
	//         7  failed, its code panicked: panicky orchestration, at workload.panicky (orchestrations.go:291)
	//         7  never begun, no node is up
	//         6  completed [calm started A, which the plan leaves down]
	//   ... more kinds of ends as expected: 38
	// beyond the plan:
	//         1  relief started node A as build 1.6.0, in 1 seed, first in seed 1
	//         7  calm started node A, in 7 seeds, first in seed 2
	//        16  calm raised "approval", in 6 seeds, first for OrderDesk-2 in seed 3
	//        15  calm enqueued "offers", in 8 seeds, first for Picky-3 in seed 3
	//         1  calm enqueued "jobs ", in 1 seed, first for program-1 in seed 3
	//         2  calm raised "go-on", in 2 seeds, first for program-1/1.1 in seed 3
	//   ... more kinds of help: 24
	// messages that nobody took:
	//        20  the event "approval", which a client sends to Approval: no wait for it was open when it came; first Approval-1, seed 2, sent at 4ms
	//        13  the cancel, which a client sends to program-1: it came when it had ended; first program-1, seed 14, sent at 38ms
	//         9  the cancel, which a client sends to program-2: it came when it had ended; first program-2, seed 2, sent at 1ms
	//         8  the cancel, which a client sends to Cancellable: it came when it had ended; first Cancellable-2, seed 7, sent at 2.53s
	//         7  the event "go", which a client sends to program-2: no wait for it was open when it came; first program-2, seed 15, sent at 6.742s
	//         5  the event "go", which a client sends to program-1: no wait for it was open when it came; first program-1, seed 11, sent at 117ms
	//   ... more: 30
	// what grows:
	//         1  the input of program-2@1.0.0 grows with each execution; first program-2, seed 76: 0 bytes, 96 bytes, 182 bytes ... 268 bytes after 4 executions
	// waits for a build, from when no live node admitted the work:
	//         2  after upgrade A to 2.0.0-rc.1: max 1h0m8.721s, p99 1h0m8.721s; the longest is old-2 (pin 10.0.0) from 279ms, seed 92
	//         2  after upgrade A to 3.0.0: max 59m59.908s, p99 59m59.908s; the longest is Family-3/child-0 (pin 3.0.0) from 2.443s, seed 92
	//         1  after rollback A to 2.0.0-rc.1: max 50.62s, p99 50.62s; the longest is old-1 (pin 10.0.0) from 3.38s, seed 78
	//   ... more steps: 26
}

// Run your own handlers under generated plans: Work lists what the plans may run.
func ExampleSpace() {
	t := printer{}
	space := gen.Space{Work: []plan.Instance{{ID: "refund", Orchestration: "Refund", Input: "30 euros"}}}
	durosim.Test(t, durosim.Config{Plan: gen.PlanFrom(space.Plan()), Seeds: 100, Handlers: register})
	// Output:
	// durosim: 100 seeds of Config.Plan from 1 on: every property holds; 10 of the seeds, those that 10 divides, had a second judge of the store
	// plan: all 380 pieces of work ended as expected, 33 of them with help beyond the plan
	// fate of the work:
	//       299  completed
	//        33  cancelled, a cancel request
	//        15  completed [calm started A, which the plan leaves down]
	//         5  completed [calm raised "go"]
	//         4  failed, failed(t20)
	//         4  never begun, no node is up
	//   ... more kinds of ends as expected: 16
	// beyond the plan:
	//        16  calm started node A, in 16 seeds, first in seed 2
	//         1  calm enqueued "job", in 1 seed, first for program-1 in seed 2
	//         8  calm started node B, in 8 seeds, first in seed 6
	//         4  calm enqueued "jobs", in 3 seeds, first for program-2/kin in seed 16
	//         1  calm raised "stop", in 1 seed, first for program-1::sub::2 in seed 26
	//        11  calm raised "go", in 7 seeds, first for program-1 in seed 29
	//   ... more kinds of help: 4
	// messages that nobody took:
	//        11  the cancel, which a client sends to program-1: it came when it had ended; first program-1, seed 21, sent at 36ms
	//         5  the cancel, which a client sends to Refund: it came when it had ended; first refund-3, seed 36, sent at 5.52s
	//         3  a message of queue "jobs", which a client sends to program-1: it came when it had ended; first program-1, seed 21, sent at 2.907s
	//         3  the cancel, which a client sends to program-2: it came when it had ended; first program-2, seed 65, sent at 1ms
	//         2  the event "g", which a client sends to program-1: no wait for it was open when it came; first program-1, seed 6, sent at 1.842s
	//         2  a message of queue "job", which a client sends to program-1: no code dequeued it; first program-1, seed 10, sent at 242ms
	//   ... more: 13
	// waits for a build, from when no live node admitted the work:
	//         2  after narrow D to >=0.0.0, <=1.5.0: max 19.543s, p99 19.543s; the longest is refund-1 (pin 2.0.0) from 828ms, seed 50
	//         1  after crash D: max 8.725s, p99 8.725s; the longest is program-1 (pin 0.8.0) from 31.298s, seed 91
	//         1  after crash B: max 84ms, p99 84ms; the longest is program-2 (pin 3.0.0) from 40.386s, seed 97
	//   ... more steps: 2
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
	// plan: all 167 pieces of work ended as expected, 7 of them with help beyond the plan
	// fate of the work:
	//       139  completed
	//        16  cancelled, a cancel request
	//         6  completed [calm started A, which the plan leaves down]
	//         5  never begun, no node is up
	//         1  completed [relief gave node A the range of its build, which replayed >=0.0.0, <=1.5.0, since no live node took it]
	// beyond the plan:
	//         7  calm started node A, in 7 seeds, first in seed 2
	//         1  calm started node B, in 1 seed, first in seed 6
	//         1  relief gave the range of its build to node A, which replayed >=0.0.0, <=1.5.0, in 1 seed, first in seed 27
	//         1  calm started node C, in 1 seed, first in seed 49
	// messages that nobody took:
	//         2  the cancel, which a client sends to Refund: it came when it had ended; first refund-6, seed 26, sent at 14.101s
	//         1  the cancel, which a client sends to Refund: it has not been delivered; first refund-1, seed 41, sent at 4.835s
	// waits for a build, from when no live node admitted the work:
	//         1  after upgrade A to 4.0.0: max 21.212s, p99 21.212s; the longest is refund-4 (pin 4.0.0) from 20.157s, seed 27
	//         1  after rollback C to 4.0.0: max 251ms, p99 251ms; the longest is refund-2 (pin 4.1.0) from 377ms, seed 28
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
	t := &firstLine{}
	durosim.Test(t, durosim.Config{Plan: gen.PlanFrom(space.Plan()), Seeds: 1, Handlers: handlers})
	fmt.Println(t.text)
	// Output:
	// durosim: seed 1 of Config.Plan gave two different runs
}

// firstLine records the first line that a test logs.
type firstLine struct {
	printer
	text string
}

func (l *firstLine) Fatalf(format string, args ...any) {
	l.text, _, _ = strings.Cut(fmt.Sprintf(format, args...), "\n")
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
