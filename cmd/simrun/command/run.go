package command

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
)

// runCmd implements `simrun run`, which runs a campaign.
type runCmd struct {
	planFlags `embed:""`

	Scenario string `arg:"" optional:"" help:"Built-in scenario or file; if none is named, the one that shows the first --bug, or rolling-upgrade."`

	Seed       *seed     `help:"Run this one seed, decimal or 0x-hex." placeholder:"N" xor:"seeds"`
	Seeds      seedRange `help:"The number of seeds to run, or a range: 1000, 5..9, 0x10-0x1f. If not given, 1000, or the number from which the scenario's requirements apply if that is larger." placeholder:"N|A..B" xor:"seeds"`
	Shard      shard     `help:"Run part I of N equal parts of the seeds; with /N, the part that the environment names." placeholder:"I/N"`
	Workers    uint      `help:"The number of seeds to run at once; the number of cores if 0 or not given. The result does not depend on it." placeholder:"N"`
	FailFast   bool      `help:"Stop at the first seed that fails."`
	Twice      bool      `help:"Run every seed twice and compare; without it, only the first."`
	Out        string    `help:"Write stored runs of the failures to this directory: of each seed that is the first to violate a property, with its gravest violation, and of each broken expectation." placeholder:"DIR" writes:""`
	Results    string    `help:"Write the result of each seed to this file, as JSON lines; merge combines those of shards." placeholder:"FILE" writes:""`
	Known      string    `help:"A TOML file of known mistakes: a violation of an entry's property whose evidence contains its class does not count." placeholder:"FILE"`
	ciFlags    `embed:""`
	HTML       string `name:"html" help:"Write a page of the campaign: totals, fates, findings, coverage, and the run of the first seed that fails, or of the first." placeholder:"FILE" writes:""`
	Confidence bool   `help:"If every property holds, report how much that shows, even for fewer than 100 seeds: the rule of three, and which planted bugs this number of seeds finds."`
	Matrix     bool   `help:"Count which kinds of faults met which features of orchestrations, and print that as a table."`
	Instances  bool   `help:"Name every instance in the fate of the work, not only the first few."`
	Details    bool   `help:"Name the points of coverage that a file's runs did not reach, and the mistakes of older releases."`
	JSON       bool   `name:"json" help:"Print one JSON object on standard output and nothing else."`
}

// Help returns the text printed below the flags.
func (runCmd) Help() string {
	return `Runs the scenario once for each seed and checks every property after every step. Ends with a table and, if a property did not hold, with a report and a command line that reproduces it.

Examples:

    simrun                                   1,000 seeds of rolling-upgrade
    simrun run --seeds 50 --faults full      50 seeds with every fault
    simrun run --bug provider/filter-after-lock --seeds 200
    simrun run --seeds 1..500 --json my.txt > result.json
    simrun run --shard 2/4 --results 2.jsonl the second quarter

Without --shard, a task of a Slurm array (SLURM_ARRAY_TASK_ID) and a shard of a Bazel test (TEST_SHARD_INDEX) run their part of the seeds; in an indexed job of Kubernetes (JOB_COMPLETION_INDEX) say --shard /N. The report says which part it is.

Exit status: 0 all hold, 1 safety violated, 2 usage or bad input, 3 liveness violated, 4 two runs of one seed differ, 5 the campaign did not reach what its scenario requires, 6 a handler is not deterministic, panics or does not return, 7 the plan fails, 70 internal error, 74 standard output cannot be written, 130 interrupted.

There are two verdicts. "contract: held" says that store, engine and nodes kept their contract; it does not say that your work was done; rules of your own that are broken are named after it. "plan" says whether every instance ended as the plan expects: as completed, unless the plan says "expect" something else, and whether what it expects of its runs holds. A plan can fail while the contract holds, such as an order that is poisoned after its handler was withdrawn: status 7. The report lists what recovery and rescue did for an instance after its end.

Interrupted (Ctrl-C, SIGTERM) it reports the seeds that are done, and ends with the command that runs the others.`
}

// defaultSeeds is the number of seeds in a campaign if neither the command line nor the scenario specifies one.
const defaultSeeds = 1000

func (c *runCmd) run(a *app) (int, error) {
	s, err := c.subject(a.program, c.Scenario)
	if err != nil {
		return 0, err
	}
	s.matrix = c.Matrix
	a.warn(s)
	if err := errors.Join(c.noStoreToKeep("--out", c.Out), checkDir("--out", c.Out), inDirectory(c.HTML)); err != nil {
		return 0, err
	}
	if c.Results != "" && c.FailFast {
		return 0, errors.New("--results --fail-fast: results need all seeds; leave one flag out")
	}
	known, err := readKnown(a.program, c.Known)
	if err != nil {
		return 0, err
	}
	findings, err := c.open()
	if err != nil {
		return 0, err
	}
	if c.Shard, err = c.Shard.fromEnvironment(os.Getenv); err != nil {
		return 0, err
	}
	seeds := c.Seed.alone(c.Seeds.or(uint64(max(defaultSeeds, s.scenario.Seeds.Count))))
	s.apart = known.of
	o := s.campaign()
	o.First, o.Count, o.Workers, o.KeepGoing, o.Twice = seeds.first, seeds.count, int(c.Workers), !c.FailFast, 1
	o.AllInstances = c.Instances
	o.Shard = campaign.Shard{Index: c.Shard.index, Of: c.Shard.of}
	if c.Twice {
		o.Twice = seeds.count
	}
	seen := make([]knownSeen, len(known.Known))
	o.Ignore = known.ignores(seen)
	o.Context = a.interruptible()
	s.context = o.Context
	bar := newProgress(a.stderr, s.scenario.Name)
	o.OnProgress = func(p campaign.Progress) { bar.show(p.Done, p.Total, p.Failed) }
	var results *resultsWriter
	if c.Results != "" {
		if results, err = newResults(c.Results, s, seeds, c.Shard, known); err != nil {
			return 0, err
		}
		defer results.discard()
	}
	counts := newPortfolioCounts()
	o.OnResult = func(r campaign.SeedResult) {
		if results != nil {
			results.line(r)
		}
		counts.add(r)
	}
	began := time.Now()
	sum, err := campaign.Run(o)
	wall := time.Since(began)
	bar.clear()
	if err != nil && (sum == nil || sum.Seeds == 0) {
		return 0, inputError(err)
	}
	if results != nil && !sum.Interrupted && err == nil {
		if err := results.complete(sum.Coverage, seen); err != nil {
			return 0, err
		}
	}
	r := newReport(s, sum, seeds)
	r.shard, r.Wall, r.instances, r.confident, r.details = c.Shard, seconds(wall), c.Instances, c.Confidence, c.Details
	r.know(seen)
	r.SecondJudge = s.judgedTwice(seeds.first, c.Shard, sum.Seeds)
	if c.Chooser == portfolio {
		r.Portfolio = counts.members
	}
	if sum.Interrupted {
		r.Status = exitStopped
		done := sum.Seeds
		if r.anew = c.Results != ""; r.anew {
			done = 0 // a results file must cover all seeds, so start over
		}
		r.GoOn = c.goOn(s, seeds, done)
	}
	if err != nil { // a store that gives no valid answer, since errors of the plan are those of every seed
		r.NoRun, r.Status = inputError(err).Error(), cmp.Or(r.Status, exitUsage)
		r.NoRunRepro = s.repro(err.(*campaign.PlanError).Seed)
	}
	if c.Out != "" {
		if r.Stored, err = storeFailures(c.Out, s, sum); err != nil {
			return 0, err
		}
	}
	if err := c.tell(a, r, findings, c.Shard); err != nil {
		return 0, err
	}
	if c.HTML != "" {
		if err := c.draw(r); err != nil {
			return 0, err
		}
	}
	if c.JSON {
		return a.printJSON("run", r, r)
	}
	r.makeSmall()
	a.printCampaign(r)
	return r.Status, nil
}

// goOn returns the command line for running the remaining seeds.
func (c *runCmd) goOn(s *subject, seeds seedRange, done uint64) string {
	done *= max(c.Shard.of, 1)
	left := *c
	left.Seed, left.Seeds = nil, seedRange{first: seeds.first + done, count: seeds.count - done}
	return lineOf("run", left, s.arg)
}

// inputError adds the seed to err if err reports an invalid plan.
func inputError(err error) error {
	var p *campaign.PlanError
	if errors.As(err, &p) {
		return fmt.Errorf("seed %d has no run: %w", p.Seed, p.Err)
	}
	return err
}

// The choosers that need special handling.
const (
	enumerated = "enumerate:"
	portfolio  = "portfolio"
)

// choose sets the chooser for the subject's runs. An empty name selects the default chooser.
func (s *subject) choose(name string) (err error) {
	if name != "" {
		s.chooser, err = sim.NamedChooser(name)
	}
	return err
}

// memberCount counts the results of one of a portfolio's choosers.
type memberCount struct {
	Chooser   string   `json:"chooser"`
	Seeds     uint64   `json:"seeds"`
	Failed    uint64   `json:"failed"`
	FirstSeed uint64   `json:"first_seed,omitempty"`
	Rules     []string `json:"found,omitempty"` // the rules that this chooser was the first to violate
}

// portfolioCounts counts results by chooser. Results must arrive in seed order.
type portfolioCounts struct {
	members []memberCount
	known   map[string]bool // the rules violated so far; never iterated over
}

func newPortfolioCounts() *portfolioCounts {
	c := &portfolioCounts{known: map[string]bool{}}
	for _, name := range sim.Portfolio() {
		c.members = append(c.members, memberCount{Chooser: name})
	}
	return c
}

func (c *portfolioCounts) add(r campaign.SeedResult) {
	name := sim.PortfolioMember(r.Seed)
	for i := range c.members {
		m := &c.members[i]
		if m.Chooser != name {
			continue
		}
		m.Seeds++
		if r.Result == nil || len(r.Result.Violations) == 0 {
			return
		}
		if m.Failed++; m.Failed == 1 {
			m.FirstSeed = r.Seed
		}
		for _, v := range r.Result.Violations {
			if !c.known[v.Rule()] {
				c.known[v.Rule()] = true
				m.Rules = append(m.Rules, ruleName(v))
			}
		}
	}
}

func (a *app) printPortfolio(members []memberCount) {
	if len(members) == 0 {
		return
	}
	a.printf("\nby chooser:\n")
	for _, m := range members {
		a.printf("  %-10s %s of %s failed", m.Chooser, grouped(m.Failed), plural(m.Seeds, "seed", "seeds"))
		if m.Failed > 0 {
			a.printf(", first seed %d", m.FirstSeed)
		}
		if len(m.Rules) > 0 {
			a.printf("; found first: %s", strings.Join(m.Rules, ", "))
		}
		a.printf("\n")
	}
}

// knownSeen says how often an entry of a file of known mistakes was seen.
type knownSeen struct {
	Property   string        `json:"property"`
	Class      cluster.Class `json:"class,omitempty"` // if it was seen
	Reason     string        `json:"reason"`
	Link       string        `json:"link"`
	Violations uint64        `json:"violations"`
	Seeds      uint64        `json:"seeds"`
	FirstSeed  uint64        `json:"first_seed,string,omitempty"`
	end        uint64
}

// ignores returns a function that says whether a violation is known, and counts it in seen, which is as long as the
// list. It returns nil if no entry is about runs.
func (f *knownFile) ignores(seen []knownSeen) func(seed uint64, v cluster.Violation) bool {
	any := false
	for i, k := range f.Known {
		seen[i] = knownSeen{Property: k.Property, Reason: strings.TrimSpace(k.Reason), Link: k.Link}
		any = any || k.Property != ""
	}
	if !any {
		return nil
	}
	return func(seed uint64, v cluster.Violation) bool {
		i := f.of(v)
		if i < 0 {
			return false
		}
		s := &seen[i]
		s.Class = v.Class
		if s.Violations++; s.end != seed {
			s.Seeds, s.end = s.Seeds+1, seed
		}
		if s.FirstSeed == 0 {
			s.FirstSeed = seed
		}
		return true
	}
}

// of returns the index of the entry that knows a violation, or -1.
func (f *knownFile) of(v cluster.Violation) int {
	return slices.IndexFunc(f.Known, func(k knownMistake) bool {
		says := func(class string) bool { return strings.Contains(v.Message, class) }
		return k.Property == v.Property && (len(k.Classes) == 0 || slices.ContainsFunc(k.Classes, says))
	})
}

// printKnown lists the known mistakes that were seen, and those that were not.
func (a *app) printKnown(r *report) {
	for _, k := range r.Known {
		switch {
		case k.Property == "":
		case k.Violations == 0:
			a.printf("known, and not seen: %s %s %s\n", k.Property, k.Reason, k.Link)
		default:
			a.printf("known: %s of %s in %s, first in seed %d: %s %s\n", plural(k.Violations, "violation", "violations"), k.Property, plural(k.Seeds, "seed", "seeds"), k.FirstSeed, k.Reason, k.Link)
		}
	}
}
