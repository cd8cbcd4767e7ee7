package command

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/durosim/durosim/cmd/simrun/internal/explore"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// exploredRuns is the number of runs after which an exhaustive search is cut off, unless --runs gives another.
const exploredRuns = 20_000

// exploreJSON is the object printed by fuzz --exhaustive --json.
type exploreJSON struct {
	Schema      int             `json:"schema"`
	Verb        string          `json:"verb"`
	Scenario    string          `json:"scenario"`
	Scope       string          `json:"scope"`
	States      uint64          `json:"states"`
	Runs        uint64          `json:"runs"`
	Longest     int             `json:"most_actions"`
	Open        int             `json:"not_tried"`
	Exhaustive  bool            `json:"exhaustive"`
	Violations  []violationJSON `json:"violations"`
	Plan        string          `json:"failing_plan,omitempty"`
	Stored      string          `json:"stored,omitempty"`
	WallSeconds float64         `json:"wall_seconds"`
	ExitStatus  int             `json:"exit_status"`
}

// exhaustive explores a small scenario exhaustively.
func (c *fuzzCmd) exhaustive(a *app) (int, error) {
	switch {
	case c.Faults != "":
		return 0, fmt.Errorf("--faults %s: --exhaustive leaves nothing to chance", c.Faults)
	case c.For != 0 || c.Seed != nil || c.FailFast:
		return 0, errors.New("--exhaustive takes neither --for nor --seed nor --fail-fast: --runs limits it, and it stops at the first run that fails")
	case c.Within != nil && *c.Within <= 0:
		return 0, fmt.Errorf("--within %v: expected a positive time", *c.Within)
	}
	if err := checkDir("--corpus", c.Corpus); err != nil {
		return 0, err
	}
	s, err := c.subject(a.program, c.Scenario)
	if err != nil {
		return 0, err
	}
	if s.scenario.Load != nil {
		return 0, fmt.Errorf("%s: a load is too large to try exhaustively: list its instances, at most %d", s.arg, explore.MaxInstances)
	}
	a.warn(s)
	p, err := s.plan(1)
	if err != nil {
		return 0, err
	}
	o := explore.Options{Plan: p, Crashes: 1, Within: 10 * time.Second, Runs: exploredRuns, Workers: int(c.Workers)}
	if c.Runs != nil {
		o.Runs = *c.Runs
	}
	if c.Crashes != nil {
		o.Crashes = int(*c.Crashes)
	}
	if c.Within != nil {
		o.Within = *c.Within
	}
	o.Config = func() cluster.Config {
		cfg := cluster.Config{Builds: s.program.builds(), DoubleCheck: c.DoubleCheck}
		s.program.newRun().Configure(&cfg, properties.Options{UserOnly: s.userOnly, Expectations: s.scenario.Expect})
		return cfg
	}
	var stop func()
	o.Context, stop = interruptible()
	defer stop()
	bar := newProgress(a.stderr, s.scenario.Name, o.Runs)
	o.OnProgress = func(r *explore.Report) { bar.show(r.Runs, r.Failed) }
	began := time.Now()
	r, err := explore.Run(o)
	bar.clear()
	if err != nil {
		return 0, inputError(fmt.Errorf("%s: %w", s.arg, err))
	}
	out := explored(s, r, &o, time.Since(began))
	if out.Stored, err = c.keep(s, r); err != nil {
		return 0, err
	}
	if o.Context.Err() != nil {
		out.ExitStatus = exitStopped
	}
	if c.JSON {
		return out.ExitStatus, a.writeJSON(out)
	}
	a.printExploration(out, r)
	return out.ExitStatus, nil
}

func explored(s *subject, r *explore.Report, o *explore.Options, wall time.Duration) *exploreJSON {
	p := &s.scenario.Template
	out := &exploreJSON{
		Schema: schema, Verb: "fuzz", Scenario: s.scenario.Name, States: r.States, Runs: r.Runs, Longest: r.Longest, Open: r.Open,
		Exhaustive: r.Open == 0 && r.Failed == 0, Violations: []violationJSON{}, WallSeconds: wall.Seconds(),
		Scope: fmt.Sprintf("%s, %s, %s in each order and at each moment of the first %v, up to %s of any node at any of them",
			plural(uint64(len(p.Nodes)), "node", "nodes"), plural(uint64(len(p.Instances)+len(p.Histories)), "instance", "instances"),
			plural(uint64(len(p.Schedule)), "schedule step", "schedule steps"), o.Within, plural(uint64(o.Crashes), "crash", "crashes")),
	}
	switch {
	case r.Failed > 0:
		out.ExitStatus = classExit(r.Violation.Class)
		out.Violations = append(out.Violations, newViolationJSON(campaign.Violation{Violation: r.Violation}, ""))
		out.Plan = string(scenario.Format(r.Plan))
	case !out.Exhaustive:
		out.ExitStatus = exitVacuous
	}
	return out
}

// keep saves a failing run as a stored run.
func (c *fuzzCmd) keep(s *subject, r *explore.Report) (string, error) {
	if c.Corpus == "" || r.Failed == 0 {
		return "", nil
	}
	return storeEntry(c.Corpus, &scenario.Entry{
		Plan: r.Plan, Expect: s.scenario.Expect, Recording: &sim.Recording{}, Mode: scenario.ModeRecorded, Found: r.Violation.Property,
		Verdict: scenario.Violates(r.Properties...), Note: "found by fuzz --exhaustive",
	})
}

func (a *app) printExploration(out *exploreJSON, r *explore.Report) {
	a.printf("scenario   %s\nstates     %s, in %s of up to %s\n", out.Scenario, grouped(out.States), plural(out.Runs, "run", "runs"), plural(uint64(out.Longest), "action", "actions"))
	switch {
	case r.Failed > 0:
		a.printf("stopped    at the first run that fails\n")
	case out.Exhaustive:
		a.printf("exhaustive for %s\n", out.Scope)
	default:
		a.printf("cut off    after %s, with %s of known ways untried, of %s\n", plural(out.Runs, "run", "runs"), grouped(uint64(out.Open)), out.Scope)
	}
	if r.Failed == 0 {
		return
	}
	a.printf("\n")
	a.printViolation(campaign.Violation{Violation: r.Violation})
	a.printf("\nThe plan that shows it, with calls as fast as possible and events in the order in which they were scheduled:\n%s\n", indent(strings.TrimSpace(out.Plan)))
	if out.Stored != "" {
		a.printf("\nTo see it again:\n%s\n", itself("replay", out.Stored))
	}
}
