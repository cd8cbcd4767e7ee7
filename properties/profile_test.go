package properties_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/shrink"
)

func profileRun(t *testing.T, name string, seed uint64, p plan.Profile, record *sim.Recording) (*plan.Plan, *cluster.Result) {
	t.Helper()
	cfg := config(t, lookup(t, name), seed, scenario.Overrides{Profile: p}, properties.Options{})
	cfg.Recording = record
	return cfg.Plan, run(t, cfg)
}

// TestProfile checks that 0.1.26 violates something that the contract guarantees, and that a shrunk run names the one
// switch that it needs.
func TestProfile(t *testing.T) {
	if _, r := profileRun(t, "corners", 2, plan.ProfileContract, nil); len(r.Violations) > 0 {
		t.Errorf("the contract profile: %v", r.Violations)
	}
	record := &sim.Recording{}
	pl, r := profileRun(t, "corners", 2, plan.ProfileDuroxide, record)
	violated := slices.ContainsFunc(r.Violations, func(v cluster.Violation) bool { return v.Property == "S11" })
	if !violated {
		t.Fatalf("the profile of 0.1.26: %v, expected a violation of S11", r.Violations)
	}
	small := sample.Must(durosim.Shrink(shrink.Concrete{Plan: pl, Choices: record}, durosim.ShrinkOptions{Property: "S11", MaxRuns: 400}))(t)
	if p := small.Plan; p.Profile != plan.ProfileContract || len(p.Bugs) != 1 || !strings.HasPrefix(string(p.Bugs[0]), faults.ProfileFamily) {
		t.Errorf("shrunk to profile %s with %v, expected one switch", p.Profile, p.Bugs)
	}
}

// stillShownBy lists fixed mistakes whose stored run also shows a second mistake that is not fixed: prunes depend on
// the age of keys, and only the contract passes on what a dropped dequeue frees.
var stillShownBy = map[faults.BugID]faults.BugID{
	"duroxide-0.1.26/prune-unordered":       "duroxide-0.1.26/kv-stamp-fresh",
	"duroxide-0.1.26/dropped-dequeue-early": "engine/dropped-wait-discards",
}

// still returns the switches for what release 0.1.32 does to executions that it began. It leaves out one given switch,
// and those that can be reached only with another bug.
func still(but faults.BugID) (ids []faults.BugID) {
	for _, b := range faults.Profile("duroxide-0.1.32") {
		if b.ID != but && !b.ForOld && len(b.With) == 0 {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// TestFindingsNeedTheirSwitch checks that a switch's stored run passes without the switch. If release 0.1.32 has fixed
// the mistake, the run must also pass with everything that this release still does wrong.
func TestFindingsNeedTheirSwitch(t *testing.T) {
	files := sample.Must(filepath.Glob("../testdata/seeds/*.txt"))(t)
	n, mended := 0, 0
	for _, file := range files {
		data := sample.Must(os.ReadFile(file))(t)
		e := sample.Must(scenario.ParseEntry(file, data))(t)
		found, id, _ := strings.Cut(e.Found, " ")
		bug, ok := faults.Lookup(faults.BugID(id))
		if !ok || !strings.HasPrefix(id, faults.ProfileFamily) {
			continue
		}
		n++
		plan := *e.Plan
		plan.Bugs = nil
		if got := verdictOf(entryRun(t, e, &plan)); slices.Contains(strings.Fields(got), found) {
			t.Errorf("%s, found by %s: %s without the switch, too", filepath.Base(file), e.Found, got)
		}
		if bug.Mended == "" {
			continue
		}
		mended++
		plan.Profile, plan.Bugs = "duroxide-0.1.32", nil
		if other := stillShownBy[bug.ID]; other != "" {
			plan.Profile, plan.Bugs = "", still(other)
		}
		if got := verdictOf(entryRun(t, e, &plan)); slices.Contains(strings.Fields(got), found) {
			t.Errorf("%s, found by %s, which 0.1.32 has mended: %s in the model of that release", filepath.Base(file), e.Found, got)
		}
	}
	if n == 0 || mended < 13 {
		t.Errorf("%d stored runs of a switch, %d of one that is mended: want 13 of these", n, mended)
	}
}
