package properties_test

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// neededSeeds is how many seeds are run, starting at the first failing one. In none of them may another property detect
// the bug.
func neededSeeds() uint64 { return sample.Number(1, 8) }

// needed names, for each property, a planted bug that no other property detects, the scenario in which this is the
// case, and the first seed that fails. If other properties detect the bug in the built-in scenario, the entry has a
// scenario as text instead.
var needed = []struct {
	property string
	bug      faults.BugID
	scenario string
	seed     uint64
}{
	{"S01", "provider/filter-after-lock", "races", 1},
	{"S02", "provider/decode-before-filter", "rolling-upgrade", 1},
	{"S03", "provider/empty-filter-admits-unpinned", "rolling-upgrade", 3},
	{"S04", "provider/decrement-below-zero", "two-ranges", 1},
	{"S05", "provider/expiry-not-checked", "lost-locks", 1},
	{"S06", "provider/pin-write-once", "probes", 2},
	{"S07", "provider/ack-reads-history", "rolling-upgrade", 1},
	{"S08", "engine/poisons-terminal", "missing-handlers", 10},
	{"S09", "engine/pins-every-turn", "rolling-upgrade", 1},
	{"S10", "engine/version-check-missing", "races", 1},
	{"S11", "engine/select-winner-not-replayed", "races", 1},
	{"S12", "provider/orphan-dropped-while-start-queued", "probes", 1},
	{"S13", "engine/completion-to-oldest-schedule", "rolling-upgrade", 1},
	{"S14", "provider/delete-takes-running", "retention", 1},
	{"S15", "provider/timer-visible-at-once", "rolling-upgrade", 1},
	{"S16", "provider/session-owner-ignored", "features", 1},
	{"S17", "provider/custom-status-version-per-event", "features", 1},
	{"S18", "provider/undecodable-event-skipped", "probes", 4},
	{"S19", "engine/lock-not-renewed", "slow-work", 1},
	{"S20", "engine/activity-inputs-crossed", "programs", 2},
	{"S21", "engine/phantom-of-next-execution", "races", 1},
	{"S22", "provider/orphan-kept", "probes", 1},
	{"S23", "engine/writes-newer-kind", "rolling-upgrade", 2},
	{"S24", "engine/open-waits-unrecorded", "rolling-upgrade", 1},
	{"S25", "provider/lease-from-arrival", "store serial 100ms\nnode A runs 1.5.0\ninstance chain-1 runs Chain with 2\n", 1},
	{"S26", "provider/stats-skip-undecodable", "lookers", 1},
	{"S27", "engine/bounce-without-backoff", "bounce", 1},
	{"S28", "duroxide-0.1.26/worker-ack-not-retried", "refused-acks", 1},
	{"S29", "engine/code-output-changed", "code-changed", 1},
	{"L13", "engine/sweep-never-ends", "strategy sweeper\nnode A runs 1.5.0\nhistory h pinned 9.9.9 shape waiting kick at 1s\n", 1},
	{"L01", "engine/count-ignored", "until 10s\nnode A runs 1.5.0\n  option max_attempts 2\nhistory broken pinned 1.5.0 shape corrupt\n", 1},
	{"L02", "duroxide-0.1.26/poison-cancels-nothing", "orphans", 1},
	{"L03", "engine/filter-not-declared", "nobody-compatible", 1},
	{"L04", "engine/history-error-ignores-attempt", "nobody-compatible", 1},
	{"L05", "engine/poison-off-by-one", "mixed-crashes", 1},
	{"L06", "engine/can-parent-lost", "families", 1},
	{"L08", "engine/pause-too-long", outageOf(
		"instance held runs Chain with 2 at 8100ms", "probe deserter reads 1.5.0 filter any does leave locks 1500ms from 8200ms",
	), 1},
	{"L09", "engine/pause-too-long", outageOf("history idle pinned 1.5.0 shape waiting kick at 8500ms"), 1},
	{"L10", "engine/cancel-ignored", "rolling-upgrade", 1},
	{"L11", "engine/tag-in-capitals", "features", 1},
	{"L12", "engine/poison-handed-back", "until 1m\nnode A runs 1.5.0\n  option max_attempts 1\nhistory broken pinned 1.5.0 shape corrupt\n", 1},
	{"outcome", "duroxide-0.1.26/pending-dequeue-reads", "corners", 1},
}

// outageOf returns the scenario outage with different work.
func outageOf(work ...string) string {
	return "turbulence 10s\nfault retryable-error 1 in 1 from 8s to 10s on A\nnode A runs 1.5.0\n  option orchestration_concurrency 1\n" + strings.Join(work, "\n") + "\n"
}

// without lists the properties that are turned off while the given property is tested. S24 judges whole turns and S28
// whole nodes, so they detect at once much of what others find later in the store. Both are turned off in every case.
// So is outcome, because almost every bug loses some work.
func without(property string) []string {
	if property == "S24" || property == "S28" {
		return []string{property, "outcome"}
	}
	return []string{property, "S24", "S28", "outcome"}
}

// TestEachCheckerIsNeeded checks that each property, except S24, S28 and outcome, has a bug that no other property
// detects. Without the property's checker, all runs pass; with it, one fails.
func TestEachCheckerIsNeeded(t *testing.T) {
	rows := map[string]int{} // never iterated over, so map order does not matter
	for i, row := range needed {
		rows[row.property] = i + 1
		t.Run(row.property, func(t *testing.T) {
			t.Parallel()
			s := neededScenario(t, row.scenario)
			if !seen(watched(t, s, row.seed, row.bug, properties.Options{}), row.property) {
				t.Errorf("seed %d with %s does not violate %s", row.seed, row.bug, row.property)
			}
			for seed := row.seed; seed < row.seed+neededSeeds(); seed++ {
				for _, v := range watched(t, s, seed, row.bug, properties.Options{Without: without(row.property)}) {
					t.Errorf("seed %d with %s, with %s silent: %s sees it, too: %s", seed, row.bug, row.property, v.Property, v.Message)
				}
			}
		})
	}
	for _, p := range properties.Catalogue() {
		if rows[p.ID] == 0 {
			t.Errorf("nothing shows that %s is needed: find a bug that only it sees", p)
		}
	}
}

func neededScenario(t *testing.T, text string) *scenario.Scenario {
	t.Helper()
	if !strings.Contains(text, "\n") {
		s, err := scenario.Lookup(text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s, err := scenario.Parse("needed.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func watched(t *testing.T, s *scenario.Scenario, seed uint64, bug faults.BugID, o properties.Options) []cluster.Violation {
	t.Helper()
	plan, err := s.Expand(seed, scenario.Overrides{Bugs: []faults.BugID{bug}})
	if err != nil {
		t.Fatal(err)
	}
	result, err := cluster.Run(cluster.Config{Plan: plan, Seed: seed, Monitor: func(w *cluster.World) cluster.Monitor { return properties.New(w, o) }})
	if err != nil {
		t.Fatal(err)
	}
	return result.Violations
}

func seen(all []cluster.Violation, property string) bool {
	for _, v := range all {
		if v.Property == property {
			return true
		}
	}
	return false
}
