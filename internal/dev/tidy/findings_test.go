package tidy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/scenario"
)

func init() {
	generated["findings"], generated["unseen"], generated["switches"] = findings, unseen, switches
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

// switches lists the profile's switches, with the properties that they violate.
func switches() string {
	b := table("switch", "what 0.1.26 does", "seen by", "scenario")
	for _, bug := range faults.Profile("duroxide-0.1.26") {
		if !bug.Caught() {
			b.row("`"+string(bug.ID)+"`†", bug.Summary+sourceLinks(bug), "", "")
			continue
		}
		b.row("`"+string(bug.ID)+"`", bug.Summary+sourceLinks(bug), strings.Join(bug.Properties, ", "), "`"+bug.Scenario+"`")
	}
	return b.String()
}

// findings describes each of the profile's switches that a campaign catches. It takes the claim from the catalogue and
// the evidence from the switch's stored run; the tests of the stored runs make sure that a replay still gives this
// verdict.
func findings() string {
	entries, err := storedRuns()
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	for _, bug := range faults.Bugs() {
		if !bug.Caught() || !strings.HasPrefix(string(bug.ID), faults.ProfileFamily) {
			continue
		}
		i := slices.IndexFunc(entries, func(e *scenario.Entry) bool {
			return slices.ContainsFunc(bug.Properties, func(p string) bool { return e.Found == p+" "+string(bug.ID) })
		})
		if i < 0 {
			fmt.Fprintf(&b, "### `%s`\n\nNo stored run: `simrun shrink --bug %[1]s --out testdata/seeds` writes one.\n\n", bug.ID)
			continue
		}
		e := entries[i]
		found, _, _ := strings.Cut(e.Found, " ")
		property, _ := properties.ByID(found)
		fmt.Fprintf(&b, "### `%s`\n\nWhat it does: %s%s.\n\n", bug.ID, bug.Summary, sourceLinks(bug))
		fmt.Fprintf(&b, "- **Property**: %s. %s\n", property, property.Statement)
		fmt.Fprintf(&b, "- **Consequence**: %s\n- **Fix**: %s\n- **Where**: `%s` of 0.1.26; %s.\n", bug.Consequence, bug.Fix, bug.Place, mended(&bug))
		for _, with := range bug.With {
			companion, _ := faults.Lookup(with)
			fmt.Fprintf(&b, "- **Shown with** `%s` (%s), without which nothing reaches the rule.\n", with, companion.Summary)
		}
		if command, ok := strings.CutPrefix(e.Note, "first shown by: "); ok {
			fmt.Fprintf(&b, "- **Seed**: %d: `%s`\n", e.Seed, command)
		}
		fmt.Fprintf(&b, "- **Minimal plan**: [%s](../testdata/seeds/%[1]s)\n\n```text\n", e.Name())
		text := durosim.Concrete{Plan: e.Plan, Choices: e.Recording, Expect: e.Expect}.Text()
		for line := range strings.Lines(strings.Trim(text, "\n") + "\n") {
			b.WriteString(strings.TrimRight(line, "\n") + "\n")
		}
		b.WriteString("```\n\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// mended names the release that fixed a switch.
func mended(bug *faults.Bug) string {
	switch {
	case bug.Mended == "":
		return "0.1.32 still does it, at `" + bug.Place32 + "`"
	case bug.ForOld:
		return "mended in " + bug.Mended + " for executions that 0.1.31 or a newer release began, and still so for older ones, at `" + bug.Place32 + "`"
	}
	return "mended in " + bug.Mended
}

// unseen lists the switches that no property catches, with reasons.
func unseen() string {
	var b strings.Builder
	for _, bug := range faults.Bugs() {
		if bug.Unseen == "" {
			continue
		}
		fmt.Fprintf(&b, "- `%s`†: %s%s. Unseen, since %s. `%s` of 0.1.26; %s.\n", bug.ID, bug.Summary, sourceLinks(bug), bug.Unseen, bug.Place, mended(&bug))
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
	if n := strings.Count(findings(), "**Minimal plan**"); n < least {
		t.Errorf("%d switches of the profile have a stored run, expected %d at least", n, least)
	}
}
