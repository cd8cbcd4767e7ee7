package selfcheck_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/dev/selfcheck"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// calls has code that calls each method that leaves an event, with and without waiting for a result, or ends.
var calls = []func(ctx *orch.Context){
	func(ctx *orch.Context) { ctx.ScheduleActivity("Work", "in") },
	func(ctx *orch.Context) { ctx.ScheduleActivity("Work", "", orch.OnSession("s")) },
	func(ctx *orch.Context) { ctx.ScheduleTimer(time.Minute) },
	func(ctx *orch.Context) { ctx.ScheduleWait("\"quoted\" vs event=\xff") },
	func(ctx *orch.Context) { ctx.ScheduleWait2("go", "topic") },
	func(ctx *orch.Context) { ctx.DequeueEvent("go") },
	func(ctx *orch.Context) { ctx.ScheduleSubOrchestration("Kin", "in") },
	func(ctx *orch.Context) { ctx.ScheduleSubOrchestrationWithID("Kin", ctx.InstanceID()+"-child", "in") },
	func(ctx *orch.Context) { ctx.StartOrchestration("Kin", ctx.InstanceID()+"-other", "in") },
	func(ctx *orch.Context) { ctx.ContinueAsNew("//") },
	func(ctx *orch.Context) { ctx.SetCustomStatus("status") },
	func(ctx *orch.Context) { ctx.ResetCustomStatus() },
	func(ctx *orch.Context) { ctx.SetKVValue("k", "v") },
	func(ctx *orch.Context) { ctx.ClearKVValue("k") },
	func(ctx *orch.Context) { ctx.ClearAllKVValues() },
	func(ctx *orch.Context) { panic("no") },
	func(ctx *orch.Context) { ctx.ScheduleWait("go").Drop() },
	func(ctx *orch.Context) { ctx.DequeueEvent("go").Drop() },
	func(ctx *orch.Context) { ctx.ScheduleSubOrchestration("Kin", "in").Drop() },
	func(ctx *orch.Context) {
		_, _, _ = orch.Select(ctx.ScheduleActivity("Work", "1"), ctx.ScheduleActivity("Work", "2"))
	},
	func(ctx *orch.Context) { _, _ = ctx.ScheduleActivity("Work", "in").Await() },
	func(ctx *orch.Context) { _, _ = ctx.ScheduleTimer(4 * time.Second).Await() },
	func(ctx *orch.Context) { _, _ = ctx.ScheduleSubOrchestration("Kin", "in").Await() },
	func(ctx *orch.Context) { _, _ = ctx.ScheduleWait("go").Await() },
}

// changed registers code whose input says which calls it makes: on builds before 2.0.0, from then on, and in a second
// coroutine.
func changed(r *node.Registry, b *engine.Build) error {
	run := func(ctx *orch.Context, steps string) {
		for _, step := range strings.Fields(steps) {
			n, _ := strconv.Atoi(step)
			calls[n](ctx)
		}
	}
	code := func(ctx *orch.Context, input string) (string, error) {
		parts := strings.Split(input, "/")
		ctx.Go(func(ctx *orch.Context) (string, error) { run(ctx, parts[2]); return "", nil })
		run(ctx, parts[min(1, int(b.Version.Major)/2)])
		return "", nil
	}
	work := func(_ node.ActivityContext, input string) (string, error) { return input, nil }
	kin := func(*orch.Context, string) (string, error) { return "", nil }
	return errors.Join(r.Register("Changed", engine.V(1, 0, 0), code), r.Register("Kin", engine.V(1, 0, 0), kin), r.RegisterActivity("Work", work))
}

// TestChangedCodeIsToBlame changes random code in one place while it runs. Histories then disagree with their code, which
// is S11, and work fails; the engine and the nodes keep to their rules.
func TestChangedCodeIsToBlame(t *testing.T) {
	disagree := 0
	for seed := range sample.Number(60, 600) {
		n := rand.New(rand.NewPCG(seed, 0)).IntN
		steps := func(most int) (list []string) {
			for range n(most + 1) {
				list = append(list, strconv.Itoa(n(len(calls))))
			}
			return list
		}
		text := "nodes A B run 1.5.0\nfaults light\nat 2s..6s upgrade A to 2.0.0\nafter 1s..3s upgrade B to 2.0.0\nexpect panics\n"
		for i := range 30 {
			was := append(steps(4), "20")
			at := n(len(was))
			is := append(append(append([]string{}, was[:at]...), steps(1)...), was[at+n(2):]...)
			text += fmt.Sprintf("instance c-%d runs Changed with \"%s/%s/%s\" at 0s..8s expect any\n  raise go data yes after 1s..6s\n",
				i, strings.Join(was, " "), strings.Join(is, " "), strings.Join(steps(3), " "))
		}
		s, err := scenario.Parse("changed", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := s.Expand(seed, scenario.Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		cfg := cluster.Config{Plan: plan, Seed: seed}
		durosim.Run{Monitor: selfcheck.Watch}.Configure(&cfg, properties.Options{})
		cfg.Handlers = changed
		result, err := cluster.Run(cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range result.Violations {
			if v.Property == "S11" {
				disagree++
			} else if v.Property != "L02" && v.Class != cluster.ClassPlan {
				t.Errorf("seed %d: %s of %s: %s\n%s", seed, v.Property, v.Instance, v.Message, text)
			}
		}
	}
	if disagree == 0 {
		t.Error("no code disagrees with its history")
	}
}
