package replay

import (
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/sample"
)

// TestArenaIsForgotten computes several turns in one arena, in two different orders, and without an arena.
// The results must be equal.
func TestArenaIsForgotten(t *testing.T) {
	twoChildren := func(ctx *orch.Context, input string) (string, error) {
		a := ctx.Go(func(ctx *orch.Context) (string, error) { return ctx.ScheduleActivity("a", input).Await() })
		b := ctx.Go(func(ctx *orch.Context) (string, error) { return ctx.ScheduleWait("b").Await() })
		orch.Select(a, b)
		return "", nil
	}
	exits := func(ctx *orch.Context, _ string) (string, error) {
		ctx.ScheduleActivity("a", "")
		runtime.Goexit()
		return "", nil
	}
	stubborn := func(ctx *orch.Context, _ string) (string, error) {
		for {
			func() {
				defer func() { _ = recover() }()
				ctx.ScheduleTimer(1).Await()
			}()
		}
	}
	var inputs []Input
	for _, h := range []orch.Handler{oneActivity, chain, twoChildren, exits, stubborn} {
		fresh := benchInput(h)
		inputs = append(inputs, fresh)
		out := sample.Must(Turn(fresh))(t)
		later := fresh
		later.History = out.Delta
		inputs = append(inputs, later)
		later.Messages = []engine.WorkItem{engine.CancelInstanceItem{Instance: "order-1", Reason: "enough"}}
		inputs = append(inputs, later)
	}
	for _, backwards := range []bool{false, true} {
		w := NewArena()
		defer w.Close()
		var outs []Output
		var want []Output
		for i := range inputs {
			if backwards {
				i = len(inputs) - 1 - i
			}
			in := inputs[i]
			plain := sample.Must(Turn(in))(t)
			in.Arena = w
			out := sample.Must(Turn(in))(t)
			outs, want = append(outs, out), append(want, plain)
		}
		for i := range outs { // compare them all at the end, because a later turn must not overwrite an earlier turn's output
			if d := cmp.Diff(want[i], outs[i]); d != "" {
				t.Errorf("turn %d (backwards: %v) differs in a used arena (-without one +with it):\n%s", i, backwards, d)
			}
		}
	}
}

// TestArenaKeepsContextsApart checks that a Context from an earlier turn is invalid in a later one.
func TestArenaKeepsContextsApart(t *testing.T) {
	w := NewArena()
	defer w.Close()
	var kept *orch.Context
	in := benchInput(func(ctx *orch.Context, input string) (string, error) {
		if kept == nil {
			kept = ctx
		} else {
			kept.ScheduleActivity("of an earlier turn", input)
		}
		return "", nil
	})
	in.Arena = w
	if out, err := Turn(in); err != nil || out.Result != ResultCompleted {
		t.Fatal(err, out.Result)
	}
	out, err := Turn(in)
	if err != nil || out.Result != ResultFailed || out.Details.Application == nil ||
		out.Details.Application.Message != "orch: a Context was used outside its turn" {
		t.Errorf("using an old Context gives %v %v, %+v: expected a panic that says so", err, out.Result, out.Details)
	}
}
