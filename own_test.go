package durosim_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// TestOwnInvariantIsShrunk checks a violation of a user's invariant. The violation is reported with its rule, shrunk,
// and repeated by the last line of the report. The stored run violates the invariant again, and passes with a correct
// bank.
func TestOwnInvariantIsShrunk(t *testing.T) {
	naive := durosim.Config{Scenario: shopping, Seeds: 1, EachRun: func() durosim.Run { return newBank(false).run() }}
	wants := []string{
		"violates nobody-pays-twice (safety)", "rule      Each order that completed was charged once.", "was charged 2 times",
		"fault activity-repeats\n", "verdict violates nobody-pays-twice",
	}
	if sample.All() {
		wants = append(wants, "nothing can be left out")
	} else {
		naive.ShrinkRuns = 50
	}
	first := runTest(naive)
	for _, want := range wants {
		if !strings.Contains(first.text, want) {
			t.Errorf("no %q in:\n%s", want, first.text)
		}
	}
	if want := "DUROSIM_SEED=1 go test"; !strings.HasPrefix(first.lastLine(), want) {
		t.Errorf("the last line is %q, expected it to begin with %q", first.lastLine(), want)
	}
	_, entry, _ := strings.Cut(first.text, "durosim corpus 1\n")
	entry, _, _ = strings.Cut(entry, "\nTo see it again")
	file := filepath.Join(t.TempDir(), "entry.txt")
	sample.OK(t, os.WriteFile(file, []byte("durosim corpus 1\n"+entry), 0o600))
	t.Setenv(durosim.EnvPlan, file)
	if r := runTest(naive); !r.failed || !strings.Contains(r.text, "the stored run "+file+" violates nobody-pays-twice") {
		t.Errorf("replayed: %s", r.text)
	}
	if r := runTest(durosim.Config{EachRun: func() durosim.Run { return newBank(true).run() }}); r.failed {
		t.Errorf("replayed with the bank that is right: %s", r.text)
	}
}

// TestOwnRunIsChecked checks that invalid invariants, such as two with the same name, are rejected before anything
// runs.
func TestOwnRunIsChecked(t *testing.T) {
	holds := func() error { return nil }
	for want, invariants := range map[string][]durosim.Invariant{
		"one word":                      {{Name: "two words", Always: holds}},
		`two invariants are called "a"`: {{Name: "a", Always: holds}, {Name: "a", Always: holds}},
		`an invariant cannot be called "S01": durosim reports`: {{Name: "S01", Always: holds}},
		`reports under that name itself`:                       {{Name: "handler-returns", Always: holds}},
		"checks nothing":                                       {{Name: "a"}},
	} {
		r := runTest(durosim.Config{Seeds: 1, EachRun: func() durosim.Run { return durosim.Run{Invariants: invariants} }})
		if !r.failed || !strings.Contains(r.text, want) {
			t.Errorf("expected %q: %s", want, r.text)
		}
	}
}

// tally is a user's monitor. It objects to turns.
type tally struct {
	cluster.Monitor
	found []cluster.Violation
}

func (m *tally) Record(r *cluster.Record) {
	if r.Kind == record.PhaseBegan && len(m.found) == 0 {
		m.found = []cluster.Violation{{Property: "no-phase", Class: cluster.ClassSafety, Message: "a phase began"}}
	}
	m.Monitor.Record(r)
}

func (m *tally) Violations() []cluster.Violation { return m.found }

// TestOwnMonitor checks that a user's monitor watches each run alongside the properties, and that an invariant is
// called until it fails.
func TestOwnMonitor(t *testing.T) {
	asked := 0
	each := func() durosim.Run {
		return durosim.Run{
			Monitor: func(w *cluster.World) cluster.Monitor {
				return &tally{Monitor: properties.New(w, properties.Options{Properties: []string{}})}
			},
			Invariants: []durosim.Invariant{{Name: "never", Always: func() error { asked++; return errors.New("no") }}},
		}
	}
	r := runTest(durosim.Config{Plan: onePlan, Seeds: 1, Workers: 1, ShrinkRuns: 1, Properties: []string{"S01"}, EachRun: each})
	if !r.failed || !strings.Contains(r.text, "violates no-phase (safety)") {
		t.Errorf("%s", r.text)
	}
	if asked == 0 || asked > 10 {
		t.Errorf("the invariant was asked %d times in the runs of one seed, expected once in each", asked)
	}
}

// TestOwnPanics checks that a panic in a user's invariant or monitor is a violation with its place, and that an error about
// an instance may be nil.
func TestOwnPanics(t *testing.T) {
	for want, run := range map[string]durosim.Run{
		"violates mine (safety)\n": {Invariants: []durosim.Invariant{{Name: "mine", Always: func() error { panic("no always") }}}},
		"evidence  the invariant panicked at durosim_test.TestOwnPanics.func2 (own_test.go:": {Invariants: []durosim.Invariant{{Name: "mine", AtEnd: func(ends []cluster.FinalState) error { return errors.New(ends[99].Instance) }}}},
		"evidence  Run.Monitor panicked at durosim_test.TestOwnPanics.func3 (own_test.go:":   {Monitor: func(*cluster.World) cluster.Monitor { panic("no watch") }},
		"evidence  Run.Monitor panicked at durosim_test.(*tally).":                           {Monitor: func(*cluster.World) cluster.Monitor { return &tally{} }},
		"verdict violates own-monitor\n": {Monitor: func(w *cluster.World) cluster.Monitor {
			return &tally{properties.New(w, properties.Options{}), []cluster.Violation{{Property: "two words"}}}
		}},
		`Run.Monitor calls a property "S01"; its name must be none of properties.Catalogue. It says: no more`: {Monitor: func(w *cluster.World) cluster.Monitor {
			return &tally{properties.New(w, properties.Options{}), []cluster.Violation{{Property: "S01", Message: "no more"}}}
		}},
		": every property holds": {Invariants: []durosim.Invariant{{Name: "mine", Always: func() error { return durosim.Of("chain", nil) }}}},
	} {
		r := runTest(durosim.Config{Plan: onePlan, Seeds: 1, ShrinkRuns: 2, EachRun: func() durosim.Run { return run }})
		if !strings.Contains(r.text, want) {
			t.Errorf("no %q in:\n%s", want, r.text)
		}
	}
}
