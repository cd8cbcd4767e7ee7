package replay

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
)

// TestEveryNondeterminismIsShown checks that for each kind in docs/contract/runtime.md#r3.3 there is a story in which a
// turn fails with it.
func TestEveryNondeterminismIsShown(t *testing.T) {
	stories := storyTexts(t)
	for k := completionKindMismatch; k <= cancellationMismatch; k++ {
		if !strings.Contains(stories, "nondeterminism: "+nondeterminismNames[k]+" at ") {
			t.Errorf("no story shows %q", nondeterminismNames[k])
		}
	}
	if n := len(nondeterminismNames); n != int(cancellationMismatch)+1 {
		t.Errorf("%d names", n)
	}
}

// TestQuiescenceCapOfDequeues checks that a turn keeps processing buffered messages until it reaches the limit on
// polls.
func TestQuiescenceCapOfDequeues(t *testing.T) {
	for _, c := range []struct {
		n    int
		want Result
	}{{99, ResultCompleted}, {100, ResultFailed}} {
		in := input(func(ctx *orch.Context, _ string) (string, error) {
			for range c.n {
				ctx.DequeueEvent("jobs").Await()
			}
			return "all", nil
		})
		for range c.n {
			in.Messages = append(in.Messages, engine.QueueMessageItem{Instance: "p", Name: "jobs"})
		}
		if out := mustTurn(t, in); out.Result != c.want || c.want == ResultFailed && out.Details.Infrastructure.Operation != "quiescence_loop" {
			t.Errorf("%d dequeues: %v %q", c.n, out.Result, out.Details.Display())
		}
	}
}
