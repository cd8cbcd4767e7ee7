package durosim_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
)

// TestDoubleCheckMovesNothing checks that DoubleCheck does not change a seed's trace.
func TestDoubleCheckMovesNothing(t *testing.T) {
	plan := sample.Must(onePlan(1))(t)
	var digests [2]string
	for i, twice := range []bool{false, true} {
		r, err := cluster.Run(cluster.Config{Plan: plan, Seed: 1, DoubleCheck: twice, Monitor: everything})
		if err != nil || len(r.Violations) > 0 {
			t.Fatal(err, r.Violations)
		}
		digests[i] = r.Digest.String()
	}
	if digests[0] != digests[1] {
		t.Errorf("without %s, with %s", digests[0], digests[1])
	}
}

func everything(w *cluster.World) cluster.Monitor { return properties.New(w, properties.Options{}) }

// TestPanicsAreReported checks that a panic, or a use of the Context from another goroutine, is a violation of the
// handler with its place, wherever the code is, although a parent compensates it. "expect panics" permits it, and then the
// fate of the work still tells of children.
func TestPanicsAreReported(t *testing.T) {
	const hides = "node A runs 1.5.0\nload 3 instances over 3s\n  mix 1 Refund with 1..9\n"
	for code, want := range map[string]string{
		"child":     `Pay@1\.0\.0 of Refund-\d::sub::2 panicked at durosim_test\S*panics\S* \(handler_test\.go:\d+\): assignment to entry in nil map`,
		"goroutine": `Pay@1\.0\.0 of Refund-\d::sub::2 panicked at durosim_test\S*panics\S* \(handler_test\.go:\d+\): orch: a Context was used from another goroutine`,
		"activity":  `activity Bank of Refund-\d::sub::2 panicked at durosim_test\S*panics\S* \(handler_test\.go:\d+\): no money`,
		"root":      `Refund@1\.0\.0 of Refund-\d panicked at durosim_test\S*panics\S* \(handler_test\.go:\d+\): no refund`,
	} {
		r := runTest(durosim.Config{Scenario: hides, Seeds: 1, Handlers: panics(code)})
		if !r.failed || !regexp.MustCompile(`violates handler-panics \(handler\)(?s:.*)`+want).MatchString(r.text) || !strings.Contains(r.text, "nothing can be left out") {
			t.Errorf("%s: failed %v, expected %s, shrunk:\n%s", code, r.failed, want, r.text)
		}
		r = runTest(durosim.Config{Scenario: hides + "expect panics\n", Seeds: 1, Handlers: panics(code)})
		fate := regexp.MustCompile(`children that ended otherwise than their code said:\n +3  Pay@1.0.0 failed, its code panicked: .*, at durosim_test\S*panics.*; first Refund-\d::sub::2, seed 1`)
		if r.failed != (code == "root") || fate.MatchString(r.text) != (code == "child" || code == "goroutine") {
			t.Errorf("%s, expected: %s", code, r.text)
		}
	}
}

// panics registers code of which one part panics, or misuses its Context; Refund hides how its child ends.
func panics(code string) func(r *node.Registry, b *engine.Build) error {
	refund := func(ctx *orch.Context, input string) (string, error) {
		if code == "root" {
			panic("no refund")
		}
		if _, err := ctx.ScheduleSubOrchestration("Pay", input).Await(); err != nil {
			return "not paid", nil
		}
		return "paid", nil
	}
	pay := func(ctx *orch.Context, input string) (string, error) {
		switch code {
		case "child":
			var paid map[string]bool
			//lint:ignore SA5000 the mistake
			paid[input] = true
		case "goroutine":
			done := make(chan bool)
			go func() { defer close(done); ctx.ScheduleActivity("Bank", input) }()
			<-done
		}
		return ctx.ScheduleActivity("Bank", input).Await()
	}
	bank := func(node.ActivityContext, string) (string, error) {
		if code == "activity" {
			panic("no money")
		}
		return "paid", nil
	}
	return func(r *node.Registry, _ *engine.Build) error {
		return errors.Join(r.Register("Refund", engine.V(1, 0, 0), refund), r.Register("Pay", engine.V(1, 0, 0), pay), r.RegisterActivity("Bank", bank))
	}
}
