package command

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/durosim/durosim/internal/planterm"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/planedit"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/workload"
)

// fuzzCmd implements `simrun fuzz`, which searches for failing runs near a scenario.
type fuzzCmd struct {
	planFlags `embed:""`

	Scenario string `arg:"" optional:"" help:"Built-in scenario or file; if none is named, the one that shows the first --bug, or rolling-upgrade."`

	For      time.Duration `help:"The duration of the hunt; a minute if neither this nor --runs is given." placeholder:"TIME"`
	Runs     *uint64       `help:"The number of runs. With it, the result depends only on scenario, seed and corpus. With --exhaustive 20,000 if not given, and 0 means no limit." placeholder:"N"`
	Seed     *seed         `help:"The seed of the hunt, decimal or 0x-hex; 1 if not given." placeholder:"N"`
	Corpus   string        `help:"Begin with the stored runs in this directory, and store finds there; inputs that showed new behaviour go to coverage/ below it." placeholder:"DIR"`
	FailFast bool          `help:"Stop at the first find."`
	Shrink   uint          `help:"The number of runs that shrinking a find may take." default:"1500" placeholder:"N"`
	Workers  uint          `help:"The number of runs at once; the number of cores if not given. The result does not depend on it." placeholder:"N"`
	JSON     bool          `name:"json" help:"Print one JSON object on standard output and nothing else."`

	Exhaustive bool           `help:"Edit nothing, and try a small scenario (at most 3 nodes, 2 instances and 4 schedule steps) exhaustively: all orders of its steps, crashes at every moment."`
	Crashes    *uint          `help:"With --exhaustive: the number of crashes that a run may have, at most 2; 1 if not given." placeholder:"N"`
	Within     *time.Duration `help:"With --exhaustive: the latest time of the last action; 10s if not given." placeholder:"TIME"`
}

// Help returns the text printed below the flags.
func (fuzzCmd) Help() string {
	return `Hunts for runs that break the contract, near a scenario: it edits the scenario's plans (steps, crashes, faults, options, instances, programs, clients' actions), draws their choices in several ways, and goes back to moments that few runs reach to try other continuations. Plans that show new behaviour are edited further. The lines "fuzz" of the scenario limit the size and the parts of a plan.

Each find is shrunk, and with --corpus kept as a stored run. Finds differ in the violated property, or in the kinds of parts that their smallest plans need. Only the contract is judged: an edited plan may lose work.

With --exhaustive it tries each order of the schedule steps (those of one node stay in order), each moment for each of them, and crashes of any node at any moment. A moment follows a change in the store, in a node, or in a call in flight. Nothing is left to chance: there are no faults, and calls take the least time. The times of the steps do not count. If several runs reach the same state with the same remaining actions, only the first continues. States are compared without times, tokens and row numbers. The report gives the number of states, and says whether these are all: "exhaustive for ..." or "cut off".

Examples:

    simrun fuzz my-upgrade.txt --for 10m --corpus finds
    simrun fuzz my-upgrade.txt --runs 2000 --seed 7
    simrun fuzz --bug provider/ack-partial --fail-fast rolling-upgrade
    simrun fuzz --exhaustive small.txt --crashes 2 --runs 0

Exit status: 0 nothing found, 1 safety violated, 2 usage or bad input, 3 liveness violated, 5 an exhaustive search was cut off, 7 it found that the plan fails, 74 standard output cannot be written, 130 interrupted.`
}

func (c *fuzzCmd) run(a *app) (int, error) {
	switch {
	case c.Chooser != "":
		return 0, fmt.Errorf("--chooser %s: fuzz alternates between choosers", c.Chooser)
	case c.Provider != "":
		return 0, fmt.Errorf("--provider %s: fuzz runs on the in-memory store", c.Provider)
	case c.For < 0 || c.Shrink < 1:
		return 0, fmt.Errorf("--for %v --shrink %d: expected a positive time, and at least one run", c.For, c.Shrink)
	}
	if c.Workers == 0 {
		c.Workers = uint(runtime.GOMAXPROCS(0))
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
	user, stop := interruptible()
	defer stop()
	o.Context = user
	if c.For > 0 || o.Runs == 0 {
		limited, cancel := context.WithTimeout(user, max(c.For, 0)+c.usualTime())
		defer cancel()
		o.Context = limited
	}
	var kept keeper
	if c.Corpus != "" {
		kept.dir = filepath.Join(c.Corpus, "coverage")
		o.OnNew = kept.keep
	}
	bar := newProgress(a.stderr, "fuzz", o.Runs)
	o.OnProgress = func(r *fuzz.Report) { bar.show(r.Runs, r.Failed) }
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
	if c.JSON {
		return out.ExitStatus, a.writeJSON(out)
	}
	a.printFuzz(out, r)
	return out.ExitStatus, nil
}

// usualTime returns the default duration of a hunt: one minute, or 0 if --for is set.
func (c *fuzzCmd) usualTime() time.Duration {
	if c.For > 0 {
		return 0
	}
	return time.Minute
}

// fuzzedLoad limits the load in plans that the fuzzer edits. Small plans run faster and shrink more easily.
const fuzzedLoad = 12

func (c *fuzzCmd) options(s *subject) (o fuzz.Options, err error) {
	o = fuzz.Options{Seed: c.Seed.or(1), First: c.FailFast, Workers: int(c.Workers), Space: s.space()}
	if c.Runs != nil {
		o.Runs = *c.Runs
	}
	if s.scenario.Load != nil {
		most := fuzzedLoad
		if n := s.scenario.Fuzz.Instances; n > 0 {
			most = n
		}
		s.over.Instances = min(s.scenario.Load.Count, most)
	}
	without, userOnly := planProperties(), s.userOnly
	o.Plain = s.plan
	o.Config = func() cluster.Config {
		cfg := cluster.Config{Builds: s.program.builds(), Releases: releases(), DoubleCheck: c.DoubleCheck}
		s.program.newRun().Configure(&cfg, properties.Options{Without: without, UserOnly: userOnly, SecondJudge: s.secondJudge()})
		return cfg
	}
	o.Shrink = func(failing durosim.Concrete, v cluster.Violation) (*durosim.Shrunk, error) {
		options := s.shrinkOptions(v)
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

// planProperties returns the IDs of the properties that judge the plan rather than the contract.
func planProperties() (ids []string) {
	for _, p := range properties.Catalogue() {
		if p.Class == cluster.ClassPlan {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// space returns the edits that the fuzzer may make, within the scenario's limits. By default, edits can use everything
// that durosim ships. If the program has its own handlers, new instances are copies of the scenario's own instances.
func (s *subject) space() *planedit.Space {
	limits, space := s.scenario.Fuzz, planedit.Shipped()
	space.Known = plan.Known{Builds: s.program.builds(), Orchestrations: workload.Names()}
	space.Nodes, space.Instances, space.Steps, space.Statements = limits.Nodes, limits.Instances, limits.Steps, limits.Statements
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
	if s.program.ownHandlers() {
		space.Handlers, space.Work = nil, s.scenario.Template.Instances
	}
	return space
}

// named returns the builds that the scenario's nodes run, without duplicates. Released runtimes are left out.
func (s *subject) named() (names []string) {
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) && planterm.FindBuild(s.program.builds(), name) != nil && !strings.HasPrefix(name, engine.ReleasePrefix) {
			names = append(names, name)
		}
	}
	for _, n := range s.scenario.Template.Nodes {
		add(n.Build)
	}
	for _, step := range s.scenario.Template.Schedule {
		add(step.Build)
	}
	for _, b := range s.scenario.Template.Builds {
		names = append(names, b.Name)
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
