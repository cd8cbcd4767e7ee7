package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// unsteady lists handlers whose two computations of a turn differ, the first and the second, and what a run with the
// double check must say of each.
var unsteady = []struct {
	name string
	code func(ctx *orch.Context, second bool)
	says string
}{
	{"other", func(ctx *orch.Context, second bool) { ctx.ScheduleActivity("Work", pick(second, "first", "second")) },
		`new event 3 is ActivityScheduled(name="Work", input="first") and is ActivityScheduled(name="Work", input="second")`},
	{"more", func(ctx *orch.Context, second bool) {
		if second {
			ctx.ScheduleWait("more")
		}
	}, `new event 3 is missing and is ExternalSubscribed(name="more")`},
	{"less", func(ctx *orch.Context, second bool) {
		if !second {
			ctx.ScheduleWait("less")
		}
	}, `new event 3 is ExternalSubscribed(name="less") and is missing`},
	{"message", func(ctx *orch.Context, second bool) {
		ctx.StartOrchestrationVersioned("Leaf", pick(second, "1.0.0", "1.1.0"), "a leaf", "")
	}, `orchestrator item 2 is StartOrchestration{Instance:a leaf Orchestration:Leaf Input: Version:1.0.0 `},
	{"trace", func(ctx *orch.Context, second bool) { ctx.Trace(pick(second, "first", "second")) }, `trace 1 is "first" and is "second"`},
	{"place", func(_ *orch.Context, second bool) {
		if second {
			panic("here")
		}
		panic("here")
	}, "the turn's polls, the place of a panic, or what follows from its events differs"},
	{"steady", func(ctx *orch.Context, _ bool) { ctx.Trace("steady") }, ""},
}

func pick(second bool, a, b string) string {
	if second {
		return b
	}
	return a
}

// unsteadyJudge runs each of these handlers once, with every turn computed twice.
func unsteadyJudge() (uint64, string, string) {
	for i := range unsteady {
		if objection := askUnsteady(i); objection != "" {
			return 0, "", unsteady[i].name + ": " + objection
		}
	}
	return uint64(len(unsteady)), "", ""
}

func askUnsteady(i int) string {
	u := &unsteady[i]
	calls := 0
	result, err := runLeaf(true, func(ctx *orch.Context, _ string) (string, error) {
		calls++
		timer := ctx.ScheduleTimer(time.Second)
		u.code(ctx, calls%2 == 0)
		_, err := timer.Await()
		return "", err
	})
	if err != nil {
		return err.Error()
	}
	says := ""
	for _, v := range result.Violations {
		if v.Unsteady() {
			says = v.Message
			break
		}
	}
	if want := "differ: " + u.says; (says == "") != (u.says == "") || says != "" && !strings.Contains(says, want) {
		return fmt.Sprintf("the double check says %q: expected %q", says, want)
	}
	return ""
}

// runLeaf runs one instance of the given code, on one node, which keeps it between its turns if they are computed twice.
func runLeaf(twice bool, code orch.Handler) (*cluster.Result, error) {
	s, err := scenario.Parse("leaf.txt", []byte("scenario leaf\nfault-phase 5s\nnode A runs 1.5.0\n"+pick(twice, "", "  option kept_executions 1\n")+"instance one runs Leaf at 1s expect any\n"))
	if err != nil {
		return nil, err
	}
	plan, err := s.Expand(1, scenario.Overrides{})
	if err != nil {
		return nil, err
	}
	return cluster.Run(cluster.Config{
		Plan: plan, Seed: 1, DoubleCheck: twice,
		Handlers: func(r *node.Registry, _ *engine.Build) error {
			work := func(_ node.ActivityContext, input string) (string, error) { return input, nil }
			block := func(node.ActivityContext, string) (string, error) { select {} }
			return errors.Join(r.Register("Leaf", engine.V(1, 0, 0), code), r.RegisterActivity("Work", work), r.RegisterActivity("Block", block))
		},
	})
}
