package durosim_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/engine/orchtest"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/workload"
)

// recorder stands in for the *testing.T of a user's test.
type recorder struct {
	name   string
	failed bool
	text   string
}

func (r *recorder) Helper()                           {}
func (r *recorder) Name() string                      { return r.name }
func (r *recorder) Logf(format string, args ...any)   { r.text += fmt.Sprintf(format, args...) }
func (r *recorder) Fatalf(format string, args ...any) { r.Logf(format, args...); r.failed = true }

func (r *recorder) lastLine() string {
	lines := strings.Split(strings.TrimSpace(r.text), "\n")
	return lines[len(lines)-1]
}

// runTest calls Test the way a user's test would.
func runTest(c durosim.Config) *recorder {
	r := &recorder{name: "TestRefund/in two steps"}
	durosim.Test(r, c)
	return r
}

// changedRefund is what a careless release ships: a handler that does something else under the same version.
func changedRefund(r *node.Registry, b *engine.Build) error {
	if b.Name() != "2.0.0" {
		return register(r, b)
	}
	audited := func(ctx *orch.Context, input string) (string, error) {
		if _, err := ctx.ScheduleTimer(1).Await(); err != nil {
			return "", err
		}
		return refund(ctx, input)
	}
	payBack := func(_ node.ActivityContext, input string) (string, error) { return "paid back " + input, nil }
	return errors.Join(r.Register("Refund", engine.V(1, 0, 0), audited), r.RegisterActivity("PayBack", payBack))
}

func TestTestHolds(t *testing.T) {
	r := runTest(durosim.Config{Scenario: story, Seeds: 20, Handlers: register})
	if r.failed || !strings.Contains(r.text, "20 seeds of") {
		t.Errorf("failed %v:\n%s", r.failed, r.text)
	}
	r = runTest(durosim.Config{Scenario: story, Seeds: 2, Properties: []string{"S01", "S02"}, Handlers: changedRefund})
	if r.failed || !strings.Contains(r.text, " from 1 on: S01 holds, S02 holds; nothing else was checked\nplan: ") {
		t.Errorf("two properties: %s", r.text)
	}
	none := faults.None()
	for _, c := range []durosim.Config{
		{Scenario: "continue-as-new", Seeds: 3, Overrides: scenario.Overrides{Faults: &none}},
		{Seeds: 2, Plan: onePlan},
	} {
		if r := runTest(c); r.failed {
			t.Errorf("%+v: %s", c, r.text)
		}
	}
	t.Setenv(durosim.EnvSeed, "0")
	if r := runTest(durosim.Config{}); r.failed || !strings.Contains(r.text, "; 1 of the seeds, those that 10 divides, had") {
		t.Errorf("seed 0: %s", r.text)
	}
}

func onePlan(uint64) (*plan.Plan, error) {
	return &plan.Plan{
		Name: "one", Nodes: []plan.Node{{Name: "A", Build: "1.5.0"}},
		Instances: []plan.Instance{{ID: "chain", Orchestration: "Chain", Input: "3"}},
	}, nil
}

// TestTestFails checks that a failure is shrunk and reported, and that the seed in the report's last line and the
// stored run both show it again.
func TestTestFails(t *testing.T) {
	c := durosim.Config{Scenario: story, Handlers: changedRefund, ShrinkRuns: 500}
	r := runTest(c)
	want := regexp.MustCompile(`^DUROSIM_SEED=(\d+) go test -run '\^TestRefund\$/\^in two steps\$' github\.com/durosim/durosim$`)
	m := want.FindStringSubmatch(r.lastLine())
	if !r.failed || m == nil {
		t.Fatalf("failed %v, the last line does not match %s:\n%s", r.failed, want, r.text)
	}
	for _, part := range []string{"violates S11", "The smallest plan found", "instance ", "durosim corpus 1"} {
		if !strings.Contains(r.text, part) {
			t.Errorf("the report does not say %q:\n%s", part, r.text)
		}
	}

	t.Setenv(durosim.EnvSeed, m[1])
	if again := runTest(c); again.text != r.text {
		t.Errorf("with the seed of the last line:\n%s\nat first:\n%s", again.text, r.text)
	}
	t.Setenv(durosim.EnvSeed, "")

	entry := r.text[strings.Index(r.text, "durosim corpus 1"):strings.LastIndex(r.text, "\nTo see it again")]
	file := filepath.Join(t.TempDir(), "kept.txt")
	sample.OK(t, os.WriteFile(file, []byte(entry), 0o666))
	t.Setenv(durosim.EnvPlan, file)
	again := runTest(c)
	if last := again.lastLine(); !again.failed || !strings.HasPrefix(last, "DUROSIM_PLAN=") || !strings.Contains(again.text, "violates S11") {
		t.Errorf("the stored run: failed %v:\n%s", again.failed, again.text)
	}
	c.Handlers = register
	if mended := runTest(c); mended.failed {
		t.Errorf("the stored run with the right handler: %s", mended.text)
	}
}

// TestHistoriesAreWritten checks that the histories of a campaign are files that replay with the code that wrote them, and
// not with other code.
func TestHistoriesAreWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "histories")
	t.Setenv(durosim.EnvHistories, dir)
	r := runTest(durosim.Config{Scenario: story + "instance a:b runs Refund with 1\ninstance a_b runs Refund with 2\n", Seeds: 2, Handlers: register})
	if twins, err := filepath.Glob(filepath.Join(dir, "a_b*")); r.failed || err != nil || len(twins) != 2 {
		t.Fatal(twins, err, r.text)
	}
	for version, differs := range map[engine.Version]bool{engine.V(1, 5, 0): false, engine.V(2, 0, 0): true} {
		registry := node.NewRegistry()
		sample.OK(t, changedRefund(registry, &engine.Build{Version: version}))
		said := &recorder{}
		orchtest.CheckHistories(failer{said}, os.DirFS(dir), registry)
		if got := strings.Contains(said.text, "refund-1.1.jsonl: the code of Refund@1.0.0 differs from the history: "); got != differs {
			t.Errorf("with the code of %s: %s", version, said.text)
		}
	}
}

// TestShrinkingEndsInTime checks that a failure is reported with the plan that there is when the time for shrinking is
// over, and that the environment gives more.
func TestShrinkingEndsInTime(t *testing.T) {
	t.Setenv(durosim.EnvShrink, "1ns")
	r := runTest(durosim.Config{Scenario: story, Handlers: changedRefund})
	for _, want := range []string{
		" runs in 0s of shrinking, size 23 (", "violates S11 replay-deterministic (safety)",
		" runs; the limit of 1ns of real time was reached, and DUROSIM_SHRINK=5m gives it more.", "durosim corpus 1",
	} {
		if !r.failed || !strings.Contains(r.text, want) {
			t.Errorf("no %q in:\n%s", want, r.text)
		}
	}
	t.Setenv(durosim.EnvShrink, "-1s")
	if r := runTest(durosim.Config{Seeds: 1}); !strings.Contains(r.text, "DUROSIM_SHRINK=-1s: expected a duration such as 10s, or 0 for no limit") {
		t.Errorf("a limit that is none: %s", r.text)
	}
}

// TestTestFindsRandomHandlers checks that code that depends on more than the run is told apart from code that violates a
// rule.
func TestTestFindsRandomHandlers(t *testing.T) {
	calls := 0
	handlers := func(change func(string) string, payBack node.Activity) func(*node.Registry, *engine.Build) error {
		return func(r *node.Registry, _ *engine.Build) error {
			moody := func(ctx *orch.Context, input string) (string, error) { return refund(ctx, change(input)) }
			return errors.Join(r.Register("Refund", engine.V(1, 0, 0), moody), r.RegisterActivity("PayBack", payBack))
		}
	}
	same := func(text string) string { return text }
	lastOf := func(string) (item string) {
		for item = range map[string]bool{"a": true, "b": true, "c": true, "d": true, "e": true, "f": true} {
		}
		return item
	}
	steady := func(_ node.ActivityContext, input string) (string, error) { return input, nil }
	const named = `^durosim: seed 1 of scenario violates handler-deterministic \(handler\)(?s:.*)handler Refund@1\.0\.0(?s:.*)`
	for _, row := range sample.Of([]struct {
		want string
		durosim.Config
	}{
		{named + "differ", durosim.Config{DoubleCheck: true, Handlers: handlers(func(in string) string { calls++; return fmt.Sprint(in, calls) }, steady)}},
		{named + "map order", durosim.Config{DoubleCheck: true, Handlers: handlers(lastOf, steady)}},
		{"two different runs(?s:.*)handler-deterministic(?s:.*)\nDUROSIM_SEED=1 go test .*", durosim.Config{Handlers: handlers(func(in string) string { calls++; return fmt.Sprint(in, calls) }, steady)}},
		{`two different runs(?s:.*)\nIn two more runs the activity PayBack of Refund-\d+, called with "\d+", returns\n  "\d+" \(error: <nil>\)\n  "\d+" `, durosim.Config{
			Handlers: handlers(same, func(node.ActivityContext, string) (string, error) { calls++; return fmt.Sprint(calls), nil })}},
		{`two different runs(?s:.*)\nTwo more runs are alike up to these events:\n  step \d+, virtual time `, durosim.Config{Handlers: func(r *node.Registry, b *engine.Build) error {
			calls++
			made := fmt.Sprint(calls)
			return handlers(func(in string) string { return in + made }, steady)(r, b)
		}}},
		{`two different runs(?s:.*)\n  So does an Input .*\n\nIn two more plans the input of refund-\d+ is\n  "\d+"\n  "\d+"\n`, durosim.Config{
			Handlers: register, Input: func(string, string) string { calls++; return fmt.Sprint(calls) }}},
		{`seed 2 of scenario violates mine (?s:.*)not shrunk: seed 1 held, and violates it, too, when (?s:.*)\ngo test -run '\^TestRefund`, durosim.Config{Handlers: register, EachRun: func() durosim.Run {
			return durosim.Run{Invariants: []durosim.Invariant{{Name: "mine", AtEnd: func([]cluster.FinalState) error {
				if calls++; calls > 2 {
					return errors.New("more than two runs")
				}
				return nil
			}}}}
		}}},
	}, 2) {
		c := row.Config
		calls, c.Scenario, c.Seeds, c.Workers = 0, story, 3, 1
		if r := runTest(c); !r.failed || !regexp.MustCompile(row.want).MatchString(r.text) || strings.Contains(r.text, "durosim corpus") {
			t.Errorf("want %s, and no plan:\n%s", row.want, r.text)
		}
	}
	if r := runTest(durosim.Config{Scenario: story, Seeds: 5, DoubleCheck: true, Handlers: register}); r.failed {
		t.Errorf("a handler that is deterministic: %s", r.text)
	}
	// Where code differs once only, a replay of the judge may be the one that sees it: no plan shows that again.
	again := false
	for once := 0; once < 60; once += int(sample.Number(7, 1)) {
		calls = 0
		r := runTest(durosim.Config{Scenario: story, Seeds: 1, Workers: 1, Handlers: handlers(func(in string) string {
			if calls++; calls == once {
				in += "!"
			}
			return in
		}, steady)})
		again = again || strings.Contains(r.text, "does not fail again with the same choices\n  A handler that reads the clock")
		if strings.Contains(r.text, "there     \n") {
			t.Fatalf("%d: a smallest plan without evidence:\n%s", once, r.text)
		}
	}
	if !again {
		t.Error("no judge's replay has seen it")
	}
}

// TestTestRequires: what a scenario requires of a campaign, a test requires, too.
func TestTestRequires(t *testing.T) {
	for extra, want := range map[string]string{
		"seeds 5\nexpect sometimes end where output=nonsense\n":  "no seed reaches what the scenario requires of 5 seeds or more:\n  expect:13:sometimes end where output=nonsense",
		"seeds 5\nrequire coverage poison\n":                     "no seed reaches what the scenario requires of 5 seeds or more:\n  poison",
		"seeds 6\nrequire coverage poison\n":                     "",
		"seeds 5\nrequire coverage poisson\n":                    `scenario.txt:13: no run can reach the coverage point "poisson"; "simrun list coverage" lists all; did you mean poison?`,
		"seeds 5\nexpect sometimes end where status=Completed\n": "",
	} {
		r := runTest(durosim.Config{Scenario: story + extra, Seeds: 5, Handlers: register})
		if r.failed != (want != "") || !strings.Contains(r.text, want) {
			t.Errorf("%s: failed %v:\n%s\nwant %s", extra, r.failed, r.text, want)
		}
	}
}

func TestTestRefuses(t *testing.T) {
	application := func(version string, register func(*node.Registry) error) []durosim.Application {
		return []durosim.Application{{Version: "1.0.0", Register: shop(order)}, {Version: version, Register: register}}
	}
	var called int
	for _, c := range []struct {
		config     durosim.Config
		seed, plan string
		want       string
	}{
		{durosim.Config{Scenario: "rolling-upgrad"}, "", "", "rolling-upgrade"},
		{durosim.Config{Scenario: "no/such/file.txt"}, "", "", "no/such/file.txt"},
		{durosim.Config{Scenario: "node A runs 1.5.0\nnonsense\n"}, "", "", "scenario.txt:2:"},
		{durosim.Config{Scenario: "node A runs 1.5.0\ninstance a runs Refnd\n", Handlers: register}, "", "", `instance a: no node has the orchestration "Refnd"; did you mean Refund?`},
		{durosim.Config{Scenario: "node A runs 1.5.0\ninstance a runs Refund\n"}, "", "", `add "expect poison" or "expect any"; Config has no Handlers, so nodes have durosim's own`},
		{durosim.Config{Scenario: "node A runs 1.5.0\ninstance a runs ProcessOrder\n", Builds: engine.ShippedBuilds}, "", "", "set Handlers to yours, or to workload.Handlers"},
		{durosim.Config{Scenario: "node A runs 1.5.0 instance a runs Refund"}, "", "", "text of a scenario has more than one line"},
		{durosim.Config{Properties: []string{"S01", "S99"}}, "", "", `there is no property "S99"`},
		{durosim.Config{Scenario: "story", Plan: onePlan}, "", "", "leave one out"},
		{durosim.Config{Applications: []durosim.Application{{Version: "1.0.0", Register: shop(order)}}}, "", "", "Applications and no Scenario"},
		{durosim.Config{Scenario: story, Applications: []durosim.Application{{Version: "1.0.0"}}}, "", "", `application "1.0.0": Register is not set`},
		{durosim.Config{Scenario: story, Applications: []durosim.Application{{Register: shop(order)}}}, "", "", "Applications[0].Version is not set"},
		{durosim.Config{Scenario: rollout, EachRun: func() durosim.Run { return durosim.Run{} }}, "", "", "there are no applications here; those of a test are in Config.Applications "},
		{durosim.Config{Properties: []string{}}, "", "", "Config.Properties is empty, so nothing would be checked: nil means all"},
		{durosim.Config{ShrinkRuns: -1}, "", "", "Config.ShrinkRuns is -1: expected a number of runs"},
		{durosim.Config{Scenario: rollout, Applications: application("1.0.0", shop(order))}, "", "", "application 1.0.0 is given twice"},
		{durosim.Config{Plan: func(uint64) (*plan.Plan, error) { return nil, nil }}, "", "", "seed 1: Config.Plan returned no plan"},
		{durosim.Config{Plan: func(uint64) (*plan.Plan, error) { panic("mine") }}, "", "", "seed 1: Config.Plan panicked at durosim_test.TestTestRefuses.func"},
		{durosim.Config{Scenario: story, Handlers: register, Input: func(string, string) string { panic("mine") }}, "", "", "seed 1: the function Input panicked at durosim_test.TestTestRefuses.func"},
		{durosim.Config{EachRun: func() durosim.Run { panic("mine") }}, "", "", "durosim: Config.EachRun panicked at durosim_test.TestTestRefuses.func"},
		{durosim.Config{Workers: 1, EachRun: func() durosim.Run {
			if called++; called > 4 {
				panic("mine")
			}
			return durosim.Run{Handlers: workload.Handlers}
		}}, "", "", "handlers of build 1.5.0: Config.EachRun panicked at durosim_test.TestTestRefuses.func"},
		{durosim.Config{Scenario: rollout, Applications: application("1.1.0", func(*node.Registry) error { panic("mine") })}, "", "",
			"handlers of build 1.5.0+1.1.0: their registration panicked at durosim_test.TestTestRefuses.func"},
		{durosim.Config{}, "seven", "", "DUROSIM_SEED=seven: expected a seed"},
		{durosim.Config{}, "", "missing.txt", "DUROSIM_PLAN: there is no file missing.txt"},
	} {
		t.Setenv(durosim.EnvSeed, c.seed)
		t.Setenv(durosim.EnvPlan, c.plan)
		if r := runTest(c.config); !r.failed || !strings.Contains(r.text, c.want) {
			t.Errorf("want a failure that says %q: %s", c.want, r.text)
		}
	}
	t.Setenv(durosim.EnvDoubleCheck, "yes")
	if r := runTest(durosim.Config{}); !r.failed || !strings.Contains(r.text, "DUROSIM_DOUBLE_CHECK=yes: expected 1 or 0") {
		t.Error(r.text)
	}
}
