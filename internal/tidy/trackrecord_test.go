package tidy

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim/scenario"
)

func init() { generated["incidents"] = incidents }

// incident is a row of docs/contract/incidents.md.
type incident struct{ id, symptom, expressed, missing string }

var incidentRow = regexp.MustCompile(`^\| <a id="\w+"></a>(\w+) \|`)

// incidentRows are the public defects of the modelled system, in the order of the page.
func incidentRows() []incident {
	var rows []incident
	data, err := os.ReadFile(filepath.Join(root, "docs/contract/incidents.md"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		m := incidentRow.FindStringSubmatch(line)
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if m == nil || len(cells) < 6 || strings.HasPrefix(m[1], "T") {
			continue
		}
		rows = append(rows, incident{m[1], strings.TrimSpace(cells[2]), cells[len(cells)-2], strings.TrimSpace(cells[len(cells)-1])})
	}
	return rows
}

// bugsOf are the planted bugs that express an incident and that a property catches.
func (in incident) bugsOf() []faults.Bug {
	var out []faults.Bug
	for _, m := range bugPattern.FindAllStringSubmatch(in.expressed, -1) {
		if b, ok := faults.Lookup(faults.BugID(m[1])); ok && b.Caught() {
			out = append(out, b)
		}
	}
	return out
}

// incidents tells of each public defect which planted bug is it, what catches that and where its smallest plan is stored.
func incidents() string {
	entries, err := storedRuns()
	if err != nil {
		return err.Error() + "\n"
	}
	b := table("incident", "symptom", "planted bug", "caught by", "scenario", "smallest plan")
	var rest strings.Builder
	for _, in := range incidentRows() {
		link := fmt.Sprintf("[%s](contract/incidents.md#%s)", in.id, strings.ToLower(in.id))
		found := in.bugsOf()
		if len(found) == 0 {
			fmt.Fprintf(&rest, "- %s: %s.\n", link, strings.TrimSuffix(in.symptom, "."))
			continue
		}
		for _, bug := range found {
			stored := ""
			if i := slices.IndexFunc(entries, func(e *scenario.Entry) bool { return strings.HasSuffix(e.Found, " "+string(bug.ID)) }); i >= 0 {
				stored = fmt.Sprintf("[%s](../testdata/seeds/%s), seed %d", strings.TrimSuffix(entries[i].Name(), filepath.Ext(entries[i].Name()))[:8], entries[i].Name(), entries[i].Seed)
			}
			near := ""
			if strings.Contains(in.expressed, "near") || strings.Contains(in.expressed, "part of") {
				near = " (a relative)"
			}
			b.row(link, in.symptom, "`"+string(bug.ID)+"`"+near, strings.Join(bug.Properties, ", "), "`"+bug.Scenario+"`", stored)
		}
	}
	return b.String() + "\nNot expressed, or not caught; the page of incidents says what is missing:\n\n" + rest.String()
}

// TestTrackRecord: what the page counts is what the table of bugs expresses.
func TestTrackRecord(t *testing.T) {
	rows := incidentRows()
	caught := 0
	for _, in := range rows {
		if len(in.bugsOf()) > 0 {
			caught++
		}
	}
	if len(rows) < 55 || caught < 30 {
		t.Errorf("%d incidents, %d of them caught: expected 55 and 30 at least", len(rows), caught)
	}
}
