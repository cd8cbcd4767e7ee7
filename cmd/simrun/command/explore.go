package command

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/durosim/durosim/cmd/simrun/internal/explore"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// exploreCmd implements `simrun explore`, which explores a small scenario exhaustively.
type exploreCmd struct {
	planFlags `embed:""`

	Scenario string `arg:"" help:"Built-in scenario or file, with at most 3 nodes, 2 instances and 4 schedule steps."`

	Crashes int           `help:"The number of crashes that a run may have, at most 2." default:"1" placeholder:"N"`
	Within  time.Duration `help:"The latest time of the last action." default:"10s" placeholder:"TIME"`
	Runs    uint64        `help:"Stop after this number of runs; 0 means no limit." default:"20000" placeholder:"N"`
	Out     string        `help:"Write a run that fails to this directory, as a stored run." placeholder:"DIR"`
	Workers int           `help:"The number of runs at once; the number of cores if not given. The result does not depend on it." placeholder:"N"`
	JSON    bool          `name:"json" help:"Print one JSON object on standard output and nothing else."`
}

// Help returns the text printed below the flags.
func (exploreCmd) Help() string {
	return `Tries a small scenario exhaustively: each order of its schedule steps (those of one node stay in order), each moment for each of them, and crashes of any node at any moment. A moment follows a change in the store, in a node, or in a call in flight. Nothing is left to chance: there are no faults, and calls take the least time. The times of the steps do not count.

If several runs reach the same state with the same remaining actions, only the first continues. States are compared without times, tokens and row numbers. The report gives the number of states, and says whether these are all: "exhaustive for ..." or "cut off".

Examples:

    simrun explore small.txt
    simrun explore small.txt --crashes 2 --runs 0
    simrun explore small.txt --bug engine/poll-stops --out finds

Exit status: 0 every way was tried and holds, 1 safety violated, 2 usage or bad input, 3 liveness violated, 5 cut off before the end, 7 the plan fails, 74 standard output cannot be written, 130 interrupted.`
}

// exploreJSON is the object printed by explore --json.
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

func (c *exploreCmd) run(a *app) (int, error) {
	switch {
	case c.Chooser != "" || c.Faults != "":
		return 0, fmt.Errorf("--chooser and --faults: explore leaves nothing to chance; run takes both")
	case c.Provider != "":
		return 0, fmt.Errorf("--provider %s: explore runs on the in-memory store", c.Provider)
	case c.Crashes < 0 || c.Within <= 0 || c.Workers < 0:
		return 0, fmt.Errorf("--crashes %d --within %v --workers %d: expected numbers of at least 0, and a positive time", c.Crashes, c.Within, c.Workers)
	}
	if err := checkOut(c.Out); err != nil {
		return 0, err
	}
	s, err := c.subject(a.program, c.Scenario)
	if err != nil {
		return 0, err
	}
	if s.scenario.Load != nil {
		return 0, fmt.Errorf("%s: a load is too large to try exhaustively: list its instances, at most %d", c.Scenario, explore.MaxInstances)
	}
	a.warn(s)
	p, err := s.plan(1)
	if err != nil {
		return 0, err
	}
	o := explore.Options{Plan: p, Crashes: c.Crashes, Within: c.Within, Runs: c.Runs, Workers: c.Workers}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	o.Config = func() cluster.Config {
		cfg := cluster.Config{Builds: s.program.builds(), DoubleCheck: c.DoubleCheck}
		s.program.newRun().Configure(&cfg, properties.Options{UserOnly: s.userOnly, Expectations: s.scenario.Expect})
		return cfg
	}
	var stop func()
	o.Context, stop = interruptible()
	defer stop()
	bar := newProgress(a.stderr, "explore", c.Runs)
	o.OnProgress = func(r *explore.Report) { bar.show(r.Runs, r.Failed) }
	began := time.Now()
	r, err := explore.Run(o)
	bar.clear()
	if err != nil {
		return 0, inputError(fmt.Errorf("%s: %w", c.Scenario, err))
	}
	out := c.json(s, r, time.Since(began))
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

func (c *exploreCmd) json(s *subject, r *explore.Report, wall time.Duration) *exploreJSON {
	p := &s.scenario.Template
	out := &exploreJSON{
		Schema: schema, Verb: "explore", Scenario: s.scenario.Name, States: r.States, Runs: r.Runs, Longest: r.Longest, Open: r.Open,
		Exhaustive: r.Open == 0 && r.Failed == 0, Violations: []violationJSON{}, WallSeconds: wall.Seconds(),
		Scope: fmt.Sprintf("%s, %s, %s in each order and at each moment of the first %v, up to %s of any node at any of them",
			plural(uint64(len(p.Nodes)), "node", "nodes"), plural(uint64(len(p.Instances)+len(p.Histories)), "instance", "instances"),
			plural(uint64(len(p.Schedule)), "schedule step", "schedule steps"), c.Within, plural(uint64(c.Crashes), "crash", "crashes")),
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
func (c *exploreCmd) keep(s *subject, r *explore.Report) (string, error) {
	if c.Out == "" || r.Failed == 0 {
		return "", nil
	}
	return storeEntry(c.Out, &scenario.Entry{
		Plan: r.Plan, Expect: s.scenario.Expect, Recording: &sim.Recording{}, Mode: scenario.ModeRecorded, Found: r.Violation.Property,
		Verdict: scenario.Violates(r.Properties...), Note: "found by explore",
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
