package fuzz_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/cmd/simrun/internal/fuzz"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/workload"
)

func TestMain(m *testing.M) { sample.Main(m) }

// operators is a scenario like one that an operator would write.
const operators = `# Three nodes are upgraded one by one, under load.
nodes A B C run 1.5.0
faults light
load 12 instances over 15s
  mix 3 Chain with 2..5
  mix 2 ProcessOrder
    raise approval topic orders data yes after 1s..4s
  mix 1 Cancellable
    cancel because enough after 2s..6s
  mix 2 Parent
at 4s..8s upgrade A to 2.0.0
after 2s..4s upgrade B to 2.0.0
`

// hunting returns the options for a hunt near that scenario, with planted bugs.
func hunting(t *testing.T, bugs ...faults.BugID) fuzz.Options {
	t.Helper()
	s := sample.Must(scenario.Parse("operators.txt", []byte(operators)))(t)
	space := workload.EditSpace()
	space.Builds = []string{"1.5.0", "2.0.0"}
	return fuzz.Options{
		Plain:  func(seed uint64) (*plan.Plan, error) { return s.Expand(seed, scenario.Overrides{Bugs: bugs}) },
		Config: func() cluster.Config { return cluster.Config{Monitor: contract} },
		Shrink: func(failing durosim.Concrete, v cluster.Violation) (*durosim.Shrunk, error) {
			return durosim.Shrink(failing, durosim.ShrinkOptions{Property: v.Property, MaxRuns: 20})
		},
		Space: space, Seed: 1, Workers: 2,
	}
}

func contract(w *cluster.World) cluster.Monitor {
	return properties.New(w, properties.Options{Without: []string{"outcome", "L11"}})
}

func run(t *testing.T, o fuzz.Options) *fuzz.Report {
	t.Helper()
	return sample.Must(fuzz.Run(o))(t)
}

// tell formats a report so that reports can be compared.
func tell(r *fuzz.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d runs, %d failed, %d kept, %d features\n", r.Runs, r.Failed, r.Kept, r.Features)
	for _, f := range r.Finds {
		fmt.Fprintf(&b, "at %d (%d) by %s: %s %v\n", f.AtRun, f.Runs, f.Input.Way, f.Violation.Rule(), f.Cause)
		if f.Small != nil {
			fmt.Fprintf(&b, "%s\n", f.Small.Result.Digest)
		}
	}
	return b.String()
}

// TestHuntRepeats checks that a hunt depends only on its options, and not on the number of workers.
func TestHuntRepeats(t *testing.T) {
	o := hunting(t, "provider/ack-partial")
	o.Runs = sample.Number(32, 64)
	first := tell(run(t, o))
	o.Workers = 1
	if diff := cmp.Diff(first, tell(run(t, o))); diff != "" {
		t.Errorf("-two workers +one worker:\n%s", diff)
	}
	o.Seed = 2
	if tell(run(t, o)) == first {
		t.Error("another seed hunts in the same way")
	}
}

// TestInputsAreRecipes checks that each input that joins the population can be stored, and that the stored run shows
// the same features. This includes inputs that take a different path after a rare moment.
func TestInputsAreRecipes(t *testing.T) {
	o := hunting(t)
	o.Runs = sample.Number(64, 192)
	wanted := []string{"a plain plan", "an edited plan", "another future"}
	ways := map[string]int{}
	o.OnNew = func(in fuzz.Input, _ []string) {
		way, _, _ := strings.Cut(in.Way, " of ")
		ways[way]++
		if ways[way] > 3 {
			return
		}
		e := sample.Must(scenario.ParseEntry("entry.txt", in.Entry("").Format()))(t)
		if diff := cmp.Diff(digest(t, in), digest(t, fuzz.FromEntry(e))); diff != "" {
			t.Errorf("%s, seed %d, chooser %s: -input +stored\n%s", in.Way, in.Seed, in.Chooser, diff)
		}
	}
	missing := func(way string) bool { return ways[way] == 0 }
	for o.Seed = 1; o.Seed <= 8 && slices.ContainsFunc(wanted, missing); o.Seed++ {
		run(t, o)
	}
	for _, way := range wanted {
		if missing(way) {
			t.Errorf("no input of the population is %s: %v", way, ways)
		}
	}
}

func digest(t *testing.T, in fuzz.Input) string {
	t.Helper()
	e := in.Entry("")
	chooser := sample.Must(e.NewChooser())(t)
	r := sample.Must(cluster.Run(cluster.Config{Plan: e.Plan, Seed: e.Seed, Chooser: chooser}))(t)
	return r.Digest.String()
}

// TestFindsAreKeptApart checks that two bugs at once give two finds, and that many failing runs with the same bug give
// one.
func TestFindsAreKeptApart(t *testing.T) {
	o := hunting(t, "provider/ack-partial", "provider/filter-after-lock")
	o.Runs = sample.Number(128, 384)
	r := run(t, o)
	rules := map[string]bool{}
	for _, f := range r.Finds {
		rules[f.Violation.Property] = true
	}
	if !rules["S01"] || !rules["S06"] {
		t.Errorf("the finds are\n%s", tell(r))
	}
	if n := uint64(len(r.Finds)); 20*n > r.Failed {
		t.Errorf("%d finds of %d failing runs:\n%s", n, r.Failed, tell(r))
	}
}

// TestCausesAreKeptApart checks that two bugs that violate the same rule are two finds, because their smallest plans
// have different parts. No two finds may be equal. It runs only with DUROSIM_LONG.
func TestCausesAreKeptApart(t *testing.T) {
	if !sample.All() {
		return
	}
	o := hunting(t, "provider/ack-partial", "provider/cancel-spares-held-work")
	o.Runs = 160
	apart := false
	for o.Seed = 2; o.Seed <= 9 && !apart; o.Seed++ { // the first one is enough
		causes, all := map[string]bool{}, map[string]bool{}
		for _, f := range run(t, o).Finds {
			cause := strings.Join(f.Cause, ", ")
			if f.Violation.Rule() == "S06" {
				causes[cause] = true
			}
			if key := f.Violation.Rule() + ": " + cause; all[key] {
				t.Errorf("two finds of seed %d are %s", o.Seed, key)
			} else {
				all[key] = true
			}
		}
		apart = len(causes) > 1
	}
	if !apart {
		t.Error("S06 has one cause with every seed")
	}
}

// TestHuntKeepsLimits checks that edits respect the scenario's limits.
func TestHuntKeepsLimits(t *testing.T) {
	o := hunting(t)
	o.Runs = sample.Number(32, 64)
	o.Space.Nodes, o.Space.Instances, o.Space.Steps, o.Space.NoPrograms = 3, 13, 3, true
	o.OnNew = func(in fuzz.Input, _ []string) {
		p := in.Plan
		if len(p.Nodes) > 3 || len(p.Instances)+len(p.Histories) > 13 || len(p.Schedule) > 3 || len(p.Programs) > 0 {
			t.Errorf("%d nodes, %d instances, %d histories, %d steps, %d programs", len(p.Nodes), len(p.Instances), len(p.Histories), len(p.Schedule), len(p.Programs))
		}
	}
	run(t, o)
}

func TestHuntRefuses(t *testing.T) {
	o := hunting(t)
	if _, err := fuzz.Run(o); err == nil || !strings.Contains(err.Error(), "when does it end") {
		t.Errorf("without an end: %v", err)
	}
	o.Runs, o.Space = 1, &plan.EditSpace{}
	if _, err := fuzz.Run(o); err == nil || !strings.Contains(err.Error(), "no builds") {
		t.Errorf("without builds: %v", err)
	}
	o = hunting(t, "no/such-bug")
	o.Runs = 1
	if _, err := fuzz.Run(o); err == nil || !strings.Contains(err.Error(), "no/such-bug") {
		t.Errorf("with an unknown bug: %v", err)
	}
}
