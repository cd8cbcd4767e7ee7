package cluster_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// TestEndlessExecution checks that an execution with far too many turns ends the run, and is named.
func TestEndlessExecution(t *testing.T) {
	// Loop runs as many activities as its input says, one after the other; for ever if it says nothing.
	loop := func(ctx *orch.Context, input string) (string, error) {
		left, err := strconv.Atoi(input)
		for i := 0; err != nil || i < left; i++ {
			if _, err := ctx.ScheduleActivity("Work", "").Await(); err != nil {
				return "", err
			}
		}
		return "done", nil
	}
	again := func(ctx *orch.Context, input string) (string, error) {
		left, err := strconv.Atoi(input)
		if err == nil && left == 0 {
			return "done", nil
		}
		if _, err := ctx.ScheduleTimer(time.Second).Await(); err != nil {
			return "", err
		}
		if err == nil {
			input = strconv.Itoa(left - 1)
		}
		ctx.ContinueAsNew(input)
		return "", nil
	}
	deep := func(ctx *orch.Context, input string) (string, error) {
		return ctx.ScheduleSubOrchestration("Deep", input).Await()
	}
	waits := func(ctx *orch.Context, _ string) (string, error) {
		return ctx.ScheduleSubOrchestration("Again", "").Await()
	}
	register := func(r *node.Registry, _ *engine.Build) error {
		return errors.Join(r.Register("Waits", engine.V(1, 0, 0), waits), r.Register("Loop", engine.V(1, 0, 0), loop), r.Register("Again", engine.V(1, 0, 0), again), r.Register("Deep", engine.V(1, 0, 0), deep),
			r.RegisterActivity("Work", func(node.ActivityContext, string) (string, error) { return "", nil }))
	}
	for _, tc := range []struct {
		name   string
		budget uint64
		inputs []string
		want   string // of the violation; empty if all instances end
	}{
		{"again for ever", 0, []string{"again"}, "execution 400 of loop-0 (Again@1.0.0, on build 1.5.0) continues as new, after 400 executions without an end; no instance that has ended had more than 0."},
		{"again, and eternal", 0, []string{"again eternal"}, ""},
		{"again, and nobody's child", 0, []string{"orphan"}, ""},
		{"again, long but ended", 0, []string{"again 60"}, ""},
		{"again, longer than what ended", 0, []string{"again 60", "again"}, "continues as new, after 1220 executions"},
		{"for ever", 0, []string{""}, "execution 1 of loop-0 (Loop@1.0.0, on build 1.5.0) has taken 400 turns and 800 events without ending"},
		{"children for ever", 0, []string{"deep"}, "loop-0: the children of loop-0 have children of their own, and so on, 400 deep, the last by Deep@1.0.0, on build 1.5.0"},
		{"a budget", 40, []string{"90"}, "has taken 40 turns"},
		{"long but ended", 0, []string{"90"}, ""},
		{"longer than what ended", 0, []string{"70", ""}, "has taken 1420 turns"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := &plan.Plan{Nodes: []plan.Node{{Name: "A", Build: "1.5.0"}}, TurnBudget: tc.budget, FaultPhase: time.Hour}
			for i, input := range tc.inputs {
				in := plan.Instance{ID: "loop-" + strconv.Itoa(i), Orchestration: "Loop", Input: input}
				if rest, isAgain := strings.CutPrefix(input, "again"); isAgain {
					in.Orchestration, in.Input = "Again", strings.TrimSpace(rest)
				}
				if input == "deep" {
					in.Orchestration = "Deep"
				}
				if input == "orphan" { // its child begins when it is gone; what the client raises is queued for it all the same
					in.Orchestration, in.Expect, in.StartAt = "Waits", plan.EndAny, 2*time.Second
					in.Actions = []plan.Action{{At: 3 * time.Second, Verb: plan.ActionDelete, Forced: true}, {At: 4 * time.Second, Verb: plan.ActionRaise, Name: "go"}}
					p.Schedule = []plan.Step{{At: time.Second, Verb: plan.VerbDeregister, Node: "A", Handler: "Again@1.0.0"}, {At: 5 * time.Second, Verb: plan.VerbRegister, Node: "A", Handler: "Again@1.0.0"}}
				}
				if in.Input == "eternal" {
					in.Expect = plan.EndEternal
				}
				p.Instances = append(p.Instances, in)
			}
			r := sample.Must(cluster.Run(cluster.Config{Plan: p, Seed: 1, Handlers: register}))(t)
			var got []string
			for _, v := range r.Violations {
				got = append(got, v.Property+" "+v.Instance+": "+v.Message)
			}
			all := strings.Join(got, "\n")
			if tc.want == "" && all != "" || !strings.Contains(all, tc.want) {
				t.Errorf("violations %q, want %q", all, tc.want)
			}
		})
	}
}
