package replay

import (
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/sample"
)

// TestEndlessCode checks that code that calls its context forever is stopped, even if it recovers the panics that are
// meant to stop it.
func TestEndlessCode(t *testing.T) {
	try := func(f func()) {
		defer func() { _ = recover() }()
		f()
	}
	type endless struct {
		name string
		want string
		h    orch.Handler
	}
	for _, c := range sample.Of([]endless{
		{"over a ready future", tooManyCallsText, func(c *orch.Context, _ string) (string, error) {
			ready := c.Go(func(*orch.Context) (string, error) { return "", nil })
			for {
				if _, err := ready.Await(); err != nil {
					return "", err
				}
			}
		}},
		{"over a ready future, stubbornly", exitedText, func(c *orch.Context, _ string) (string, error) {
			for {
				try(func() { c.IsReplaying() })
			}
		}},
		{"over child coroutines", tooManyText, func(c *orch.Context, _ string) (string, error) {
			for {
				c.Go(nil)
			}
		}},
	}, 3) {
		t.Run(c.name, func(t *testing.T) {
			leaves(t, func() {
				out := mustTurn(t, input(c.h))
				if out.Result != ResultFailed || out.Details.Display() != "orchestration panicked: "+c.want {
					t.Errorf("got %v %q", out.Result, out.Details.Display())
				}
			})
		})
	}
}

// TestTextsAreComparedAsStored checks that each invalid byte comes back from a history as one U+FFFD and that the texts
// still match.
func TestTextsAreComparedAsStored(t *testing.T) {
	in := input(func(c *orch.Context, _ string) (string, error) {
		return c.ScheduleActivity("a\xff\xfe", "b\xff").Await()
	})
	first := mustTurn(t, in)
	if want := (eventdata.ActivityScheduled{Name: "a\uFFFD\uFFFD", Input: "b\uFFFD"}); first.Delta[1].Data != want {
		t.Errorf("recorded %+v, want %+v", first.Delta[1].Data, want)
	}
	for _, e := range first.Delta {
		data := sample.Must(in.Build.Codec.AppendEvent(nil, e))(t)
		in.History = append(in.History, sample.Must(in.Build.Codec.DecodeEvent(data))(t))
	}
	in.Messages = []engine.WorkItem{engine.ActivityCompletedItem{Instance: "p", ExecutionID: 1, ID: 2, Result: "done"}}
	if out := mustTurn(t, in); out.Result != ResultCompleted {
		t.Errorf("got %v %q", out.Result, out.Details.Display())
	}
}
