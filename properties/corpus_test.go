package properties_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
	"github.com/durosim/durosim/sim/scenario"
)

// additions are changes to a plan that must not affect the rest of its run. Each of them causes draws that the stored
// run did not have.
var additions = []struct {
	name string
	add  func(p *plan.Plan)
}{
	{"an instance that nobody admits", func(p *plan.Plan) {
		pin := engine.V(99, 0, 0)
		// No client sends anything to the added instance, so no planted bug can confuse it with other work, and it
		// counts towards no bound. Its waits cannot be read, so clients do not send it anything during recovery,
		// either.
		h := plan.History{Instance: "added", Pin: &pin, Shape: plan.ShapeCorrupt, KickAt: 1000 * time.Hour}
		p.Histories = append(slices.Clone(p.Histories), h)
	}},
	{"a probe with an empty filter", func(p *plan.Plan) {
		p.Probes = append(slices.Clone(p.Probes), plan.Probe{
			Name: "added", Build: "1.5.0", Filter: "none", Every: 700 * time.Millisecond, Count: 3,
			Does: []plan.Act{plan.ActAbandon, plan.ActRenew}, Holds: plan.Holds(),
		})
	}},
	{"a fault that never happens", func(p *plan.Plan) {
		has := func(k faults.Kind) bool {
			return slices.ContainsFunc(p.Faults.Rates, func(r faults.Rate) bool { return r.Kind == k })
		}
		p.Faults.Rates = slices.Clone(p.Faults.Rates)
		for _, k := range faults.Kinds() {
			if !has(k.Kind) && !excuses(k.Kind) {
				p.Faults.Rates = append(p.Faults.Rates, faults.Rate{Kind: k.Kind, Num: 1, Den: 1 << 60})
			}
		}
	}},
}

// excuses reports whether a fault kind excuses a violation just by being in a plan. Adding such a fault would change
// the result.
func excuses(k faults.Kind) bool {
	return k == faults.ActivityPanic || k == faults.CorruptEvent || k == faults.CorruptMessage
}

// TestCorpusSurvivesAdditions replays each stored run with an unrelated addition. The run must still show its
// violation. Choices are keyed by what they are about, so the recorded choices still apply to the rest of the run.
func TestCorpusSurvivesAdditions(t *testing.T) {
	files, err := filepath.Glob("../testdata/seeds/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stored runs: %v", err)
	}
	for _, file := range sample.Of(files, 24) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data := sample.Must(os.ReadFile(file))(t)
			entry := sample.Must(scenario.ParseEntry(file, data))(t)
			faultPhase := faultPhaseOf(t, entry)
			for _, a := range additions {
				plan := *entry.Plan
				plan.FaultPhase = faultPhase // the addition must not make the stored run longer
				a.add(&plan)
				found, _, _ := strings.Cut(entry.Found, " ")
				if entry.Verdict == scenario.VerdictHolds { // this run found a mistake that has been fixed
					found = entry.Verdict
				}
				if got := verdictOf(entryRun(t, entry, &plan)); !slices.Contains(strings.Fields(got), found) {
					t.Errorf("with %s: %s, stored was %s (%s)", a.name, got, entry.Verdict, entry.Found)
				}
			}
		})
	}
}

// faultPhaseOf returns how long the fault phase lasts in an entry's stored run.
func faultPhaseOf(t *testing.T, e *scenario.Entry) time.Duration {
	t.Helper()
	m := &recoveryMonitor{}
	entryRun(t, e, e.Plan, m)
	return m.after
}

// recoveryMonitor records when recovery begins.
type recoveryMonitor struct {
	cluster.Monitor
	after time.Duration
	w     *cluster.World
}

// WatchHandle implements cluster.HandleWatcher by forwarding to the monitor if it can.
func (m *recoveryMonitor) WatchHandle(p engine.Provider, codec engine.Codec) engine.Provider {
	return cluster.WatchHandle(m.Monitor, p, codec)
}

func (m *recoveryMonitor) Record(r *cluster.Record) {
	if r.Kind == record.PhaseBegan && r.Phase == cluster.PhaseRecovery {
		m.after = time.Duration(m.w.NowMs()-m.w.StartMs()) * time.Millisecond
	}
	m.Monitor.Record(r)
}

// entryRun runs a plan with an entry's choices. around may contain one monitor, which wraps the properties.
func entryRun(t *testing.T, e *scenario.Entry, plan *plan.Plan, around ...*recoveryMonitor) *cluster.Result {
	t.Helper()
	chooser := sample.Must(e.NewChooser())(t)
	return sample.Must(cluster.Run(cluster.Config{Plan: plan, Seed: e.Seed, Chooser: chooser, Monitor: func(w *cluster.World) cluster.Monitor {
		m := properties.New(w, properties.Options{Expectations: e.Expect})
		for _, a := range around {
			a.Monitor, a.w = m, w
			return a
		}
		return m
	}}))(t)
}

func verdictOf(r *cluster.Result) string {
	var ids []string
	for _, v := range r.Violations {
		ids = append(ids, v.Property)
	}
	return scenario.Violates(ids...)
}
