package durosim_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/orchtest"
	"github.com/durosim/durosim/internal/sample"
)

// TestCodeThatDoesNotComeBack checks that code that blocks or spins ends its test, in a campaign and in a test of one
// orchestration, with its instance and the line where it is.
func TestCodeThatDoesNotComeBack(t *testing.T) {
	t.Setenv(durosim.EnvTurnLimit, "20ms")
	var locked sync.Mutex
	locked.Lock()
	var over atomic.Bool
	t.Cleanup(func() { over.Store(true) })
	answer := func(string) (string, error) { locked.Lock(); return "", nil }
	for _, c := range sample.Of([]struct {
		name  string
		order orch.Handler
		want  []string
	}{
		{"channel", func(*orch.Context, string) (string, error) { return <-make(chan string), nil },
			[]string{"orchestration Order@1.0.0", "(chan receive)"}},
		{"mutex", func(_ *orch.Context, in string) (string, error) { return answer(in) },
			[]string{"orchestration Order@1.0.0", "(sync.Mutex.Lock)", "sync.(*Mutex).Lock (mutex.go:"}},
		{"loop", func(*orch.Context, string) (string, error) {
			for !over.Load() {
				continue
			}
			return "", nil
		}, []string{"orchestration Order@1.0.0", "(it runs on)"}},
		{"activity", func(c *orch.Context, in string) (string, error) { return c.ScheduleActivity("Charge", in).Await() },
			[]string{"activity Charge", "(sync.Mutex.Lock)", "ActivityContext.Sleep "}},
	}, 3) {
		t.Run(c.name, func(t *testing.T) {
			r := runTest(durosim.Config{
				Scenario: "nodes A runs 1.5.0\ninstance order-1 runs Order with 7\n", Seeds: 3,
				Handlers: func(r *node.Registry, _ *engine.Build) error {
					return errors.Join(r.Register("Order", engine.V(1, 0, 0), c.order),
						r.RegisterActivity("Charge", func(_ node.ActivityContext, in string) (string, error) { return answer(in) }))
				},
			})
			for _, want := range append(c.want, "seed 1 of scenario violates handler-returns (handler)", "instance  order-1", "stuck_test.go:", durosim.EnvTurnLimit+"=1m") {
				if !r.failed || !strings.Contains(r.text, want) {
					t.Errorf("the campaign: no %q in:\n%s", want, r.text)
				}
			}
			unit := &recorder{}
			func() {
				defer func() { _ = recover() }() // see failer
				e := orchtest.New(failer{unit}, c.order)
				e.Activity("Charge").Does(answer)
				e.Run("7")
			}()
			for _, want := range append(c.want[1:], "instance "+orchtest.Instance, "stuck_test.go:", durosim.EnvTurnLimit+"=1m") {
				if !strings.Contains(unit.text, want) {
					t.Errorf("orchtest: no %q in:\n%s", want, unit.text)
				}
			}
		})
	}
	t.Setenv(durosim.EnvTurnLimit, "soon")
	if r := runTest(durosim.Config{Seeds: 1}); !r.failed || !strings.Contains(r.text, "DUROSIM_TURN_LIMIT=soon: expected a duration such as 10s, or 0 for no limit") {
		t.Errorf("a limit that is none: %s", r.text)
	}
}

// failer is an orchtest.T whose Fatalf ends the test by a panic.
type failer struct{ *recorder }

func (f failer) Errorf(format string, args ...any) { f.Logf(format, args...) }

func (f failer) Fatalf(format string, args ...any) {
	f.Logf(format, args...)
	panic(f)
}
