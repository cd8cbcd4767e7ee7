package command

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
)

// bugsCmd implements `simrun bugs`, which shows which properties catch the planted bugs.
type bugsCmd struct {
	IDs []string `arg:"" optional:"" name:"id" help:"The bugs to try; if none is named, all that some property catches."`

	Chooser []string `help:"The chooser; may be repeated, to compare which one finds each bug soonest. Random if not given." placeholder:"NAME" sep:"none"`

	Starts    int    `help:"The number of starting seeds from which to look for each bug." default:"10" placeholder:"N"`
	Seeds     int    `help:"The maximum number of seeds to run from each starting seed." default:"200" placeholder:"N"`
	Workers   int    `help:"How many bugs to try at once; as many as there are cores if not given." placeholder:"N"`
	Detection string `help:"Write the number of seeds that each bug took to this file, for run --confidence." placeholder:"FILE"`
	JSON      bool   `name:"json" help:"Print one JSON object on standard output and nothing else."`
}

// Help returns the text printed below the flags.
func (bugsCmd) Help() string {
	return `Switches each planted bug on in the scenario that shows it, and runs seeds until one of the properties that it is expected to break is violated: from ten starting seeds, a million apart. Reports that property, and the medians of the number of seeds and of the time that this took. A bug that most starting seeds do not find survives; survivors come first, then the bugs that are hardest to find.

Examples:

    simrun bugs
    simrun bugs --starts 3 provider/filter-after-lock engine/poll-stops
    simrun bugs --chooser random --chooser pct:3 --chooser delay:3

With several choosers the table shows the median number of seeds for each, and which chooser is soonest; a bug survives if none finds it.

Exit status: 0 every bug is caught, 5 one survives, 2 usage or bad input.`
}

// farApart is the distance between two successive starting seeds.
const farApart = 1_000_000

// bugTrial is the outcome of searching for one bug.
type bugTrial struct {
	bug     faults.Bug
	chooser string   // empty means the default chooser
	seeds   []uint64 // number of seeds needed from each starting seed; 0 if the bug was not caught
	times   []time.Duration
	// property is the first property that caught the bug, taken from the first starting seed that led to the bug.
	property string
	err      error
}

func (c *bugsCmd) run(a *app) (int, error) {
	if c.Starts < 1 || c.Seeds < 1 || c.Workers < 0 {
		return 0, fmt.Errorf("--starts %d, --seeds %d, --workers %d: expected at least one start, one seed and no fewer than 0 workers", c.Starts, c.Seeds, c.Workers)
	}
	bugs := faults.Catalogue()
	if len(c.IDs) > 0 {
		bugs = nil
	}
	for _, id := range c.IDs {
		bug, ok := faults.Lookup(faults.BugID(id))
		if !ok || !bug.Caught() {
			return 0, fmt.Errorf("no property catches a bug named %q%s; %s lists the bugs that some property catches", id, nearBug(id), a.program.hint("list bugs"))
		}
		bugs = append(bugs, bug)
	}
	for _, name := range c.Chooser {
		if _, err := sim.NamedChooser(name); err != nil {
			return 0, fmt.Errorf("--chooser: %w", err)
		}
	}
	if len(c.Chooser) > 1 && c.Detection != "" {
		return 0, fmt.Errorf("--detection %s: the file is for one chooser, but %d are compared", c.Detection, len(c.Chooser))
	}
	choosers := c.Chooser
	if len(choosers) == 0 {
		choosers = []string{""}
	}
	ctx, stop := interruptible()
	defer stop()
	began := time.Now()
	trials := c.tryAll(ctx, a, bugs, choosers)
	if ctx.Err() != nil {
		return exitStopped, nil // a table with missing rows would be misleading
	}
	for _, t := range trials {
		if t.err != nil {
			return 0, fmt.Errorf("%s: %w", t.bug.ID, t.err)
		}
	}
	if len(choosers) > 1 {
		return c.compare(a, trials, time.Since(began))
	}
	slices.SortStableFunc(trials, func(a, b *bugTrial) int {
		return cmp.Or(-cmp.Compare(median(a.seeds), median(b.seeds)), cmp.Compare(a.caught(), b.caught()))
	})
	out := c.json(trials, time.Since(began))
	if c.Detection != "" {
		if err := writeWhole(c.Detection, out.detection()); err != nil {
			return 0, fmt.Errorf("--detection: %w", err)
		}
	}
	if c.JSON {
		return out.ExitStatus, a.writeJSON(out)
	}
	a.printBugs(out)
	return out.ExitStatus, nil
}

// tryAll searches for each bug with each chooser, using several workers. It returns the trials in input order, grouped
// by bug.
func (c *bugsCmd) tryAll(ctx context.Context, a *app, bugs []faults.Bug, choosers []string) []*bugTrial {
	trials := make([]*bugTrial, 0, len(bugs)*len(choosers))
	for _, b := range bugs {
		for _, name := range choosers {
			trials = append(trials, &bugTrial{bug: b, chooser: name})
		}
	}
	workers := c.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	bar := newProgress(a.stderr, "bugs", uint64(len(trials)))
	defer bar.clear()
	var mu sync.Mutex
	next, done, missed := 0, uint64(0), uint64(0)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for ctx.Err() == nil {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= len(trials) {
					return
				}
				trial := trials[i]
				c.try(ctx, a.program, trial)
				mu.Lock()
				if done++; trial.survives() {
					missed++
				}
				bar.show(done, missed)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return trials
}

// try searches for the trial's bug from each starting seed.
func (c *bugsCmd) try(ctx context.Context, p *Program, t *bugTrial) {
	// Figures for run --confidence are those of runs as a user makes them.
	s, err := planFlags{Bug: []string{string(t.bug.ID)}, Chooser: t.chooser, SelfCheck: c.Detection == ""}.subject(p, "")
	if err != nil {
		t.err = err
		return
	}
	for start := range uint64(c.Starts) {
		property := ""
		o := s.campaign()
		o.Context, o.Workers, o.KeepGoing = ctx, 1, true
		o.First, o.Count = 1+start*farApart, uint64(c.Seeds)
		config := o.Config
		o.Config = func() cluster.Config {
			cfg := config()
			cfg.Stop = func(v cluster.Violation) bool { return slices.Contains(t.bug.Properties, v.Property) }
			return cfg
		}
		o.Until = func(r *cluster.Result) bool {
			for _, v := range r.Violations {
				if property == "" && slices.Contains(t.bug.Properties, v.Property) {
					property = v.Property
				}
			}
			return property != ""
		}
		began := time.Now()
		sum, err := campaign.Run(o)
		if err != nil {
			t.err = inputError(err)
			return
		}
		seeds := uint64(0)
		if property != "" {
			seeds = sum.Seeds
		}
		t.seeds, t.times = append(t.seeds, seeds), append(t.times, time.Since(began))
		t.property = cmp.Or(t.property, property)
	}
}

// caught returns the number of starting seeds that led to the bug.
func (t *bugTrial) caught() int {
	return len(t.seeds) - len(slices.DeleteFunc(slices.Clone(t.seeds), func(n uint64) bool { return n > 0 }))
}

func (t *bugTrial) survives() bool { return median(t.seeds) == notFound }

// notFound is the median if at least half of the searches fail.
const notFound = ^uint64(0)

// median returns the median of numbers, or the larger of the two middle numbers if the count is even. A zero means "not
// found" and sorts last. If the median is a zero, or numbers is empty, the result is notFound.
func median(numbers []uint64) uint64 {
	sorted := slices.Clone(numbers)
	for i, n := range sorted {
		if n == 0 {
			sorted[i] = notFound
		}
	}
	slices.Sort(sorted)
	if len(sorted) == 0 {
		return notFound
	}
	return sorted[len(sorted)/2]
}

// bugsJSON is the object printed by bugs --json.
type bugsJSON struct {
	Schema      int            `json:"schema"`
	Verb        string         `json:"verb"`
	Bugs        []bugTrialJSON `json:"bugs"`
	Survivors   int            `json:"survivors"`
	Starts      int            `json:"starts"`
	Seeds       int            `json:"seeds"`
	WallSeconds float64        `json:"wall_seconds"`
	ExitStatus  int            `json:"exit_status"`
}

type bugTrialJSON struct {
	ID       string   `json:"id"`
	Scenario string   `json:"scenario"`
	Expected []string `json:"expected"`
	Property string   `json:"property"`
	Survives bool     `json:"survives"`
	// Caught is the number of starting seeds that led to the bug. Seeds holds the number of seeds needed from each
	// starting seed, or 0 if the bug was not found.
	Caught        int      `json:"caught"`
	Seeds         []uint64 `json:"seeds"`
	MedianSeeds   uint64   `json:"median_seeds"`
	MedianSeconds float64  `json:"median_seconds"`
}

func (c *bugsCmd) json(trials []*bugTrial, wall time.Duration) *bugsJSON {
	out := &bugsJSON{Schema: schema, Verb: "bugs", Bugs: []bugTrialJSON{}, Starts: c.Starts, Seeds: c.Seeds, WallSeconds: wall.Seconds()}
	for _, t := range trials {
		slices.Sort(t.times)
		b := bugTrialJSON{
			ID: string(t.bug.ID), Scenario: t.bug.Scenario, Expected: t.bug.Properties, Property: t.property, Survives: t.survives(),
			Caught: t.caught(), Seeds: t.seeds, MedianSeconds: t.times[len(t.times)/2].Seconds(),
		}
		if b.Survives {
			out.Survivors++
			out.ExitStatus = exitVacuous
		} else {
			b.MedianSeeds = median(t.seeds)
		}
		out.Bugs = append(out.Bugs, b)
	}
	return out
}

func (a *app) printBugs(out *bugsJSON) {
	t := tabwriter.NewWriter(a.stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "bug\tcaught by\tseeds\ttime\tstarts\tscenario")
	for _, b := range out.Bugs {
		by, seeds := b.Property, grouped(b.MedianSeeds)
		if b.Survives {
			by, seeds = a.style.bad("SURVIVES"), "-"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.2fs\t%d of %d\t%s\n", b.ID, by, seeds, b.MedianSeconds, b.Caught, out.Starts, b.Scenario)
	}
	flushTable(t)
	a.printf("\n%s, %d survive, in %.1fs; seeds and time are medians of %s, with at most %s each\n",
		plural(uint64(len(out.Bugs)), "bug", "bugs"), out.Survivors, out.WallSeconds,
		plural(uint64(out.Starts), "start", "starts"), plural(uint64(out.Seeds), "seed", "seeds"))
}
