package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/cmd/simrun/internal/upgrade"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/internal/commandline"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/timeline"
)

// planCmd implements `simrun plan`, which tries an operator's upgrade before it is performed.
type planCmd struct {
	planFlags `embed:""`

	Scenario string `arg:"" optional:"" help:"The file with your builds, nodes and steps, or a built-in scenario; rolling-upgrade if none is named."`

	Seeds      seedRange `help:"The number of seeds for each variant of the plan, or a range; 20 if not given." placeholder:"N|A..B"`
	Orders     bool      `help:"Try the steps in other orders, too, and rank them."`
	Replay     string    `help:"Only show one run of a variant of the plan as a story: whole, stop-2 (after two steps), back-2 (and back from there) or back-2+30s (not before 30 s have passed), order-2,1, or a procedure of compare, such as canary, or canary/back-2." placeholder:"VARIANT"`
	Seed       *seed     `help:"With --replay: the seed; 1 if not given." placeholder:"N"`
	storyFlags `embed:""`
	Actions    string `help:"Write what to do to this file, with all instances of the store that it is about: a line for each, with the step before which to do it, what, and the instance, separated by tabs." placeholder:"FILE" writes:""`
	HTML       string `name:"html" help:"Write a page with the rollback map and the run of the first seed." placeholder:"FILE" writes:""`
	Details    bool   `help:"Name the mistakes of older releases that a window is open for."`
	JSON       bool   `name:"json" help:"Print one JSON object on standard output and nothing else."`
}

// Help returns the text printed below the flags.
func (planCmd) Help() string {
	return `Tries an upgrade before you do it: the whole plan, every beginning of it, and the way back from there, for many seeds and under light faults if the file names none. Reports which work gets stuck or is poisoned, which build it needs and from which step on, how long it waits, and from which step on a rollback loses work.

With --store the runs begin with the contents of your store. Stand-ins replace orchestrations that simrun does not have: they repeat their histories, wait for everything that is open, and complete, or go on as loops until the plan is over.

Examples:

    simrun plan my-upgrade.txt
    simrun plan my-upgrade.txt --store export.jsonl --seeds 50
    simrun plan my-upgrade.txt --orders
    simrun plan my-upgrade.txt --replay back-2 --seed 3

Exit status: 0 the plan itself strands and loses nothing, 7 it does; what a rollback would strand or lose is in the map, and in "point_of_no_return" of --json, and does not affect the status; 1 or 3 the contract is violated, 2 bad input, 130 interrupted; also 2 if the export is damaged: the report is then about the rest, and does not judge the contract. Ordinary leftovers of a store are counted, and do not affect the status.`
}

// refuses implements refusing.
func (planCmd) refuses() map[string]string {
	return map[string]string{
		"chooser":      "plan uses the default chooser; run takes a chooser",
		"double-check": "plan computes each turn once; run computes it twice",
		"provider":     "plan runs on durosim's own store",
		"self-check":   "plan is judged by the properties alone; run has self-checks",
	}
}

const (
	planSeeds  = 20
	orderSeeds = 5
)

func (c *planCmd) run(a *app) (int, error) {
	if c.Replay == "" && (c.Seed != nil || c.storyFlags != storyFlags{}) {
		return 0, errors.New("--seed, --instance and other flags that select a story need --replay; for the plan use --seeds")
	}
	if c.Replay != "" && (c.Orders || c.Seeds.count > 0) {
		return 0, errors.New("--replay shows one run: leave out --seeds and --orders; --seed selects the run")
	}
	c.Scenario = cmp.Or(c.Scenario, a.program.Scenario, scenario.Default)
	if c.Faults == "" {
		c.Faults = ownFaults(a.program, c.Scenario)
	}
	s, err := c.subject(a.program, c.Scenario)
	if err != nil {
		return 0, err
	}
	if c.Replay != "" {
		return c.replay(a, s)
	}
	a.warn(s)
	seeds := c.Seeds.or(planSeeds)
	cfg := s.upgrade()
	cfg.First, cfg.Seeds = seeds.first, seeds.count
	if err := errors.Join(inDirectory(c.HTML), inDirectory(c.Actions)); err != nil {
		return 0, err
	}
	began := time.Now()
	r, err := c.try(a, s, cfg, seeds)
	if err != nil {
		return 0, inputError(err)
	}
	rep := newReport(s, r.Whole, seeds)
	rep.Wall, rep.Missed = seconds(time.Since(began)), []string{}
	status := summaryExit(r.Whole, nil)
	if status == exitOK && !r.Holds() {
		status = exitPlan
	}
	if rep.damaged {
		status = exitUsage
	}
	if r.Interrupted {
		status = exitStopped
	}
	rep.found, rep.Status = status, status
	rep.judge(r.Plan())
	if c.HTML != "" {
		if err := c.draw(rep, r, cfg); err != nil {
			return 0, err
		}
	}
	if c.Actions != "" && r.Interrupted {
		a.complain("--actions %s: not written, since what to do is not known yet", c.Actions)
	} else if c.Actions != "" {
		w, err := newWhole(c.Actions)
		if err != nil {
			return 0, fmt.Errorf("--actions: %w", err)
		}
		defer w.discard()
		if err := errors.Join(r.WriteActions(w), w.keep()); err != nil {
			return 0, fmt.Errorf("--actions: %w", err)
		}
	}
	if c.JSON {
		return a.printJSON("plan", rep, planJSON(rep, r, cfg.Snapshot))
	}
	c.print(a, rep, r)
	return status, nil
}

// ownFaults returns the default fault level: light, or "" if the scenario says which faults it has, or that it has none.
func ownFaults(p *Program, name string) string {
	sc, err := p.openScenario(name)
	if err != nil || sc.NoFaults || len(sc.Template.Faults.Rates) > 0 {
		return ""
	}
	return "light"
}

// storeMemory is the amount of memory from which saving it matters more than time, if what the heap holds is of a store.
const storeMemory = 400 << 20

func readStore(name string, builds []*engine.Build) (*upgrade.Snapshot, error) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(storeMemory)
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	s, err := upgrade.Read(os.DirFS(filepath.Dir(abs)), filepath.Base(abs), builds)
	if err != nil {
		return nil, fmt.Errorf("--store %s: %w", name, err)
	}
	for i := range s.Problems {
		s.Problems[i].File = filepath.Join(filepath.Dir(name), s.Problems[i].File)
	}
	for i := range s.LeftOut {
		if e := &s.LeftOut[i].Example; e.File != "" {
			e.File = filepath.Join(filepath.Dir(name), e.File)
		}
	}
	if len(s.Store.Instances)+len(s.Store.Messages)+len(s.LeftOut)+len(s.Problems)+s.Ended == 0 {
		return nil, fmt.Errorf("--store %s: the export is empty", name)
	}
	return s, nil
}

// try tries the upgrade while showing a progress bar. It prints what is known without a run at once.
func (c *planCmd) try(a *app, s *subject, cfg upgrade.Config, seeds seedRange) (*upgrade.Report, error) {
	if !c.JSON {
		cfg.OnPreflight = func(r *upgrade.Report) { c.printBefore(a, s, r, cfg.Snapshot, seeds) }
	}
	cfg.Context = a.interruptible()
	bar := newProgress(a.stderr, s.scenario.Name)
	cfg.OnProgress = bar.none
	r, err := upgrade.Try(cfg)
	bar.clear()
	if err != nil || r.Interrupted || !c.Orders {
		return r, err
	}
	bar = newProgress(a.stderr, "orders")
	cfg.OnProgress = bar.none
	r.Orders, err = upgrade.TryOrders(cfg, min(cfg.Seeds, orderSeeds), &r.Stops[0])
	bar.clear()
	if errors.Is(err, context.Canceled) {
		r.Interrupted, err = true, nil
	}
	return r, err
}

// printBefore prints what is known without a run, and does not wait for the runs.
func (c *planCmd) printBefore(a *app, s *subject, r *upgrade.Report, store *upgrade.Snapshot, seeds seedRange) {
	a.printf("%s  %s, %s; %s each, %s\n", a.style.title("plan "+s.scenario.Name), plural(uint64(len(r.Steps)), "step", "steps"),
		plural(uint64(len(s.scenario.Template.Nodes)), "node", "nodes"), plural(seeds.count, "seed", "seeds"), plural(r.Runs, "run", "runs"))
	if store != nil {
		a.printStore(c.Store, store)
	}
	a.printf("%s", r.Work())
	if store != nil {
		a.printf("%s", r.Preflight())
	}
	_ = a.stdout.Flush() // Run reports write errors
}

func (c *planCmd) print(a *app, rep *report, r *upgrade.Report) {
	done := fmt.Sprintf("%s of %s in", grouped(r.Whole.Seeds), plural(r.Runs, "run", "runs"))
	if r.Interrupted {
		done = fmt.Sprintf("interrupted after %d of %s,", r.Done, plural(r.Runs, "run", "runs"))
	}
	a.printf("\nthe whole plan (%s %.1fs):\n%s\n", done, time.Duration(rep.Wall).Seconds(), rep.verdicts("\n"))
	if rep.damaged {
		a.printf("the export is incomplete, which may affect the results\n")
	}
	a.printf("%s", r.Whole.Fate.Text(false))
	for _, p := range byWeight(r.Whole.Properties) {
		if !rep.damaged || p.Class == cluster.ClassPlan {
			a.printf("\n%s: %s\n", a.style.bad(ruleName(p.First.Violation)), firstLines(p.First.Message, 6))
		}
	}
	try := ""
	if c.Details {
		bug := planCmd{planFlags: planFlags{Bug: []string{"ID"}, Store: c.Store}}
		try = commandline.Join(slices.Concat([]string{a.program.name(), "plan"}, given(bug), []string{rep.subject.arg})...)
	}
	a.printf("%s", upgrade.WindowsText(rep.Windows, try))
	a.printf("%s", r.Text())
	if variant, seed, instance := r.Remarkable(); variant != "" {
		a.printf("\nTo see a run of the map, here with %s (stop-N, back-N: the number of the step):\n%s\n", instance, c.oneLine(rep.subject, variant, seed, instance))
	}
	if rep.Status != exitOK {
		a.printf("\n%s\n", a.style.bad(exitText(rep.Status)))
	}
}

// printStore describes what an export contains.
func (a *app) printStore(name string, s *upgrade.Snapshot) {
	var pins []string
	for _, p := range s.Pins() {
		pins = append(pins, fmt.Sprintf("%s: %d", upgrade.PinText(p.Pin), p.Instances))
	}
	text := ""
	if len(pins) > 0 {
		text = " (pins " + strings.Join(pins, ", ") + ")"
	}
	running, queued, starts := s.Counts()
	if starts > 0 {
		text += " and " + plural(uint64(starts), "queued start", "queued starts")
	}
	a.printf("store %s: %s%s, %s queued; without %s\n", name, plural(uint64(running), "running instance", "running instances"), text,
		plural(uint64(queued), "message", "messages"), plural(uint64(s.Ended), "instance that has ended", "instances that have ended"))
	a.printKinds(s, running)
	if s.NoQueues {
		a.printf("  the export has no queues: open timers and activities are taken from the histories\n")
	}
	for _, d := range s.Delivered {
		a.printf("  delivered before: %d of %s, such as that for %s, %s; the runs count from zero", d.Count, d.Kind, d.Instance, plural(uint64(d.Attempts), "time", "times"))
		if most := node.DefaultOptions().MaxAttempts; d.Attempts >= most {
			a.printf(", and a real node with max_attempts %d poisons it with the next delivery", most)
		}
		a.printf("\n")
	}
	for _, l := range s.LeftOut {
		a.printf("  left out: %s: %d, such as %v\n", l.Reason, l.Count, l.Example)
	}
	if n := len(s.Problems); n > 0 {
		a.printf("  the export is damaged: standard error names %s\n", plural(uint64(n), "place", "places"))
	}
}

// printKinds says which instances stand for others that are like them.
func (a *app) printKinds(s *upgrade.Snapshot, running int) {
	const shown = 8
	kinds := s.Kinds()
	if len(kinds) == 0 {
		return
	}
	a.printf("  run: %d of the %s running instances, a few of each kind that are alike; preflight, map and what to do count those that they stand for, the verdict those that are run\n", len(s.Store.Instances), grouped(uint64(running)))
	for i, k := range kinds {
		if i == shown {
			a.printf("    ... more kinds: %d\n", len(kinds)-i)
			break
		}
		a.printf("    %d of %s like %s (%s, pin %s)\n", k.Run, grouped(uint64(k.Instances)), k.Example, k.Orchestration, k.Pin)
	}
}

// planned is the object printed by plan --json.
type planned struct {
	*report
	*upgrade.Report
	Steps []string `json:"steps"`
	// NoReturn is null if the trial was interrupted before it was known.
	NoReturn *int `json:"point_of_no_return"`
	// Actions is what to do, in the order of the steps.
	Actions  []upgrade.Action  `json:"actions"`
	LeftOut  []upgrade.LeftOut `json:"left_out,omitempty"`
	Problems []upgrade.Problem `json:"problems,omitempty"`
}

func planJSON(rep *report, r *upgrade.Report, store *upgrade.Snapshot) any {
	rep.Interrupted = r.Interrupted
	out := planned{report: rep, Report: r}
	if r.NoReturn > 0 || r.Tried() {
		out.NoReturn = &r.NoReturn
	}
	out.Actions = r.Actions()
	for i := range r.Steps {
		out.Steps = append(out.Steps, r.Steps[i].String())
	}
	if store != nil {
		out.Problems, out.LeftOut = store.Problems, store.LeftOut
	}
	return out
}

// shownRuns is the maximum number of runs of the map's cells that a page carries, and shownEvents of what they may hold
// together, which keeps the page small enough to be mailed.
const (
	shownRuns   = 24
	shownEvents = 200_000
)

// draw writes the plan's page: the rollback map, whose cells open their runs, what the terminal says of the whole plan,
// and the first seed's run.
func (c *planCmd) draw(rep *report, r *upgrade.Report, cfg upgrade.Config) error {
	s := rep.subject
	p := timeline.Page{Title: "Plan " + s.scenario.Name, Command: lineOf("plan", *c, s.arg, "html", "json")}
	p.Verdict, p.Bad = rep.verdicts("; "), rep.Status != exitOK
	places, events := map[string]int{}, 0
	var failed error
	p.Map = r.Map(func(cell *timeline.Cell, variant string, n *upgrade.Count) {
		cell.Command, cell.Instance = c.oneLine(s, variant, n.ExampleSeed, n.Example), n.Example
		name := fmt.Sprintf("%s, seed %d", variant, n.ExampleSeed)
		if cell.Run = places[name]; cell.Run > 0 || len(p.More) == shownRuns || events > shownEvents || failed != nil {
			return
		}
		var run cluster.Config
		if run, failed = cfg.One(variant, n.ExampleSeed); failed != nil {
			return
		}
		more := timeline.Run{Name: name, At: c.oneLine(s, variant, n.ExampleSeed, "") + " --step"}
		if more.Timeline, failed = seen(run, n.ExampleSeed); failed != nil {
			return
		}
		events += more.Events()
		p.More = append(p.More, more)
		cell.Run, places[name] = len(p.More), len(p.More)
	})
	if failed != nil {
		return failed
	}
	p.Tables = filled(append([]timeline.Table{r.ActionTable(), r.HazardTable(), r.OrderTable(len(r.Orders))}, workTables(rep)...)...)
	first, err := cfg.Plan(cfg.First)
	if err != nil {
		return err
	}
	p.At = c.oneLine(s, "whole", cfg.First, "") + " --step"
	return drawRun(c.HTML, &p, cfg.Run(first, cfg.First, s.scenario.Expect), cfg.First)
}

// replay replays one run of a variant of the plan and prints its story.
func (c *planCmd) replay(a *app, s *subject) (int, error) {
	if err := c.check(); err != nil {
		return 0, err
	}
	seed := uint64(or(c.Seed, 1))
	r := &replayed{subject: s, seed: seed, name: "plan " + s.scenario.Name + ", " + c.Replay, line: c.oneLine(s, c.Replay, seed, "")}
	if err := r.vary(c.Replay); err != nil {
		return 0, err
	}
	a.warn(s)
	return r.tell(a, &c.storyFlags, c.HTML, c.JSON)
}

// vary makes it the run of a variant of the plan.
func (r *replayed) vary(variant string) error {
	if r.entry != nil {
		return errors.New("a stored run has no variants: leave out --replay")
	}
	cfg := r.subject.upgrade()
	r.subject.bridges = true
	r.made = func() (cluster.Config, error) { return cfg.One(variant, r.seed) }
	_, err := r.made()
	return err
}

func (c *planCmd) oneLine(s *subject, variant string, n uint64, instance string) string {
	one := planCmd{planFlags: s.flags, Replay: variant, Seed: (*seed)(&n), storyFlags: storyFlags{Instance: instance}}
	return lineOf("plan", one, s.arg)
}
