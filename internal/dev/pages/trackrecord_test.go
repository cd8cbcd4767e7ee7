package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/dev/selfcheck"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

func init() { generated["incidents"] = incidents }

// incident is a row in docs/contract/incidents.md.
type incident struct{ id, expressed string }

var incidentRow = regexp.MustCompile(`^\| <a id="\w+"></a>(\w+) \|`)

// cousin reports whether the incident concerns a sister system.
func (in incident) cousin() bool { return strings.HasPrefix(in.id, "T") }

// incidentRows returns the public defects of the modelled system, followed by those of its sister systems, in the order
// of the page.
func incidentRows() []incident {
	var rows []incident
	data, err := os.ReadFile(filepath.Join(root, "docs/contract/incidents.md"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		m := incidentRow.FindStringSubmatch(line)
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		switch {
		case m == nil:
			continue
		case len(cells) == 4: // a row for a sister system
			rows = append(rows, incident{m[1], cells[3]})
			continue
		}
		rows = append(rows, incident{m[1], cells[len(cells)-2]})
	}
	return rows
}

// bugsOf returns the planted bugs that represent an incident and that some property catches.
func (in incident) bugsOf() []faults.Bug {
	var out []faults.Bug
	for _, m := range bugPattern.FindAllStringSubmatch(in.expressed, -1) {
		if b, ok := faults.Lookup(faults.BugID(m[1])); ok && b.Caught() {
			out = append(out, b)
		}
	}
	return out
}

// incidents counts the public defects that a planted bug represents, and names the others.
func incidents() string {
	var out strings.Builder
	for _, cousins := range []bool{false, true} {
		caught := 0
		var rest []string
		for _, in := range incidentRows() {
			switch {
			case in.cousin() != cousins:
			case len(in.bugsOf()) > 0:
				caught++
			default:
				rest = append(rest, fmt.Sprintf("[%s](contract/incidents.md#%s)", in.id, strings.ToLower(in.id)))
			}
		}
		of := "the modelled system"
		if cousins {
			of = "systems like it"
		}
		fmt.Fprintf(&out, "Of %d incidents of %s, %d are expressed by a planted bug and caught. The rows of the others say why they are not: %s.\n\n",
			caught+len(rest), of, caught, strings.Join(rest, ", "))
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// TestTrackRecord checks that each incident that the page claims is caught really is. Within 200 seeds of the scenario
// named for its bug, the bug must violate one of the properties named for it.
func TestTrackRecord(t *testing.T) {
	caught, cousins := 0, 0
	var rows []incident
	for _, in := range incidentRows() {
		switch {
		case len(in.bugsOf()) == 0:
			continue
		case in.cousin():
			cousins++
		default:
			caught++
		}
		rows = append(rows, in)
	}
	if caught < 50 || cousins < 10 {
		t.Errorf("%d incidents and %d of sister systems are caught: the page has lost some", caught, cousins)
	}
	for _, in := range sample.Of(rows, 6) {
		t.Run(in.id, func(t *testing.T) {
			for _, bug := range in.bugsOf() {
				if seed := firstSeed(t, bug); seed == 0 {
					t.Errorf("%s breaks none of %v in 200 seeds of %s", bug.ID, bug.Properties, bug.Scenario)
				}
			}
		})
	}
}

// firstSeed returns the first seed of the bug's scenario that violates one of the bug's properties, or 0 if none of 200
// seeds does.
func firstSeed(t *testing.T, bug faults.Bug) uint64 {
	t.Helper()
	s, err := scenario.Lookup(bug.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	return seedThatBreaks(t, s, 200, []faults.BugID{bug.ID}, bug.Properties...)
}

// seedThatBreaks returns the first of that many seeds that violates one of the properties, or 0 if none does.
func seedThatBreaks(t *testing.T, s *scenario.Scenario, seeds uint64, bugs []faults.BugID, broken ...string) uint64 {
	t.Helper()
	for seed := uint64(1); seed <= seeds; seed++ {
		plan, err := s.Expand(seed, scenario.Overrides{Bugs: bugs})
		if err != nil {
			t.Fatal(err)
		}
		cfg := cluster.Config{Plan: plan, Seed: seed}
		durosim.Run{Monitor: selfcheck.Watch}.Configure(&cfg, properties.Options{})
		result, err := cluster.Run(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(result.Violations, func(v cluster.Violation) bool { return slices.Contains(broken, v.Property) }) {
			return seed
		}
	}
	return 0
}
