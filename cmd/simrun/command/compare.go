package command

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/durosim/durosim/cmd/simrun/internal/compare"
	"github.com/durosim/durosim/cmd/simrun/internal/upgrade"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/timeline"
)

// compareCmd implements `simrun compare`, which runs one scenario under every strategy, or by every procedure.
type compareCmd struct {
	planFlags `embed:""`

	Scenario string `arg:"" optional:"" help:"A scenario file, or a built-in scenario; rolling-upgrade if none is named."`

	Procedures bool      `help:"Compare the ways in which the file's upgrade can be rolled out, in place of strategies."`
	Seeds      seedRange `help:"The number of seeds for each strategy or procedure, or a range; 20 if not given." placeholder:"N|A..B"`
	HTML       string    `name:"html" help:"Write a page with the table, and the run of the first seed of the best row." placeholder:"FILE" writes:""`
	JSON       bool      `name:"json" help:"Print one JSON object on standard output and nothing else."`
}

// Help returns the text printed below the flags.
func (compareCmd) Help() string {
	return `Runs one scenario under each strategy for work that a node cannot run (` + strings.Join(strategies(), ", ") + `), with the same seeds, and prints side by side: fetches for turns, fetches in vain, batches given back, seconds of locks, the time to finish, instances that were poisoned although a build of the scenario runs them, instances that wait for a build at the end of recovery, violated properties, and expectations of the scenario that are not met. A sentence draws the conclusion.

With --procedures it rolls the upgrade of the file out in other ways, with the file's nodes, builds and load, and light faults if the file names none: one node after the other (rolling); first a build that all nodes can run, if one is declared (two-phase); one node, and later the rest (canary); new nodes beside the old ones (blue-green); after what is in flight has ended, while starts are held back (drain); everything stopped, and started anew (stop-all). For each it prints what is lost, stranded, or waits, from which step on a way back leaves something behind, and when what was in flight ended. All nodes must end on one build; the steps before the first that brings it are kept.

Examples:

    simrun compare rolling-upgrade
    simrun compare my-upgrade.txt --seeds 50 --faults light
    simrun compare my-upgrade.txt --procedures

Exit status: 0 the comparison is complete, whatever the numbers are; 2 bad input; 130 interrupted.`
}

// refuses implements refusing.
func (compareCmd) refuses() map[string]string {
	return map[string]string{
		"chooser":      "compare uses the default chooser; run takes a chooser",
		"double-check": "compare computes each turn once; run computes it twice",
		"provider":     "compare runs on durosim's own store",
		"self-check":   "compare is judged by the properties alone; run has self-checks",
		"store":        "compare begins with an empty store; plan begins with yours",
	}
}

const compareSeeds = 20

func (c *compareCmd) run(a *app) (int, error) {
	if c.Strategy != "" && !c.Procedures {
		return 0, fmt.Errorf("--strategy %s: compare runs every strategy; run takes one", c.Strategy)
	}
	c.Scenario = cmp.Or(c.Scenario, a.program.Scenario, scenario.Default)
	if c.Procedures && c.Faults == "" {
		c.Faults = ownFaults(a.program, c.Scenario)
	}
	s, err := c.subject(a.program, c.Scenario)
	if err != nil {
		return 0, err
	}
	if err := inDirectory(c.HTML); err != nil {
		return 0, err
	}
	s.bridges = c.Procedures
	a.warn(s)
	seeds := c.Seeds.or(compareSeeds)
	if c.Procedures {
		return c.procedures(a, s, seeds)
	}
	bar := newProgress(a.stderr, s.scenario.Name)
	cfg := s.upgrade()
	cfg.First, cfg.Seeds, cfg.Context, cfg.OnProgress = seeds.first, seeds.count, a.interruptible(), bar.none
	began := time.Now()
	r, err := compare.Run(cfg)
	bar.clear()
	if err != nil {
		return 0, inputError(err)
	}
	if c.HTML != "" {
		if err := c.draw(s, r, cfg); err != nil {
			return 0, err
		}
	}
	status := exitOK
	if r.Interrupted {
		status = exitStopped
	}
	if c.JSON {
		return status, a.writeJSON("compare", r)
	}
	a.printf("%s  %s each, in %.1fs\n\n%s", a.style.title("compare "+r.Scenario), plural(r.Seeds, "seed", "seeds"), time.Since(began).Seconds(), r.Text())
	for i := range r.Rows {
		row := &r.Rows[i]
		if len(row.Unmet) == 0 {
			continue
		}
		a.printf("\nnot met under %s:\n", row.Strategy)
		for _, text := range row.Unmet {
			a.printf("  expect %s\n", text)
		}
	}
	return status, nil
}

// draw writes the HTML page. It shows the table of strategies, and the first seed's run under the best strategy.
func (c *compareCmd) draw(s *subject, r *compare.Result, cfg upgrade.Config) error {
	best := r.Best()
	p := timeline.Page{Title: "Compare " + r.Scenario, Verdict: r.Sentence, Command: lineOf("compare", *c, s.arg, "html", "json")}
	p.Tables = []timeline.Table{r.Table()}
	first, err := compare.Plan(&cfg, best, cfg.First)
	if err != nil {
		return err
	}
	return drawRun(c.HTML, &p, cfg.Run(first, cfg.First, s.scenario.Expect), cfg.First)
}

// procedures compares the ways in which the upgrade can be rolled out. Its text depends on nothing but the seeds.
func (c *compareCmd) procedures(a *app, s *subject, seeds seedRange) (int, error) {
	cfg := s.upgrade()
	cfg.First, cfg.Seeds, cfg.Context = seeds.first, seeds.count, a.interruptible()
	bar := newProgress(a.stderr, s.scenario.Name)
	cfg.OnProgress = bar.none
	r, err := upgrade.TryProcedures(cfg)
	bar.clear()
	if err != nil {
		return 0, inputError(err)
	}
	status := exitOK
	if r.Interrupted {
		status = exitStopped
	}
	if c.HTML != "" && !r.Interrupted {
		p := timeline.Page{Title: "Procedures for " + r.Scenario, Verdict: r.Sentence, Command: lineOf("compare", *c, s.arg, "html", "json"), Tables: []timeline.Table{r.Table()}}
		run, err := cfg.One(r.Rows[0].Name, cfg.First)
		if err != nil {
			return 0, err
		}
		if err := drawRun(c.HTML, &p, run, cfg.First); err != nil {
			return 0, err
		}
	}
	if c.JSON {
		return status, a.writeJSON("compare", r)
	}
	a.printf("%s  %s each\n%s", a.style.title("compare "+r.Scenario+" --procedures"), plural(r.Seeds, "seed", "seeds"), r.Text())
	if variant, seed, instance := r.Remarkable(); variant != "" {
		one := planCmd{planFlags: s.flags}
		a.printf("\nTo see a run behind these numbers, here with %s:\n%s\n", instance, one.oneLine(s, variant, seed, instance))
	}
	return status, nil
}
