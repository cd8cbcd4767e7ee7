package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/cmd/simrun/internal/fuzz"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/workload"
)

// fuzzCmd implements `simrun fuzz`, which searches for failing runs near a scenario.
type fuzzCmd struct {
	planFlags `embed:""`

	Scenario string `arg:"" optional:"" help:"Built-in scenario or file; if none is named, the one that shows the first --bug, or rolling-upgrade."`

	For      time.Duration `help:"The duration of the hunt, or 0 for no limit; a minute if neither this nor --runs sets a limit." placeholder:"TIME"`
	Runs     *uint64       `help:"The number of runs, or 0 for no limit. With it, the result depends only on scenario, seed and corpus. With --exhaustive 20,000 if not given." placeholder:"N"`
	Seed     *seed         `help:"The seed of the hunt, decimal or 0x-hex; 1 if not given." placeholder:"N"`
	Corpus   string        `help:"Begin with the stored runs in this directory, and store finds there; inputs that showed new behaviour go to coverage/ below it." placeholder:"DIR"`
	FailFast bool          `help:"Stop at the first find."`
	Shrink   uint          `help:"The number of runs that shrinking a find may take." default:"1500" placeholder:"N"`
	Workers  uint          `help:"The number of runs at once; the number of cores if 0 or not given. The result does not depend on it." placeholder:"N"`
	JSON     bool          `name:"json" help:"Print one JSON object on standard output and nothing else."`

	Exhaustive bool           `help:"Edit nothing, and try a small scenario ({small}) exhaustively: all orders of its steps, crashes at every moment."`
	Crashes    *uint          `help:"With --exhaustive: the number of crashes that a run may have, at most {crashes}; 1 if not given." placeholder:"N"`
	Within     *time.Duration `help:"With --exhaustive: the latest time of the last action; 10s if not given." placeholder:"TIME"`
}

// Help returns the text printed below the flags.
func (fuzzCmd) Help() string {
	return `Hunts for runs that break the contract, near a scenario: it edits the scenario's plans (steps, crashes, faults, options, instances, programs, clients' actions), draws their choices in several ways, and goes back to moments that few runs reach to try other continuations. Plans that show new behaviour are edited further. The lines "fuzz" of the scenario limit the size and the parts of a plan.

Each find is shrunk, and with --corpus kept as a stored run. Finds differ in the violated property, or in the kinds of parts that their smallest plans need; one that needs the parts of another and more is counted with it. Only the contract is judged: an edited plan may lose work.

With --exhaustive it tries each order of the schedule steps (those of one node stay in order), each moment for each of them, and crashes of any node at any moment. A moment follows a change in the store, in a node, or in a call in flight. Nothing is left to chance: there are no faults, and calls take the least time. The times of the steps do not count. If several runs reach the same state with the same remaining actions, only the first continues. States are compared without times, tokens and row numbers. The report gives the number of states, and says whether these are all: "exhaustive for ..." or "cut off".

Examples:

    simrun fuzz my-upgrade.txt --for 10m --corpus finds
    simrun fuzz my-upgrade.txt --runs 2000 --seed 7
    simrun fuzz --bug provider/ack-partial --fail-fast rolling-upgrade
    simrun fuzz --exhaustive small.txt --crashes 2 --runs 0

Exit status: 0 nothing found, 1 safety violated, 2 usage or bad input, 3 liveness violated, 5 an exhaustive search was cut off, 7 it found that the plan fails, 74 standard output cannot be written, 130 interrupted.`
}

// refuses implements refusing.
func (fuzzCmd) refuses() map[string]string {
	return map[string]string{"chooser": "fuzz alternates between choosers", "provider": "fuzz runs on durosim's own store"}
}

func (c *fuzzCmd) run(a *app) (int, error) {
	if c.For < 0 || c.Shrink < 1 {
		return 0, fmt.Errorf("--for %v --shrink %d: expected no negative time, and at least one run", c.For, c.Shrink)
	}
	if c.Workers == 0 {
		c.Workers = uint(runtime.GOMAXPROCS(0))
	}
	if c.Exhaustive {
		if err := c.noStore("--exhaustive begins with an empty store: leave it out"); err != nil {
			return 0, err
		}
	}
	if err := c.noStoreToKeep("--corpus", c.Corpus); err != nil {
		return 0, err
	}
	if c.Exhaustive {
		return c.exhaustive(a)
	} else if c.Crashes != nil || c.Within != nil {
		return 0, errors.New("--crashes and --within need --exhaustive")
	}
	s, err := c.subject(a.program, c.Scenario)
	if err != nil {
		return 0, err
	}
	a.warn(s)
	o, err := c.options(s)
	if err != nil {
		return 0, err
	}
	user := a.interruptible()
	o.Context = user
	if c.For == 0 && o.Runs == 0 {
		c.For = time.Minute
	}
	if c.For > 0 {
		var cancel func()
		o.Context, cancel = context.WithTimeout(user, c.For)
		defer cancel()
	}
	var kept keeper
	if c.Corpus != "" {
		kept.dir = filepath.Join(c.Corpus, "coverage")
		o.OnNew = kept.keep
	}
	bar := newProgress(a.stderr, "fuzz")
	o.OnProgress = func(r *fuzz.Report) { bar.show(r.Runs, o.Runs, r.Failed) }
	began := time.Now()
	r, err := fuzz.Run(o)
	bar.clear()
	if err = errors.Join(err, kept.err); err != nil {
		return 0, inputError(err)
	}
	out, err := c.report(s, r, time.Since(began))
	if err != nil {
		return 0, err
	}
	if user.Err() != nil {
		out.ExitStatus = exitStopped
	}
	return a.show("fuzz", c.JSON, out.ExitStatus, out, func() { a.printFuzz(out, r) })
}

// fuzzedLoad limits the load in plans that the fuzzer edits. Small plans run faster and shrink more easily.
const fuzzedLoad = 12

func (c *fuzzCmd) options(s *subject) (o fuzz.Options, err error) {
	o = fuzz.Options{Seed: uint64(or(c.Seed, 1)), Runs: or(c.Runs, 0), First: c.FailFast, Workers: int(c.Workers), Space: s.space()}
	if s.scenario.Load != nil {
		most := fuzzedLoad
		if n := s.scenario.Fuzz.Instances; n > 0 {
			most = n
		}
		s.over.Instances = min(s.scenario.Load.Count, most)
	}
	var without []string // what judges the plan rather than the contract
	for _, p := range properties.Catalogue() {
		if p.Class == cluster.ClassPlan {
			without = append(without, p.ID)
		}
	}
	userOnly := s.userOnly
	o.Plain = s.plan
	o.Config = func() cluster.Config {
		cfg := cluster.Config{Builds: s.program.builds(), Releases: releases(), DoubleCheck: c.DoubleCheck}
		s.newRun().Configure(&cfg, properties.Options{Without: without, UserOnly: userOnly, SecondJudge: s.secondJudge()})
		return cfg
	}
	o.Shrink = func(failing durosim.Concrete, v cluster.Violation) (*durosim.Shrunk, error) {
		options, _, err := s.shrinkOptions(v, io.Discard)
		if err != nil {
			return nil, err
		}
		options.MaxRuns = int(c.Shrink)
		return durosim.Shrink(failing, options)
	}
	if c.Corpus == "" {
		return o, nil
	}
	if err := checkDir("--corpus", c.Corpus); err != nil {
		return o, err
	}
	o.Stored, err = s.corpus(c.Corpus)
	return o, err
}

// space returns the edits that the fuzzer may make, within the scenario's limits. By default, edits can use everything
// that durosim ships. If the program has its own handlers, new instances are copies of the scenario's own instances.
func (s *subject) space() *plan.EditSpace {
	limits, space := s.scenario.Fuzz, workload.EditSpace()
	space.Known, space.Nodes, space.Instances, space.Steps, space.Statements = s.known, limits.Nodes, limits.Instances, limits.Steps, limits.Statements
	space.NoPrograms = limits.NoPrograms
	switch {
	case limits.NoFaults:
		space.Faults = nil
	case limits.Faults != nil:
		space.Faults = limits.Faults
	}
	space.Builds = limits.Builds
	if space.Builds == nil {
		space.Builds = s.named()
	}
	if s.limitsDiffer(space.Builds) { // what one build lets pass, another one fails: the plan's mistake, and no find
		space.Work = slices.DeleteFunc(slices.Clone(space.Work), func(in plan.Instance) bool {
			return slices.Contains([]string{"Hoarder", "Guardian", "Glutton"}, in.Orchestration)
		})
	}
	if s.program.ownHandlers() || s.begins != nil {
		space.Handlers, space.Work = nil, s.scenario.Template.Instances
	}
	return space
}

// limitsDiffer reports whether some of the named builds have other limits than others.
func (s *subject) limitsDiffer(names []string) bool {
	builds, _ := s.scenario.Template.AllBuilds(s.program.builds()) // checked when the scenario was opened
	var bounds []engine.Limits
	for _, name := range names {
		if b := plan.FindBuild(builds, name); b != nil {
			bounds = append(bounds, b.Bounds())
		}
	}
	return len(slices.Compact(bounds)) > 1
}

// named returns the builds that the scenario's nodes run, without duplicates. Released runtimes are left out.
func (s *subject) named() (names []string) {
	p := &s.scenario.Template
	names = slices.DeleteFunc(p.RunBuilds(), func(name string) bool {
		return plan.FindBuild(s.program.builds(), name) == nil || strings.HasPrefix(name, engine.ReleasePrefix)
	})
	for _, b := range p.Builds {
		if !slices.Contains(names, b.Name) {
			names = append(names, b.Name)
		}
	}
	return names
}

// corpus reads the stored runs in directory dir, sorted by name. It enables the subject's bugs in each of them.
func (s *subject) corpus(dir string) (inputs []fuzz.Input, err error) {
	for _, pattern := range []string{"*.txt", filepath.Join("coverage", "*.txt")} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			e, err := scenario.ParseEntry(file, data, s.program.builds()...)
			if err != nil {
				return nil, fmt.Errorf("--corpus: %w", err)
			}
			e.Plan.Bugs = append([]faults.BugID{}, s.bugs()...)
			inputs = append(inputs, fuzz.FromEntry(e))
		}
	}
	return inputs, nil
}

// keeper writes each input that showed new behaviour to a file. It remembers the first error.
type keeper struct {
	dir  string
	kept int
	err  error
}

// mostKept is the maximum number of inputs that one hunt saves.
const mostKept = 500

func (k *keeper) keep(in fuzz.Input, news []string) {
	if k.err != nil || k.kept == mostKept {
		return
	}
	k.kept++
	_, k.err = storeEntry(k.dir, in.Entry(fmt.Sprintf("%s; first to show %s", in.Way, news[0])))
}

type fuzzJSON struct {
	Scenario string `json:"scenario"`
	*fuzz.Report
	Finds      []findJSON `json:"finds"`
	Wall       seconds    `json:"wall_seconds"`
	ExitStatus int        `json:"exit_status"`
}

// findJSON describes a find: its run, the edits that produced the run's plan, the parts of the smallest failing plan, and,
// if it is not stored, the command that hunts up to it again.
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
	Again    string   `json:"again,omitempty"`
	Text     string   `json:"text"`
	Unshrunk string   `json:"not_shrunk,omitempty"`
}

// report builds the report and stores the finds in the corpus.
func (c *fuzzCmd) report(s *subject, r *fuzz.Report, wall time.Duration) (*fuzzJSON, error) {
	out := &fuzzJSON{Scenario: s.scenario.Name, Report: r, Finds: []findJSON{}, Wall: seconds(wall)}
	for _, f := range r.Finds {
		out.ExitStatus = worst(out.ExitStatus, classExit[f.Violation.Class])
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
		if c.Corpus == "" {
			row.Again = c.again(s, f.AtRun)
		}
		out.Finds = append(out.Finds, row)
	}
	return out, nil
}

// again returns the command that finds what run number at has found, and keeps it if stored runs can hold it. A directory
// that is there already would begin another hunt.
func (c *fuzzCmd) again(s *subject, at uint64) string {
	hunt := *c
	hunt.For, hunt.FailFast, hunt.JSON = 0, false, false
	if !c.Exhaustive {
		hunt.Runs = &at
	}
	if c.Store == "" {
		hunt.Corpus = fmt.Sprintf("find-%d", at)
	}
	return lineOf("fuzz", hunt, s.arg, "workers")
}

func (a *app) printFuzz(out *fuzzJSON, r *fuzz.Report) {
	a.printf("scenario   %s\nruns       %s   %s runs/s, %s failed, %s given up\nreached    %s, %s, by %s\n",
		out.Scenario, grouped(out.Runs), perSecond(out.Runs, time.Duration(out.Wall)), grouped(out.Failed), grouped(out.Exhausted),
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
		} else {
			a.printf("\nThe smallest plan that shows it (%s):\n%s\n", strings.Join(f.Cause, ", "), strings.TrimRight(f.Text, "\n"))
		}
		a.printAgain(f.Stored, f.Again)
	}
}

// exploredRuns is the number of runs after which an exhaustive search is cut off, unless --runs gives another.
const exploredRuns = 20_000

// exploreJSON is the object printed by fuzz --exhaustive --json.
type exploreJSON struct {
	Scenario string `json:"scenario"`
	Scope    string `json:"scope"`
	*fuzz.Exploration
	Exhaustive bool                 `json:"exhaustive"`
	Violations []campaign.Violation `json:"violations"`
	Plan       string               `json:"failing_plan,omitempty"`
	Stored     string               `json:"stored,omitempty"`
	Again      string               `json:"again,omitempty"` // as in findJSON
	Wall       seconds              `json:"wall_seconds"`
	ExitStatus int                  `json:"exit_status"`
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
		return 0, fmt.Errorf("%s: a load is too large to try exhaustively: list its instances, at most %d", s.arg, fuzz.MaxInstances)
	}
	a.warn(s)
	p, err := s.plan(1)
	if err != nil {
		return 0, err
	}
	o := fuzz.Scope{Plan: p, Crashes: int(or(c.Crashes, 1)), Within: or(c.Within, 10*time.Second), Runs: or(c.Runs, exploredRuns), Workers: int(c.Workers)}
	o.Config = func() cluster.Config {
		cfg := cluster.Config{Builds: s.program.builds(), DoubleCheck: c.DoubleCheck}
		s.program.newRun().Configure(&cfg, properties.Options{UserOnly: s.userOnly, Expectations: s.scenario.Expect, SecondJudge: 1})
		return cfg
	}
	o.Context = a.interruptible()
	bar := newProgress(a.stderr, s.scenario.Name)
	o.OnProgress = func(r *fuzz.Exploration) { bar.show(r.Runs, o.Runs, r.Failed) }
	began := time.Now()
	r, err := fuzz.Exhaust(o)
	bar.clear()
	if err != nil {
		return 0, inputError(fmt.Errorf("%s: %w", s.arg, err))
	}
	if r.States == 0 && r.Failed == 0 && o.Context.Err() == nil {
		return 0, fmt.Errorf("--within %v: nothing happens that early", o.Within)
	}
	out := explored(s, r, &o, time.Since(began))
	if out.Stored, err = c.keep(s, r); err != nil {
		return 0, err
	}
	if r.Failed > 0 && c.Corpus == "" {
		out.Again = c.again(s, r.Runs)
	}
	if o.Context.Err() != nil {
		out.ExitStatus = exitStopped
	}
	return a.show("fuzz", c.JSON, out.ExitStatus, out, func() { a.printExploration(out, r) })
}

func explored(s *subject, r *fuzz.Exploration, o *fuzz.Scope, wall time.Duration) *exploreJSON {
	p := &s.scenario.Template
	out := &exploreJSON{
		Scenario: s.scenario.Name, Exploration: r,
		Exhaustive: r.Open == 0 && r.Failed == 0, Violations: []campaign.Violation{}, Wall: seconds(wall),
		Scope: fmt.Sprintf("%s, %s, %s in each order and at each moment of the first %v, up to %s of any node at any of them",
			plural(uint64(len(p.Nodes)), "node", "nodes"), plural(uint64(len(p.Instances)+len(p.Histories)), "instance", "instances"),
			plural(uint64(len(p.Schedule)), "schedule step", "schedule steps"), o.Within, plural(uint64(o.Crashes), "crash", "crashes")),
	}
	switch {
	case r.Failed > 0:
		out.ExitStatus = classExit[r.Violation.Class]
		out.Violations = append(out.Violations, campaign.Violation{Violation: r.Violation})
		out.Plan = string(scenario.Format(r.Plan))
	case !out.Exhaustive:
		out.ExitStatus = exitVacuous
	}
	return out
}

// keep saves a failing run as a stored run.
func (c *fuzzCmd) keep(s *subject, r *fuzz.Exploration) (string, error) {
	if c.Corpus == "" || r.Failed == 0 {
		return "", nil
	}
	return storeEntry(c.Corpus, &scenario.Entry{
		Plan: r.Plan, Expect: s.scenario.Expect, Recording: &sim.Recording{}, Mode: scenario.ModeRecorded, Found: r.Violation.Property,
		Verdict: scenario.Violates(r.Properties...), Note: "found by fuzz --exhaustive",
	})
}

func (a *app) printExploration(out *exploreJSON, r *fuzz.Exploration) {
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
	a.printAgain(out.Stored, out.Again)
}

// printAgain prints the command that shows a find again.
func (a *app) printAgain(stored, again string) {
	if stored != "" {
		a.printf("\nTo see it again:\n%s\n", itself("replay", stored))
	}
	if again != "" {
		a.printf("\nTo find it again:\n%s\n", again)
	}
}
