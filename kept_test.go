package durosim_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/cluster"
)

// realT is a *testing.T that does not fail.
type realT struct {
	testing.TB
	*recorder
	last []func()
}

func (r *realT) Cleanup(f func()) { r.last = append(r.last, f) }

func (r realT) Helper()                           {}
func (r realT) Name() string                      { return r.recorder.Name() }
func (r realT) Logf(format string, args ...any)   { r.recorder.Logf(format, args...) }
func (r realT) Fatalf(format string, args ...any) { r.recorder.Fatalf(format, args...) }

// A test that fails leaves its smallest plan, replays it first until it passes, and then tries other futures of it.
func TestKept(t *testing.T) {
	t.Chdir(t.TempDir())
	name := "TestRefund"
	run := func(each ...func(*node.Registry, *engine.Build) error) (r *recorder) {
		test := &realT{TB: t}
		for _, handlers := range each { // several calls of one test
			test.recorder = &recorder{name: name}
			durosim.Test(test, durosim.Config{Scenario: story, Seeds: 5, Handlers: handlers, Input: func(_, in string) string { return in }})
		}
		for _, f := range test.last {
			f()
		}
		return test.recorder
	}
	const file = "testdata/durosim/TestRefund.txt"
	r := run(changedRefund)
	if _, err := os.Stat(file); err != nil || !r.failed || !strings.Contains(r.text, "is kept in "+file) {
		t.Fatalf("%v:\n%s", err, r.text)
	}
	if r = run(changedRefund); !r.failed || !strings.HasPrefix(r.text, "durosim: the stored run "+file+" violates S11") || !strings.Contains(r.text, "\nIts inputs are those that were stored, not what Input makes now. If Input has changed, delete the file.\n\nWhat happens in it:\n") {
		t.Errorf("the second time:\n%s", r.text)
	}
	data := sample.Must(os.ReadFile(file))(t)
	sample.OK(t, os.WriteFile(file, bytes.Replace(data, []byte("verdict violates S11"), []byte("verdict violates S01"), 1), 0o644))
	if r = run(changedRefund); !strings.Contains(r.text, "\n  another violation: stored was \"violates S01\"\n") {
		t.Errorf("stored for something else:\n%s", r.text)
	}
	t.Setenv(durosim.EnvVerify, "20")
	if r = run(register); r.failed || !strings.Contains(r.text, file+", passes, and the file is removed; so do 20 other futures of it\n") {
		t.Errorf("mended:\n%s", r.text)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the plan is still there: %v", err)
	}
	// A mend that helps only if nothing happens to differ: the kept run passes, and others do not.
	sample.OK(t, os.WriteFile(file, []byte(kept), 0o644))
	if r = run(register); !r.failed || !strings.Contains(r.text, " of 20, of which the first is drawn from ") || !strings.Contains(r.text, "\nDUROSIM_VERIFY=20 go test ") {
		t.Errorf("mended in part:\n%s", r.text)
	}
	sample.OK(t, os.WriteFile(file, []byte("nonsense"), 0o644))
	if r = run(register); !r.failed || !strings.Contains(r.text, "the last failure cannot be replayed, so it is no test: "+file+":1: ") || !strings.Contains(r.text, "delete "+file+", or rename it") {
		t.Errorf("a file that is none:\n%s", r.text)
	}
	for n, want := range map[string]string{"TestRefund/a": "TestRefund%2Fa.txt", "TestRefund_a": "TestRefund_a.txt", "TestRefund/ä": "TestRefund%2F%C3%A4.txt"} {
		if name = n; !strings.Contains(run(changedRefund).text, " is kept in testdata/durosim/"+want) {
			t.Errorf("%s does not keep %s", name, want)
		}
	}
	name = "TestTwice"
	for range 2 {
		if r = run(register, changedRefund); !r.failed || !strings.Contains(r.text, "testdata/durosim/TestTwice=2.txt") {
			t.Errorf("the second call of a test:\n%s", r.text)
		}
	}
	if r = run(register, register); r.failed || !strings.Contains(r.text, "TestTwice=2.txt, passes, and the file is removed") {
		t.Errorf("the second call, mended:\n%s", r.text)
	}
}

// kept is a run that holds, beside others of its plan that do not.
const kept = `durosim corpus 1
found outcome
verdict holds
seed 2
mode seeded
node A runs 1.5.0
instance r-1 runs Refund with 1
fault activity-panic 1 in 3
expect never end where status=Failed
`

// An invariant's violation names the instance, and Rate counts how many seeds violate what.
func TestRate(t *testing.T) {
	r := runTest(durosim.Config{Scenario: story, Seeds: 10, Rate: true, ShrinkRuns: 1, Handlers: register, EachRun: func() durosim.Run {
		return durosim.Run{Invariants: []durosim.Invariant{{Name: "nobody-ends", AtEnd: func(ends []cluster.FinalState) error {
			return durosim.Of(ends[0].Instance, fmt.Errorf("it is %s", ends[0].Status))
		}}}}
	}})
	if !r.failed || !strings.Contains(r.text, "\n  instance  ") || !strings.Contains(r.text, "\nOf 10 seeds this many violate:\n     10  nobody-ends (safety), first in seed 1\n") {
		t.Errorf("the report is\n%s", r.text)
	}
}

// Applications that are made anew for each run share its state with the invariants.
func TestApplicationsOfEachRun(t *testing.T) {
	wrong := ""
	c := durosim.Config{Scenario: rollout, Seeds: 3, Workers: 1, Input: func(name, n string) string { return name + " for " + n }, EachRun: func() durosim.Run {
		shipped := 0
		ship := func(_ node.ActivityContext, item string) (string, error) {
			if shipped++; !strings.HasPrefix(item, "Order for ") {
				wrong = item
			}
			return item, nil
		}
		register := func(r *node.Registry) error {
			return errors.Join(r.Register("Order", engine.V(1, 0, 0), order), r.RegisterActivity("Ship", ship))
		}
		return durosim.Run{
			Applications: []durosim.Application{{Version: "1.0.0", Register: register}, {Version: "1.1.0", Register: register}},
			Invariants: []durosim.Invariant{{Name: "all-are-shipped", AtEnd: func(ends []cluster.FinalState) error {
				if shipped < len(ends) {
					return fmt.Errorf("%d of %d are shipped", shipped, len(ends))
				}
				return nil
			}}},
		}
	}}
	if r := runTest(c); r.failed || wrong != "" || strings.Contains(r.text, "runs no code") {
		t.Error(wrong, r.text)
	}
	for before, want := range map[string]string{"at ": "\napplication 1.1.0 runs no code in any seed\nplan: ", "load ": "\nno seed has any work"} {
		c.Scenario, _, _ = strings.Cut(rollout, before)
		if r := runTest(c); r.failed || !strings.Contains(r.text, want) {
			t.Errorf("no %q in:\n%s", want, r.text)
		}
	}
	c.Scenario = rollout
	c.Applications = []durosim.Application{{Version: "1.0.0", Register: shop(order)}}
	if r := runTest(c); !r.failed || !strings.Contains(r.text, "leave one out") {
		t.Error(r.text)
	}
}
