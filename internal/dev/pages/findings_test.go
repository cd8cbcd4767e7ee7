package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim/scenario"
)

func init() {
	generated["findings"], generated["unseen"] = findings, unseen
}

// sourceLinks links to the place in docs/contract that describes a bug. The links are relative to docs/.
func sourceLinks(bug faults.Bug) string {
	page, anchors, ok := strings.Cut(bug.Source, "#")
	if !ok {
		return ""
	}
	page = strings.TrimPrefix(page, "docs/")
	var links []string
	for anchor := range strings.SplitSeq(anchors, " and #") {
		links = append(links, fmt.Sprintf("[%s](%s#%[1]s)", anchor, page))
	}
	return " (" + strings.Join(links, ", ") + ")"
}

// findings describes each of the profile's switches that a campaign catches. It takes the claim from the catalogue and
// the evidence from the switch's stored run; the tests of the stored runs make sure that a replay still gives this
// verdict.
func findings() string {
	entries, err := storedRuns()
	if err != nil {
		return err.Error() + "\n"
	}
	b := table("switch", "what it means to a user", "seen by", "in 0.1.32")
	for _, bug := range switches() {
		run := "no stored run: `simrun shrink --bug " + string(bug.ID) + " --out testdata/seeds` writes one"
		i := slices.IndexFunc(entries, func(e *scenario.Entry) bool {
			return slices.ContainsFunc(bug.Properties, func(p string) bool { return e.Found == p+" "+string(bug.ID) })
		})
		if i >= 0 {
			run = fmt.Sprintf("[run](../testdata/seeds/%s)", entries[i].Name())
		}
		seen := fmt.Sprintf("%s in `%s`, %s", strings.Join(bug.Properties, ", "), bug.Scenario, run)
		for _, with := range bug.With {
			seen += ", with `" + string(with) + "`"
		}
		b.row("`"+switchName(bug)+"`"+sourceLinks(bug), bug.Consequence, seen, became(&bug))
	}
	return b.String()
}

// switches returns the switches of the profile that a campaign catches.
func switches() []faults.Bug {
	return slices.DeleteFunc(faults.Bugs(), func(b faults.Bug) bool {
		return !b.Caught() || !strings.HasPrefix(string(b.ID), faults.ProfileFamily)
	})
}

func switchName(bug faults.Bug) string {
	return strings.TrimPrefix(string(bug.ID), faults.ProfileFamily)
}

// became says what became of a switch: the report on it, the release that fixed it, or where it is.
func became(bug *faults.Bug) string {
	switch report := reportOn(switchName(*bug)); {
	case bug.ForOld:
		return "mended for executions that 0.1.31 or a newer release began"
	case bug.Mended != "":
		return "mended in " + bug.Mended
	case report != nil:
		return fmt.Sprintf("[report](reports/%s.md)", report.Name)
	}
	return "`" + bug.Place32 + "`"
}

// unseen lists the switches that no property catches, with reasons.
func unseen() string {
	var b strings.Builder
	for _, bug := range faults.Bugs() {
		if bug.Unseen == "" {
			continue
		}
		fmt.Fprintf(&b, "- `%s`†: %s%s. Unseen, since %s; %s.\n", bug.ID, bug.Summary, sourceLinks(bug), bug.Unseen, became(&bug))
	}
	return b.String()
}

// storedRuns returns the corpus entries, sorted by name.
func storedRuns() ([]*scenario.Entry, error) {
	files, err := filepath.Glob(filepath.Join(root, "testdata/seeds/*.txt"))
	if err != nil {
		return nil, err
	}
	var entries []*scenario.Entry
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		e, err := scenario.ParseEntry(file, data)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// TestEnoughFindings checks that the profile has enough findings.
func TestEnoughFindings(t *testing.T) {
	const least = 20
	if n := strings.Count(findings(), "[run]("); n < least {
		t.Errorf("%d switches of the profile have a stored run, expected %d at least", n, least)
	}
}
