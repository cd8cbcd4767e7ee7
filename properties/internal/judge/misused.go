package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/durosim/durosim/engine/orch"
)

// misused lists handlers that ask more of their Context than a turn allows, or of a Context whose turn is over, and
// the text with which each must fail. No scenario has them: they need hundreds of megabytes, or a state of their own.
var misused = []struct {
	name string
	code func(ctx, first *orch.Context)
	says string
}{
	{"schedules", func(ctx, _ *orch.Context) {
		for {
			ctx.ResetCustomStatus()
		}
	}, "orch: more than 1048576 schedules in one turn"},
	{"calls", func(ctx, _ *orch.Context) {
		for {
			ctx.IsReplaying()
		}
	}, "orch: more than 4194304 calls of a Context in one turn"},
	{"recovered", func(ctx, _ *orch.Context) {
		for {
			func() {
				defer func() { _ = recover() }()
				ctx.IsReplaying()
			}()
		}
	}, "orchestration code called runtime.Goexit"},
	{"kept", func(_, first *orch.Context) { first.IsReplaying() }, "orch: a Context was used outside its turn"},
}

// misusedJudge runs each of these handlers once.
func misusedJudge() (uint64, string, string) {
	for i := range misused {
		m := &misused[i]
		var first *orch.Context // of the first turn
		result, err := runLeaf(false, func(ctx *orch.Context, _ string) (string, error) {
			if first == nil {
				first = ctx
			}
			if _, err := ctx.ScheduleTimer(time.Second).Await(); err != nil {
				return "", err
			}
			m.code(ctx, first)
			return "", errors.New("it was allowed")
		})
		if err != nil {
			return 0, "", err.Error()
		}
		if got, want := result.FinalStates[0].Output, "orchestration panicked: "+m.says; got != want {
			return 0, "", fmt.Sprintf("%s: the orchestration ends with %q: expected %q", m.name, got, want)
		}
	}
	return uint64(len(misused)), "", ""
}
