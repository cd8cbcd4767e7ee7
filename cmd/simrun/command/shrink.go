package command

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/internal/watchdog"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// shrinkCmd implements `simrun shrink`, which reduces a failing run to a small one.
type shrinkCmd struct {
	planFlags `embed:""`

	Scenario string `arg:"" optional:"" help:"Built-in scenario, scenario file, or stored run; if none is named, the one that shows the first --bug, or rolling-upgrade."`

	Seed     *seed  `help:"The seed, decimal or 0x-hex; if not given, the first of 1,000 that fails. A stored run has its own." placeholder:"N"`
	Property string `help:"The property whose violation to keep, or an expectation (\"expect never ...\"); if not given, the first that is violated." placeholder:"ID"`
	Runs     uint   `help:"The maximum number of runs of the search; 5,000 if not given." placeholder:"N"`
	Out      string `help:"Write the shrunk run to this directory." placeholder:"DIR" writes:""`
	JSON     bool   `name:"json" help:"Print one JSON object on standard output and nothing else."`
}

// Help returns the text printed below the flags.
func (shrinkCmd) Help() string {
	return `Takes a run that violates a property and removes as much as it can: schedule steps, instances, histories, probes, nodes, options, faults and delays. The result is a plan in which every part is needed, every fault is named, and times are as early and round as possible.

The search takes at most 30 s of real time; DUROSIM_SHRINK=5m gives it more, and 0 all that it wants. When that is over, or interrupted (Ctrl-C), it reports the smallest plan so far.

With --bug, a smaller plan counts only if it holds without the bug.

Examples:

    simrun shrink --seed 7 --bug provider/filter-after-lock
    simrun shrink --bug engine/poll-stops --out testdata/seeds
    simrun shrink --property S04 testdata/seeds/0123456789abcdef.txt

Exit status: 1 if a safety property is violated, 3 if it is a liveness property, 6 if a handler is not deterministic, panics or does not return, 7 if the plan fails, 0 if there is nothing to shrink, 2 usage or bad input, 130 interrupted.`
}

func (c *shrinkCmd) run(a *app) (int, error) {
	if err := checkDir("--out", c.Out); err != nil {
		return 0, err
	}
	if err := c.noStoreToKeep("--out", c.Out); err != nil {
		return 0, err
	}
	s, seed, concrete, err := c.failing(a.program)
	if err != nil {
		return 0, err
	}
	if concrete == nil {
		return c.nothing(a, s, "every property holds")
	}
	s.context = a.interruptible()
	small, search, err := s.smallest(*concrete, c.Property, int(c.Runs), a.stderr)
	switch {
	case err != nil:
		return 0, err
	case small == nil:
		return c.nothing(a, s, fmt.Sprintf("seed %d violates no property", seed))
	}
	a.warn(s)
	out := &shrunk{subject: s, seed: seed, small: small, search: search, repro: c.repro(s, seed)}
	if c.Out != "" {
		if out.stored, err = storeEntry(c.Out, s.shrunkEntry(seed, small)); err != nil {
			return 0, err
		}
		var provider []string
		if s.flags.Provider != "" {
			provider = []string{"--provider", s.flags.Provider}
		}
		out.repro = itself(slices.Concat([]string{"replay"}, provider, []string{out.stored})...)
	}
	status := classExit[small.First.Class]
	if s.interrupted() {
		status = exitStopped
	}
	if c.JSON {
		return status, a.writeJSON("shrink", out.json(status))
	}
	a.printShrunk(out)
	return status, nil
}

// failing returns the recorded run to shrink, or nil if no seed fails.
func (c *shrinkCmd) failing(p *Program) (*subject, uint64, *durosim.Concrete, error) {
	entry, err := c.entry(p, c.Scenario, c.Seed)
	if err != nil {
		return nil, 0, nil, err
	}
	if entry != nil {
		s, err := entrySubject(p, entry, c.Scenario, c.Provider)
		if err != nil {
			return nil, 0, nil, err
		}
		concrete := &durosim.Concrete{Plan: entry.Plan, Choices: entry.Recording, Expect: entry.Expect}
		if entry.Mode == scenario.ModeSeeded {
			concrete, err = s.record(s.configOf(entry.Plan, entry.Seed))
		}
		return s, entry.Seed, concrete, err
	}
	s, err := c.subject(p, c.Scenario)
	if err != nil {
		return nil, 0, nil, err
	}
	var seed uint64
	if c.Seed != nil {
		seed = uint64(*c.Seed)
	} else {
		o := s.campaign()
		o.First, o.Count = 1, defaultSeeds
		sum, err := campaign.Run(o)
		if err != nil {
			return nil, 0, nil, inputError(err)
		}
		if len(sum.Violations) == 0 {
			return s, 0, nil, nil
		}
		seed = sum.Violations[0].Seed
	}
	cfg, err := s.config(seed)
	if err != nil {
		return nil, 0, nil, err
	}
	concrete, err := s.record(cfg)
	return s, seed, concrete, err
}

// record executes a run and records its choices.
func (s *subject) record(cfg cluster.Config) (*durosim.Concrete, error) {
	cfg.Recording = &sim.Recording{}
	if _, err := cluster.Run(cfg); err != nil {
		return nil, err
	}
	return &durosim.Concrete{Plan: cfg.Plan, Choices: cfg.Recording, Expect: s.scenario.Expect}, nil
}

// smallest shrinks a run that violates rule asked, or what pick chooses if that is empty. It returns nil if the run
// violates nothing of the kind.
func (s *subject) smallest(run durosim.Concrete, asked string, maxRuns int, tell io.Writer) (*durosim.Shrunk, *watchdog.Search, error) {
	cfg := s.configOf(run.Plan, 0)
	cfg.Chooser = sim.Replay(run.Choices)
	result, err := cluster.Run(cfg)
	if err != nil {
		return nil, nil, err
	}
	violation, ok := pick(result, asked, s.bugs())
	if !ok {
		return nil, nil, nil
	}
	options, search, err := s.shrinkOptions(violation, tell)
	if err != nil {
		return nil, nil, err
	}
	options.MaxRuns = maxRuns
	small, err := durosim.Shrink(run, options)
	return small, search, err
}

func (s *subject) interrupted() bool { return s.context != nil && s.context.Err() != nil }

// shrinkOptions returns the options for shrinking a run while preserving violation v, within the limit of real time that
// it returns, too. It tells now and then how far it is.
func (s *subject) shrinkOptions(v cluster.Violation, tell io.Writer) (durosim.ShrinkOptions, *watchdog.Search, error) {
	search, err := watchdog.NewSearch(nil)
	stop := func(best durosim.Concrete, runs int) bool {
		over := search.Over(func(spent time.Duration) {
			fmt.Fprintf(tell, "shrinking a violation of %s: %s in %s, size %s so far\n", ruleName(v), plural(uint64(runs), "run", "runs"), spent, best.Size())
		})
		return over || s.interrupted()
	}
	return durosim.ShrinkOptions{
		Property: v.Property, Expectation: v.Expectation, End: v.End, Cause: v.Cause, Builds: s.program.builds, EachRun: s.newRun,
		Releases: releases(), Store: s.store, Stop: stop,
	}, search, err
}

func (s *subject) bugs() []faults.BugID {
	return append(slices.Clone(s.scenario.Template.Bugs), s.over.Bugs...)
}

// pick returns the violation to preserve, and reports whether there is one. If asked is set, it names a property ID or
// a whole rule, and pick returns a violation of it. If not, pick prefers a violation of a property that one of the bugs
// is expected to break, and falls back to the first violation.
func pick(r *cluster.Result, asked string, on []faults.BugID) (cluster.Violation, bool) {
	find := func(what func(v cluster.Violation) bool) (cluster.Violation, bool) {
		if i := slices.IndexFunc(r.Violations, what); i >= 0 {
			return r.Violations[i], true
		}
		return cluster.Violation{}, false
	}
	if asked != "" {
		return find(func(v cluster.Violation) bool { return v.Property == asked || v.Rule() == asked })
	}
	for _, id := range on {
		bug, _ := faults.Lookup(id) // an unknown bug has no properties
		for _, property := range bug.Properties {
			if v, ok := find(func(v cluster.Violation) bool { return v.Property == property }); ok {
				return v, true
			}
		}
	}
	return find(func(cluster.Violation) bool { return true })
}

func (c *shrinkCmd) nothing(a *app, s *subject, why string) (int, error) {
	if c.Property != "" {
		if _, ok := properties.ByID(c.Property); !ok {
			return 0, fmt.Errorf("--property %q: there is no such property; %s lists all", c.Property, a.program.hint("list properties"))
		}
		why = c.Property + " is not violated"
	}
	if c.JSON {
		return exitOK, a.writeJSON("shrink", shrunkJSON{Scenario: s.scenario.Name, Violations: []campaign.Violation{}})
	}
	a.printf("%s: nothing to shrink, %s\n", s.scenario.Name, why)
	return exitOK, nil
}

// repro returns the command line for shrinking the same run again.
func (c *shrinkCmd) repro(s *subject, n uint64) string {
	again := shrinkCmd{planFlags: s.flags, Property: c.Property}
	if !s.stored {
		again.Seed = (*seed)(&n)
	}
	return lineOf("shrink", again, s.arg)
}

func (s *subject) shrunkEntry(seed uint64, small *durosim.Shrunk) *scenario.Entry {
	e := small.Entry(seed, "first shown by: "+s.repro(seed))
	e.Provider = s.flags.Provider
	return e
}

// shrunk is a shrunk run, ready to be printed.
type shrunk struct {
	subject *subject
	search  *watchdog.Search
	seed    uint64
	small   *durosim.Shrunk
	stored  string
	repro   string
}

type shrunkJSON struct {
	Scenario   string               `json:"scenario"`
	Seed       string               `json:"seed"`
	Violations []campaign.Violation `json:"violations"`
	// Plan is the plan's text. Choices lists the choices that differ from the harmless default.
	Plan     string       `json:"plan"`
	Choices  []choiceJSON `json:"choices"`
	Size     sizeJSON     `json:"size"`
	From     int          `json:"from"`
	Runs     int          `json:"runs"`
	Minimal  bool         `json:"minimal"`
	Nearest  *nearestJSON `json:"nearest_that_holds,omitempty"`
	Blame    []chanceJSON `json:"blame,omitempty"`
	Verdict  string       `json:"verdict"`
	Digest   string       `json:"digest"`
	Stored   string       `json:"stored"`
	ExitCode int          `json:"exit_status"`
}

type choiceJSON struct {
	Key   string `json:"key"`
	N     uint64 `json:"n"`
	Value string `json:"value"`
	Text  string `json:"text"`
}

type sizeJSON struct {
	Total     int `json:"total"`
	Steps     int `json:"steps"`
	Instances int `json:"instances"`
	Faults    int `json:"faults"`
	Choices   int `json:"choices"`
}

func (s *shrunk) violation() campaign.Violation {
	return campaign.Violation{Seed: s.seed, Violation: s.small.First, Repro: s.repro}
}

func (s *shrunk) json(status int) shrunkJSON {
	z := s.small.Size()
	out := shrunkJSON{
		Scenario: s.subject.scenario.Name, Seed: decimal(s.seed),
		Violations: []campaign.Violation{s.violation()}, Plan: string(scenario.Format(s.small.Plan)), Choices: []choiceJSON{},
		Size: sizeJSON{z.Total(), z.Steps, z.Instances, z.Faults, z.Choices}, From: s.small.From.Total(), Runs: s.small.Runs, Minimal: s.small.Minimal,
		Verdict: s.small.Entry(s.seed, "").Verdict, Digest: s.small.Result.Digest.String(), Stored: s.stored, ExitCode: status,
	}
	if n, ok := s.small.Nearest(); ok {
		out.Nearest = &nearestJSON{Without: n.Without, Instead: n.Instead, Chance: n.Chance, Alike: n.Same, Fails: lineText(n.Fails), Holds: lineText(n.Holds)}
	}
	for _, c := range s.blame() {
		out.Blame = append(out.Blame, chanceJSON{c.Step, c.Failed, c.Draws, lineText(c.Line)})
	}
	texts := s.small.ChoiceTexts()
	for i, c := range s.small.Choices.Choices {
		out.Choices = append(out.Choices, choiceJSON{c.Key.String(), c.N, decimal(c.Value), texts[i]})
	}
	for _, c := range s.small.Choices.Priorities {
		out.Choices = append(out.Choices, choiceJSON{c.Key.String(), 0, decimal(c.Value), "comes after other events that are due at the same time"})
	}
	return out
}

func (a *app) printShrunk(s *shrunk) {
	small := s.small
	a.printf("%s\n\n", a.style.title(fmt.Sprintf("%s, seed %d: the smallest plan found that violates %s", s.subject.scenario.Name, s.seed, ruleName(small.First))))
	a.printViolation(s.violation())
	a.printf("\n%s", small.Text())
	a.printNearest(s)
	a.printBlame(s)
	a.printf("\nsize %s, from %s, in %s\n", small.Size(), grouped(uint64(small.From.Total())), plural(uint64(small.Runs), "run", "runs"))
	switch {
	case small.Minimal:
		a.printf("every remaining part is needed for the violation\n")
	case s.subject.interrupted():
		a.printf("the search was interrupted: this is the smallest plan so far\n")
	case small.Stopped:
		a.printf("this is the smallest plan so far: %s\n", s.search.Met())
	default:
		a.printf("the search reached its bound on runs: a larger --runs may give a smaller plan\n")
	}
	if s.stored != "" {
		a.printf("stored run: %s\n", s.stored)
	}
	a.printf("\nTo see it again:\n%s\n", s.repro)
}

// blame determines which part of the run decides the violation. It tries fewer variations if its runs are slow, as those
// of released runtimes are.
func (s *shrunk) blame() []durosim.Chance {
	draws := 20
	if len(s.small.Plan.Releases()) > 0 || s.small.Stopped {
		draws = 4
	}
	return s.small.Blame(draws)
}

// nearestJSON describes the nearest run that does not violate the property. It lists the lines of the plan that the
// nearest run lacks or replaces, whether it violates the property with other choices, the number of story lines that the
// two runs share, and the first line at which each diverges.
type nearestJSON struct {
	Without []string `json:"without"`
	Instead []string `json:"instead"`
	Chance  bool     `json:"chance,omitempty"`
	Alike   int      `json:"lines_alike"`
	Fails   string   `json:"fails,omitempty"`
	Holds   string   `json:"holds,omitempty"`
}

// chanceJSON reports how many runs violate the property when all choices after a certain step are drawn afresh.
type chanceJSON struct {
	Step   uint64 `json:"step"`
	Failed int    `json:"failed"`
	Draws  int    `json:"draws"`
	Line   string `json:"line,omitempty"`
}

// lineText formats a line of a story, or returns "" for nil.
func lineText(l *cluster.Line) string {
	if l == nil {
		return ""
	}
	return fmt.Sprintf("%s  %s  %s", pretty.Duration(l.Ms), strings.TrimSpace(l.Node+" "+l.Build), l.Text)
}

// printNearest prints the nearest passing run and the point at which it diverges from the failing run.
func (a *app) printNearest(s *shrunk) {
	if n, ok := s.small.Nearest(); ok {
		a.printf("\n%s", n.Text())
	}
}

// printBlame prints which part of the run decides the violation.
func (a *app) printBlame(s *shrunk) {
	list := s.blame()
	first, last := list[0], list[len(list)-1]
	if first.Failed == first.Draws || len(list) == 1 {
		a.printf("\nWith new random choices from the start, %d of %d runs violate it: order and latencies matter little.\n", first.Failed, first.Draws)
		return
	}
	a.printf("\nHow many of %d runs violate it with new random choices after a step:\n", last.Draws)
	for i, c := range list {
		if i > 0 && i+1 < len(list) && c.Failed == list[i-1].Failed && c.Failed == list[i+1].Failed {
			continue // same result as at the steps before and after this one
		}
		what := lineText(c.Line)
		if c.Line == nil {
			what = "every choice is new"
		}
		a.printf("  %4d  step %-6d %s\n", c.Failed, c.Step, what)
	}
	if n, ok := s.small.NearestDraw(list); ok {
		a.printf("\n%s", n.Text())
	}
}

// A campaign with at least smallSeeds seeds immediately shrinks the failure that determines its exit status. Shrinking
// is limited to smallRuns runs with about smallSteps steps in total, which takes a second or two. In a smaller
// campaign, shrinking would take longer than the campaign itself.
const (
	smallSeeds = 100
	smallRuns  = 200
	smallSteps = 1_000_000
)

// makeSmall shrinks the failure that determines the exit status. It does nothing if the campaign was interrupted or has
// fewer than smallSeeds seeds, or if each run is slow: one with a foreign store, a released runtime, or too many steps.
func (r *report) makeSmall() {
	v, ok := r.shrinkable()
	if !ok || r.Interrupted || r.Seeds < smallSeeds || r.subject.store != nil {
		return
	}
	runs := min(smallRuns, smallSteps*r.Seeds/max(r.Steps, 1))
	cfg, err := r.subject.config(v.Seed)
	if err != nil || runs < smallRuns/10 || len(cfg.Plan.Releases()) > 0 {
		return
	}
	concrete, err := r.subject.record(cfg)
	if err != nil {
		return // this run succeeded before; the shrink command named in the report will show the error
	}
	if small, search, err := r.subject.smallest(*concrete, v.Rule(), int(runs), io.Discard); err == nil && small != nil { // the shrink command will show an error
		r.small = &shrunk{subject: r.subject, seed: v.Seed, small: small, search: search}
	}
}

// shrinkable returns the violation that determines the exit status, and reports whether a smaller plan can show it.
func (r *report) shrinkable() (campaign.Violation, bool) {
	v, ok := r.deciding()
	return v, ok && r.found != exitInternal && r.found != exitDrift && v.Class != cluster.ClassInternal && !v.Unsteady()
}

// printSmall prints the shrunk failure, the nearest passing run, and the point where the two diverge. If the failure
// was not shrunk, it prints the shrink command instead.
func (a *app) printSmall(r *report) {
	v, ok := r.shrinkable()
	if !ok {
		return
	}
	line := r.subject.line("shrink", v.Seed, "--property", v.Rule())
	if r.small == nil {
		a.printf("\nThe smallest plan that shows it, the nearest that holds, and where that is decided:\n%s\n", line)
		return
	}
	small := r.small.small
	a.printf("\nThe smallest plan found in %s that violates %s:\n\n%s", plural(uint64(small.Runs), "run", "runs"), ruleName(small.First), small.Text())
	a.printf("\nWhat happens in it:\n")
	a.printf("%s", small.First.Text("", ""))
	if small.Minimal {
		a.printNearest(r.small)
		a.printBlame(r.small)
		a.printf("\nTo keep it:\n%s\n", line)
		return
	}
	a.printf("\nSmaller still, with the nearest plan that holds, and where that is decided:\n%s\n", line)
}
