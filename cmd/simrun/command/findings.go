package command

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/timeline"
)

type findingState string

const (
	findingNew       findingState = "new"       // found by this campaign for the first time
	findingOngoing   findingState = "ongoing"   // known, and not shown to be resolved
	findingRegressed findingState = "regressed" // found again after it was resolved
	findingResolved  findingState = "resolved"  // its seed was run again and no longer shows it
)

// knownFinding is a finding recorded by earlier campaigns. It groups the violations that share a property, a scenario
// and a cause.
type knownFinding struct {
	ID       string       `json:"id"`
	State    findingState `json:"state"`
	Property string       `json:"property"`
	// Expectation is the text of the violated expectation, if any. It tells apart several expectations of one scenario.
	Expectation string        `json:"expectation,omitempty"`
	Class       cluster.Class `json:"class"`
	// Scenario is the built-in scenario, or the file, as seen from the directory of the findings.
	Scenario string    `json:"scenario"`
	Flags    planFlags `json:"flags"`
	// Cause is that of cluster.Violation.Alike.
	Cause string `json:"cause"`
	// First and Last are the times at which the finding was first and last found. Campaigns is the number of campaigns
	// that found it.
	First     time.Time `json:"first_found"`
	Last      time.Time `json:"last_found"`
	Campaigns int       `json:"campaigns"`
	Seed      string    `json:"seed"`
	Command   string    `json:"command"`

	last campaign.Violation // the one found last, in the run of Seed
}

// ciFlags say where the results of a campaign go besides standard output, in run and merge.
type ciFlags struct {
	Findings string `help:"Keep the findings in this file, from campaign to campaign: new, ongoing, resolved, regressed." placeholder:"FILE" writes:""`
	NewOnly  bool   `help:"With --findings: only new and regressed findings determine the exit status."`
	Markdown string `help:"Add a summary in Markdown to this file, such as $GITHUB_STEP_SUMMARY." placeholder:"FILE" writes:""`
	Annotate bool   `help:"Print an annotation of GitHub for each violated property on standard error: with --new-only, an error only if it has a new finding."`
}

// open reads the findings file; a missing one counts as empty. It returns nil if none is named.
func (c *ciFlags) open() (*findingsFile, error) {
	f := &findingsFile{Schema: schema, path: c.Findings}
	if info, err := os.Stat(f.path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("--findings %s: that is no file that can be read and written anew", f.path)
	}
	data, err := os.ReadFile(f.path)
	switch {
	case f.path == "" && c.NewOnly:
		return nil, errors.New("--new-only needs --findings FILE, the file to compare with")
	case f.path == "":
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		return nil, fmt.Errorf("--findings: %w", err)
	}
	f.Schema = 0 // what the file says of it counts
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(f); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("--findings %s: the file is empty or cut off: remove it to begin anew", f.path)
	} else if err != nil {
		return nil, fmt.Errorf("--findings %s: %w", f.path, err)
	}
	if f.Schema != schema {
		return nil, fmt.Errorf("--findings %s: schema %d, expected %d", f.path, f.Schema, schema)
	}
	return f, nil
}

// tell completes the report, updates the findings file, unless f is nil, and writes the annotations and the summary for a CI job. part is the
// part of the seeds that was run.
func (c *ciFlags) tell(a *app, r *report, f *findingsFile, part shard) error {
	if f != nil {
		step, first := max(part.of, 1), r.seeds.first+max(part.index, 1)-1
		ran := func(seed uint64) bool {
			return seed >= first && (seed-first)%step == 0 && (seed-first)/step < r.Seeds
		}
		r.Findings = f.update(r, ran, time.Now())
		if c.NewOnly && !r.Interrupted {
			r.Status = worst(r.newStatus(), exitOK)
		}
		if err := f.keep(); err != nil {
			return err
		}
	}
	if clean := r.Passed == r.Seeds && !r.Interrupted && r.Status == exitOK && len(r.excused()) == 0; clean && r.Seeds > 3 && (r.Seeds >= confidentFrom || r.confident) {
		r.Confidence = newConfidence(r.Seeds, r.subject.secondJudge())
	}
	if c.Annotate {
		a.annotate(r, c.NewOnly)
	}
	if c.Markdown == "" {
		return nil
	}
	file, err := os.OpenFile(c.Markdown, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(r.markdown())
	return errors.Join(err, file.Close())
}

// findingsFile is the contents of the file given by --findings.
type findingsFile struct {
	Schema   int             `json:"schema"`
	Findings []*knownFinding `json:"findings"`

	path string
}

func (f *findingsFile) keep() error {
	data, err := json.MarshalIndent(f, "", "  ")
	if err == nil {
		err = writeWhole(f.path, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("--findings: %w", err)
	}
	return nil
}

// update merges a campaign's results into the known findings. It returns the findings for the campaign's scenario. ran
// reports whether a seed was run. A finding is not resolved while violations of its property do not count because they
// are known.
func (f *findingsFile) update(r *report, ran func(seed uint64) bool, now time.Time) []*knownFinding {
	s, sum := r.subject, r.Summary
	now = now.UTC().Truncate(time.Second)
	found, name := map[string]bool{}, f.scenario(s)
	ours := func(k *knownFinding) bool { return k.Scenario == name && slices.Equal(given(k.Flags), s.options()) }
	for _, k := range f.Findings {
		if ours(k) && k.isNews() {
			k.State = findingOngoing
		}
	}
	for _, v := range sum.Violations {
		hash := sha256.Sum256([]byte(strings.Join(append([]string{v.Rule(), name, v.Alike()}, s.options()...), "\n")))
		id := hex.EncodeToString(hash[:8])
		if found[id] {
			continue
		}
		found[id] = true
		i := slices.IndexFunc(f.Findings, func(k *knownFinding) bool { return k.ID == id })
		if i < 0 {
			i = len(f.Findings)
			f.Findings = append(f.Findings, &knownFinding{
				ID: id, State: findingNew, Property: v.Property, Expectation: v.Expectation, Class: v.Class, Scenario: name, Flags: s.flags, Cause: v.Alike(), First: now,
			})
		} else if k := f.Findings[i]; k.State == findingResolved {
			k.State = findingRegressed
		}
		k := f.Findings[i]
		k.Last, k.Seed, k.Command, k.last = now, decimal(v.Seed), s.repro(v.Seed), v
		k.Campaigns++
	}
	var here []*knownFinding
	for _, k := range f.Findings {
		if !ours(k) {
			continue
		}
		if seed, err := parseSeed(k.Seed); err == nil && !found[k.ID] && ran(seed) && !slices.Contains(r.excused(), k.Property) {
			k.State = findingResolved
		}
		here = append(here, k)
	}
	return here
}

// scenario returns what the findings call the scenario of s, however the command line spells its path.
func (f *findingsFile) scenario(s *subject) string {
	if _, err := os.Stat(s.arg); err != nil {
		return s.arg
	}
	there, err := filepath.Abs(filepath.Dir(f.path))
	file, err2 := filepath.Abs(s.arg)
	if rel, err3 := filepath.Rel(there, file); errors.Join(err, err2, err3) == nil {
		return filepath.ToSlash(rel)
	}
	return s.arg
}

// violation returns the finding as a violation with no place or time.
func (k *knownFinding) violation() cluster.Violation {
	return cluster.Violation{Property: k.Property, Expectation: k.Expectation}
}

func (k *knownFinding) isNews() bool { return k.State == findingNew || k.State == findingRegressed }

// knownTable lists findings, with new and regressed ones first.
func knownTable(all []*knownFinding) timeline.Table {
	t := timeline.Table{Title: "Findings, campaign after campaign", Open: true, Head: []string{"finding", "property", "cause", "known", "command"}, Commands: 4}
	for _, state := range []findingState{findingNew, findingRegressed, findingOngoing, findingResolved} {
		for _, k := range all {
			if k.State == state {
				t.Row(k.isNews(), string(k.State), ruleName(k.violation()), k.Cause, "since "+k.First.Format(time.DateOnly), k.Command)
			}
		}
	}
	return t
}

// causeShown is how much of a cause the text shows, in bytes; other forms show it all.
const causeShown = 160

func (a *app) printFindings(all []*knownFinding) {
	count := map[findingState]int{}
	for _, k := range all {
		count[k.State]++
	}
	a.printf("\nfindings: %d new, %d regressed, %d ongoing, %d resolved\n", count[findingNew], count[findingRegressed], count[findingOngoing], count[findingResolved])
	t := knownTable(all)
	t.Head = nil
	for _, r := range t.Rows {
		r.Cells[2] = pretty.Cut(r.Cells[2], causeShown)
	}
	a.printTable("  ", t, 5)
}
