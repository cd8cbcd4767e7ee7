package replay

import (
	"errors"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine/orch"
)

// TestPanicPlace checks that the location of a panic is in the user's code, wherever the panic is raised, and is not
// recorded in the history.
func TestPanicPlace(t *testing.T) {
	dropped := func(c *orch.Context, _ string) (string, error) {
		f := c.ScheduleActivity("a", "")
		f.Drop()
		return f.Await()
	}
	for name, h := range map[string]orch.Handler{
		"own panic":      func(*orch.Context, string) (string, error) { panic("no") },
		"runtime panic":  func(_ *orch.Context, in string) (string, error) { return in[len(in)+1:], nil },
		"raised by orch": dropped,
	} {
		out := mustTurn(t, input(h))
		if !strings.Contains(out.PanickedAt, "place_test.go:") || !strings.Contains(out.PanickedAt, "TestPanicPlace") {
			t.Errorf("%s: the place is %q", name, out.PanickedAt)
		}
		if strings.Contains(out.Details.Display(), "place_test.go") {
			t.Errorf("%s: the history says %q", name, out.Details.Display())
		}
	}
	if out := mustTurn(t, input(func(*orch.Context, string) (string, error) { return "", errors.New("no") })); out.PanickedAt != "" {
		t.Errorf("without a panic: %q", out.PanickedAt)
	}
}
