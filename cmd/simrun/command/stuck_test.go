package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/sample"
)

// TestCodeThatDoesNotComeBack checks that each verb that runs code reports code that blocks, and ends.
func TestCodeThatDoesNotComeBack(t *testing.T) {
	t.Setenv(durosim.EnvTurnLimit, "10ms")
	file := filepath.Join(t.TempDir(), "plan.txt")
	sample.OK(t, os.WriteFile(file, []byte("nodes A runs 1.5.0\ninstance order-1 runs Order with 7\nat 1s upgrade A to 2.0.0\n"), 0o600))
	p := Program{Name: "orders", Handlers: func(r *node.Registry, _ *engine.Build) error {
		return r.Register("Order", engine.V(1, 0, 0), func(*orch.Context, string) (string, error) { return <-make(chan string), nil })
	}}
	for args, want := range map[string]int{
		"run --seeds 1000": exitHandler, "run --seeds 3 --json": exitHandler, "run --seeds 200 --fail-fast": exitHandler,
		"replay --seed 1": exitHandler, "plan --seeds 4": exitHandler, "shrink --seed 1": exitUsage,
	} {
		var out, err strings.Builder
		if got := p.Run(append(strings.Fields(args), file), &out, &err); got != want {
			t.Errorf("%s: status %d, want %d\n%s%s", args, got, want, &out, &err)
		}
		if want == exitUsage {
			out = err
		}
		wants := []string{"handler-returns"}
		if !strings.HasPrefix(args, "shrink") {
			wants = append(wants, "order-1", "stuck_test.go:")
		}
		for _, text := range wants {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%s: no %q in:\n%s", args, text, &out)
			}
		}
	}
}
