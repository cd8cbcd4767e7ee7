package command

import (
	"fmt"
	"strings"
	"time"

	"github.com/durosim/durosim/cmd/simrun/internal/fuzz"
	"github.com/durosim/durosim/sim/campaign"
)

// fuzzJSON is the object printed by fuzz --json.
type fuzzJSON struct {
	Schema      int        `json:"schema"`
	Verb        string     `json:"verb"`
	Scenario    string     `json:"scenario"`
	Runs        uint64     `json:"runs"`
	Failed      uint64     `json:"failed"`
	GivenUp     uint64     `json:"given_up"`
	Kept        int        `json:"kept"`
	Points      int        `json:"points"`
	Features    int        `json:"features"`
	Finds       []findJSON `json:"finds"`
	WallSeconds float64    `json:"wall_seconds"`
	ExitStatus  int        `json:"exit_status"`
}

// findJSON describes a find: its run, the edits that produced the run's plan, and the parts of the smallest failing
// plan.
type findJSON struct {
	Property string   `json:"property"`
	Class    string   `json:"class"`
	AtRun    uint64   `json:"at_run"`
	Runs     uint64   `json:"runs"`
	Way      string   `json:"way"`
	Cause    []string `json:"cause"`
	Size     int      `json:"size"`
	Message  string   `json:"message"`
	Stored   string   `json:"stored,omitempty"`
	Text     string   `json:"text"`
	Unshrunk string   `json:"not_shrunk,omitempty"`
}

// report builds the report and stores the finds in the corpus.
func (c *fuzzCmd) report(s *subject, r *fuzz.Report, wall time.Duration) (*fuzzJSON, error) {
	out := &fuzzJSON{
		Schema: schema, Verb: "fuzz", Scenario: s.scenario.Name, Runs: r.Runs, Failed: r.Failed, GivenUp: r.Exhausted, Kept: r.Kept,
		Points: r.Points, Features: r.Features, Finds: []findJSON{}, WallSeconds: wall.Seconds(),
	}
	for _, f := range r.Finds {
		out.ExitStatus = worst(out.ExitStatus, classExit(f.Violation.Class))
		row := findJSON{
			Property: f.Violation.Property, Class: string(f.Violation.Class), AtRun: f.AtRun, Runs: f.Runs, Way: f.Input.Way,
			Cause: f.Cause, Message: f.Violation.Message,
		}
		if f.Small == nil {
			row.Unshrunk = f.Unshrunk.Error()
		} else {
			row.Message, row.Size, row.Text = f.Small.First.Message, f.Small.Size().Total(), f.Small.Text()
		}
		if c.Corpus != "" && f.Small != nil {
			entry := f.Small.Entry(f.Input.Seed, fmt.Sprintf("found by fuzz in run %d, by %s", f.AtRun, f.Input.Way))
			var err error
			if row.Stored, err = storeEntry(c.Corpus, entry); err != nil {
				return nil, err
			}
		}
		out.Finds = append(out.Finds, row)
	}
	return out, nil
}

func (a *app) printFuzz(out *fuzzJSON, r *fuzz.Report) {
	a.printf("scenario   %s\nruns       %s   %s runs/s, %s failed, %s given up\nreached    %s, %s, by %s\n",
		out.Scenario, grouped(out.Runs), perSecond(out.Runs, time.Duration(out.WallSeconds*float64(time.Second))), grouped(out.Failed), grouped(out.GivenUp),
		plural(uint64(out.Points), "point", "points"), plural(uint64(out.Features), "feature", "features"), plural(uint64(out.Kept), "input", "inputs"))
	if len(out.Finds) == 0 {
		a.printf("finds      none\n")
		return
	}
	a.printf("finds      %d\n", len(out.Finds))
	for i, f := range out.Finds {
		v := r.Finds[i].Violation
		a.printf("\n%d. in run %s, by %s; %s\n", i+1, grouped(f.AtRun), f.Way, plural(f.Runs, "failing run", "failing runs"))
		if small := r.Finds[i].Small; small != nil {
			v = small.First
		}
		a.printViolation(campaign.Violation{Seed: r.Finds[i].Input.Seed, Violation: v})
		if f.Unshrunk != "" {
			a.printf("  not shrunk: %s\n", f.Unshrunk)
			continue
		}
		a.printf("\nThe smallest plan that shows it (%s):\n%s\n", strings.Join(f.Cause, ", "), indent(strings.TrimSpace(f.Text)))
		if f.Stored != "" {
			a.printf("\nTo see it again:\n%s\n", itself("replay", f.Stored))
		}
	}
}
