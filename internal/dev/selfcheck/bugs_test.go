package selfcheck_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/dev/selfcheck"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// own returns the planted bugs that only these checks catch. Package stray has the others.
func own(t *testing.T) []faults.Bug {
	t.Helper()
	list := selfcheck.Catalogue()[len(faults.Catalogue()):]
	for i, b := range list {
		if row, ok := faults.Lookup(b.ID); !ok || row.Caught() || i > 0 && list[i-1].ID >= b.ID {
			t.Errorf("%s is no planted bug, or a property catches it, or it is not in order", b.ID)
		}
	}
	return slices.DeleteFunc(list, func(b faults.Bug) bool { return b.Scenario == selfcheck.StrayMessages })
}

// TestEachBugIsCaught checks that each bug violates its check within a few seeds of its scenario.
func TestEachBugIsCaught(t *testing.T) {
	const caughtWithin = 200
	for _, bug := range own(t) {
		t.Run(string(bug.ID), func(t *testing.T) {
			s, err := scenario.Lookup(bug.Scenario)
			if err != nil {
				t.Fatal(err)
			}
			for seed := uint64(1); seed <= caughtWithin; seed++ {
				p, err := s.Expand(seed, scenario.Overrides{Bugs: []faults.BugID{bug.ID}})
				if err != nil {
					t.Fatal(err)
				}
				r, err := cluster.Run(cluster.Config{Plan: p, Seed: seed, Monitor: func(w *cluster.World) cluster.Monitor { return selfcheck.New(w) }})
				if err != nil {
					t.Fatal(err)
				}
				if slices.ContainsFunc(r.Violations, func(v cluster.Violation) bool { return v.Property == bug.Properties[0] }) {
					return
				}
			}
			t.Errorf("%s breaks nothing in %d seeds of %s", bug.ID, caughtWithin, bug.Scenario)
		})
	}
}

// TestCorpus replays every stored run, and checks that each bug has one.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("testdata/seeds/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stored runs: %v", err)
	}
	found := map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		e, err := scenario.ParseEntry(file, data)
		if err != nil {
			t.Fatal(err)
		}
		chooser, err := e.NewChooser()
		if err != nil {
			t.Fatal(err)
		}
		cfg := cluster.Config{Plan: e.Plan, Seed: e.Seed, Chooser: chooser}
		durosim.Run{Monitor: selfcheck.Watch}.Configure(&cfg, properties.Options{Expectations: e.Expect, SecondJudge: 1})
		r, err := cluster.Run(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, v := range r.Violations {
			ids = append(ids, v.Property)
		}
		if got := scenario.Violates(ids...); got != e.Verdict {
			t.Errorf("%s: %s, stored was %s", file, got, e.Verdict)
		}
		if e.Name() != filepath.Base(file) {
			t.Errorf("%s: expected the name %s", file, e.Name())
		}
		found[e.Found] = true
	}
	for _, bug := range own(t) {
		if !found[bug.Properties[0]+" "+string(bug.ID)] {
			t.Errorf("no stored run shows %s: simdev shrink --bug %[1]s --property %s --out DIR %s writes one", bug.ID, bug.Properties[0], bug.Scenario)
		}
	}
}

// TestBuiltinScenarios checks that no built-in scenario violates a self-check, whatever the faults.
func TestBuiltinScenarios(t *testing.T) {
	full, err := scenario.NamedFaults("full")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sample.Of(scenario.Builtin(), 4) {
		for _, over := range []scenario.Overrides{{}, {Faults: &full}} {
			for seed := uint64(1); seed <= 2; seed++ {
				parsed, err := scenario.Parse(s.File, s.Text)
				if err != nil {
					t.Fatal(err)
				}
				p, err := parsed.Expand(seed, over)
				if err != nil {
					t.Fatal(err)
				}
				var cfg cluster.Config
				durosim.Run{Monitor: selfcheck.Watch}.Configure(&cfg, properties.Options{Properties: []string{}})
				cfg.Plan, cfg.Seed = p, seed
				r, err := cluster.Run(cfg)
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range r.Violations {
					t.Errorf("%s, seed %d: %s: %s", s.Name, seed, v.Property, v.Message)
				}
			}
		}
	}
}
