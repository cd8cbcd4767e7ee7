package safety

import (
	"errors"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/replay"
)

// TestAlteredHistories alters the histories of code that ends in each way. A replay says what it must, and another
// description is refused.
func TestAlteredHistories(t *testing.T) {
	code := func(end func(ctx *orch.Context) (string, error)) orch.Handler {
		return func(ctx *orch.Context, _ string) (string, error) {
			ctx.ScheduleActivity("Work", "in", orch.OnSession("s"), orch.WithTag("t"))
			return end(ctx)
		}
	}
	altered := 0
	for name, handler := range map[string]orch.Handler{
		"returns": code(func(*orch.Context) (string, error) { return "out", nil }),
		"fails":   code(func(*orch.Context) (string, error) { return "", errors.New("no") }),
		"panics": code(func(ctx *orch.Context) (string, error) {
			ctx.ScheduleTimer(time.Second)
			panic("no")
		}),
		"continues": code(func(ctx *orch.Context) (string, error) { ctx.ContinueAsNewVersioned("1.1.0", "more"); return "", nil }),
	} {
		in := replay.Input{Build: engine.ShippedBuilds()[2], Instance: "i", ExecutionID: 1, Handler: handler, Start: &replay.Start{Name: "O", Version: "1.0.0"}}
		out, err := replay.Turn(in)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 5 {
			history, want := alter(n, out.Delta, out.PanickedAt)
			if history == nil {
				continue
			}
			altered++
			in.History = history
			says, err := replay.Verify(in)
			if err != nil || !matchesOpen(says, want) {
				t.Errorf("code that %s, change %d: %q, %v; want %q", name, n, says, err, want)
			}
			if matchesOpen("", want) || matchesOpen(says+"!", want) || matchesOpen("!"+says, want) {
				t.Errorf("code that %s, change %d: %q allows other descriptions", name, n, want)
			}
		}
	}
	if altered < 18 {
		t.Errorf("%d altered histories, want 18", altered)
	}
}
