package realnode_test

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// finding is a switch that, according to docs/reports, has an effect on a released runtime.
type finding struct {
	id   string
	seed uint64
	rule string // the id of a property, or an expectation
}

// unlisted contains the findings that are not switches of a profile.
var unlisted = []string{"key-read-not-retried", "refused-in-batch-untold", "queue-race-replayed", "stale-child-result"}

var findingLine = regexp.MustCompile(`"simrun replay --seed ([0-9]+) real-([a-z-]+)\|((?:[^"\\]|\\.)+)"`)

// findings returns the findings that the reports show on released runtimes.
func findings(t *testing.T) []finding {
	t.Helper()
	page := sample.Must(os.ReadFile("../../docs/reports/reports.toml"))(t)
	var all []finding
	for _, m := range findingLine.FindAllStringSubmatch(string(page), -1) {
		seed := sample.Must(strconv.ParseUint(m[1], 10, 64))(t)
		all = append(all, finding{m[2], seed, strings.ReplaceAll(m[3], `\"`, `"`)})
	}
	return all
}

// TestReleasedStoredRun checks that the failure that docs/real-nodes.md traces to its cause still occurs, step by step.
func TestReleasedStoredRun(t *testing.T) {
	releases := hosts(t)
	const file = "testdata/can-parent-lost.txt"
	text := sample.Must(os.ReadFile(file))(t)
	entry := sample.Must(scenario.ParseEntry(file, text))(t)
	monitor := func(w *cluster.World) cluster.Monitor { return properties.New(w, properties.Options{}) }
	result := sample.Must(cluster.Run(cluster.Config{Plan: entry.Plan, Seed: entry.Seed, Chooser: sim.Replay(entry.Recording), Releases: releases, Monitor: monitor}))(t)
	if !violates(result, "L06") || result.Digest.String() != entry.Digest {
		t.Errorf("%v, digest %s; want L06 and %s", result.Violations, result.Digest, entry.Digest)
	}
}

func violates(result *cluster.Result, rule string) bool {
	return slices.ContainsFunc(result.Violations, func(v cluster.Violation) bool { return v.Rule() == rule })
}

// TestReleasedFindings checks that the effects that docs/reports has for released runtimes can still be seen.
func TestReleasedFindings(t *testing.T) {
	releases := hosts(t)
	for _, f := range findings(t) {
		t.Run(f.id, func(t *testing.T) {
			result := sample.Must(runScenario(released(t, f.id, "as it is"), f.seed, releases))(t)
			if !violates(result, f.rule) {
				t.Errorf("seed %d violates %v, want %s", f.seed, result.Violations, f.rule)
			}
		})
	}
}

// released returns the built-in scenario for a switch. how is "as it is" or "modelled", which replaces the released
// builds with modelled ones.
func released(t *testing.T, id, how string) *scenario.Scenario {
	t.Helper()
	as := strings.NewReplacer()
	if how == "modelled" {
		as = strings.NewReplacer("duroxide 0.1.26", "1.5.0", "duroxide 0.1.32", "2.0.0", "0.1.30", "2.0.0", "0.1.32", "2.0.0")
	}
	return parseAs(t, id, as)
}

// parseAs returns the built-in scenario for a switch with its builds replaced.
func parseAs(t *testing.T, id string, as *strings.Replacer) *scenario.Scenario {
	t.Helper()
	name := "real-" + id
	i := slices.IndexFunc(scenario.Released(), func(n scenario.Named) bool { return n.Name == name })
	if i < 0 {
		t.Fatalf("there is no scenario %s", name)
	}
	return sample.Must(scenario.Parse(name+".txt", []byte(as.Replace(string(scenario.Released()[i].Text)))))(t)
}

// TestFindingsOnModels checks that a plan that shows a finding on a released runtime also shows it on modelled nodes
// with the corresponding switch, and holds on nodes that keep the contract. Model and reality then agree on what is
// wrong.
func TestFindingsOnModels(t *testing.T) {
	const seeds = 12
	for _, f := range append(findings(t), mended...) {
		t.Run(f.id, func(t *testing.T) {
			bugs := []faults.BugID{faults.BugID("duroxide-0.1.26/" + f.id)}
			_, isSwitch := faults.Lookup(bugs[0])
			if slices.Contains(unlisted, f.id) == isSwitch {
				t.Fatalf("%s: it is a switch: %t", f.id, isSwitch)
			}
			most := uint64(seeds)
			if f.id == "turn-abandon-not-sent" { // only has an effect if the turn's failure is not stored either
				bugs, most = append(bugs, "duroxide-0.1.26/ack-failure-fails-orchestration"), 500
			}
			s := released(t, f.id, "modelled")
			seen := false
			for seed := uint64(1); seed <= most && !seen; seed++ {
				if seed <= seeds {
					if result := sample.Must(runScenario(s, seed, nil))(t); violates(result, f.rule) {
						t.Fatalf("seed %d: the contract's own model violates %s: %v", seed, f.rule, result.Violations)
					}
				}
				if !isSwitch {
					continue
				}
				seen = violates(sample.Must(runScenario(s, seed, nil, bugs...))(t), f.rule)
			}
			if !seen && isSwitch {
				t.Errorf("with the switch %d seeds do not violate %s", most, f.rule)
			}
		})
	}
}

// TestFindingsAreComplete checks that docs/findings.md has, for each of the switches that 0.1.32 still has, a report on the
// released runtime, or says that it is not shown.
func TestFindingsAreComplete(t *testing.T) {
	page := sample.Must(os.ReadFile("../../docs/findings.md"))(t)
	// Leave out mistakes that have been fixed for newer executions, and deliberate differences from the contract.
	bugs := slices.DeleteFunc(faults.Profile("duroxide-0.1.32"), func(b faults.Bug) bool {
		return b.Mended != "" || !strings.HasPrefix(string(b.ID), "duroxide-0.1.26/")
	})
	if len(bugs) != 27 {
		t.Errorf("0.1.32 has %d switches, and the page speaks of 27", len(bugs))
	}
	lines := strings.Split(string(page), "\n")
	for _, b := range bugs {
		_, id, _ := strings.Cut(string(b.ID), "/")
		if !slices.ContainsFunc(lines, func(l string) bool {
			return strings.Contains(l, id+"`") && (strings.Contains(l, "(reports/") || strings.Contains(l, "no report"))
		}) {
			t.Errorf("the page does not say what became of %s", id)
		}
	}
	if n := len(findings(t)); n < 16 {
		t.Errorf("%d are seen in a cluster, want at least 16", n)
	}
}
