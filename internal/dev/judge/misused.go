package main

import (
	"errors"
	"fmt"
	"strings"
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
	{"schedules", func(ctx, _ *orch.Context) { // a timer, the changes of the status, and coroutines
		for range 1<<15 - 50 {
			ctx.ResetCustomStatus()
		}
		counted(100, func() { ctx.Go(func(*orch.Context) (string, error) { return "", nil }) })
	}, "orch: more than 32768 schedules in one turn, after 49"},
	{"calls", func(ctx, _ *orch.Context) { // of the timer, two
		counted(1<<23, func() { ctx.IsReplaying() })
	}, "orch: more than 4194304 calls of a Context in one turn, after 4194302"},
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

// counted calls f at most so often, and adds to the text with which it panics how often it has not.
func counted(most int, f func()) {
	n := 0
	defer func() { panic(fmt.Sprintf("%v, after %d", recover(), n)) }()
	for ; n < most; n++ {
		f()
	}
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
	for what, code := range map[string]orch.Handler{ // in any order
		"orchestration Leaf@1.0.0": func(*orch.Context, string) (string, error) { select {} },
		"activity Block":           func(ctx *orch.Context, _ string) (string, error) { return ctx.ScheduleActivity("Block", "").Await() },
	} {
		result, err := runLeaf(false, code)
		if err != nil {
			return 0, "", err.Error()
		}
		if want := "the code of " + what + " (instance one) has run"; len(result.Violations) == 0 || !strings.HasPrefix(result.Violations[0].Message, want) {
			return 0, "", fmt.Sprintf("code that blocks: the run says %+v: expected %q", result.Violations, want)
		}
	}
	return uint64(len(misused) + 2), "", ""
}
