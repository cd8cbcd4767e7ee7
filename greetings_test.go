package durosim_test

import (
	"strings"
	"testing"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/workload"
)

// TestGreetings deploys the application of workload's example, whose versions greet differently under one version of the
// handler. Nothing replays the greetings that have ended, so the contract holds; the plan fails, since the output depends
// on the node.
func TestGreetings(t *testing.T) {
	greet := func(word string) func(*node.Registry) error {
		return func(r *node.Registry) error {
			return r.Register("Greet", engine.V(1, 0, 0), func(_ *orch.Context, name string) (string, error) { return word + ", " + name, nil })
		}
	}
	run := func(second, when string) *recorder {
		builds, handlers, err := workload.Deploy([]string{"1.5.0"},
			workload.Application{Version: "1.0.0", Register: greet("Hello")}, workload.Application{Version: "1.1.0", Register: greet(second)})
		sample.OK(t, err)
		return runTest(durosim.Config{Builds: func() []*engine.Build { return builds }, Handlers: handlers, Seeds: 5, Scenario: `# Greetings while the application is upgraded.
nodes A B run 1.5.0+1.0.0
load 5 instances over 8s
  mix 1 Greet with 1..9
at ` + when + ` upgrade A to 1.5.0+1.1.0
after 1s..3s upgrade B to 1.5.0+1.1.0
`})
	}
	if r := run("Hello", "2s..6s"); r.failed {
		t.Errorf("the same code: %s", r.text)
	}
	if r := run("Good morning", "1m"); r.failed {
		t.Errorf("all has ended before: %s", r.text)
	}
	r := run("Good morning", "2s..6s")
	if !r.failed || strings.Contains(r.text, "S11") {
		t.Errorf("failed: %t, with %s", r.failed, r.text)
	}
	for _, want := range []string{
		"violates S29 output-kept (plan)", `gives another output: the code returns "`, `the history ends with OrchestrationCompleted("`,
		"register a new version if that matters",
	} {
		if !strings.Contains(r.text, want) {
			t.Errorf("the report does not have %q:\n%s", want, r.text)
		}
	}
}
