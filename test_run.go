package durosim

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/commandline"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/internal/watchdog"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/shrink"
	"github.com/durosim/durosim/sim/workload"
)

type testRun struct {
	c       Config
	name    string
	plan    func(seed uint64) (*plan.Plan, error)
	chooser func(seed uint64) sim.Chooser
	expect  []plan.Expectation
	// required lists the coverage points that the campaign must reach.
	required []string
	entry    *scenario.Entry // the stored run to replay, or nil for a campaign
	command  string
	// search limits the search for the smallest plan, and logf says how far it is.
	search *watchdog.Search
	logf   func(format string, args ...any)
	// draw, if not nil, writes the page that shows a run.
	draw func(page []byte) error
	// kept is the file that keeps the test's smallest failing plan, or "" if there is none. verify is how many other
	// futures of a stored run are tried when it passes.
	kept   string
	verify uint64
	// write, if not nil, writes a file of the histories.
	write func(name string, data []byte) error
	// fate describes how the campaign's work ended.
	fate string
	// own has the caller's invariants, kept for their names, and monitor.
	own Run
	// warnings point out scenario lines that are probably mistakes.
	warnings []*scenario.Error
}

// prepare decides what to run, from the configuration and the environment.
func (c Config) prepare(env environment) (*testRun, error) {
	c, err := c.Deployed()
	if err != nil {
		return nil, err
	}
	if c.First == 0 {
		c.First = 1
	}
	if c.Seeds == 0 {
		c.Seeds = defaultSeeds
	}
	if env.seed != "" {
		seed, err := parseSeed(env.seed)
		if err != nil {
			return nil, err
		}
		c.First, c.Seeds = seed, 1
	}
	if c.Properties != nil && len(c.Properties) == 0 {
		return nil, errors.New("Config.Properties is empty, so nothing would be checked: nil means all")
	}
	if c.ShrinkRuns < 0 {
		return nil, fmt.Errorf("Config.ShrinkRuns is %d: expected a number of runs, or 0 for the default", c.ShrinkRuns)
	}
	for _, id := range c.Properties {
		if _, ok := properties.ByID(id); !ok {
			return nil, fmt.Errorf("Config.Properties: there is no property %q; properties.Catalogue lists all", id)
		}
	}
	chooser, err := sim.NamedChooser(cmp.Or(c.Chooser, "random"))
	if err != nil {
		return nil, fmt.Errorf("Config.Chooser: %w", err)
	}
	own := newRun(c.Handlers, c.EachRun)
	r := &testRun{c: c, name: "Config.Plan", chooser: chooser, own: own}
	var s *scenario.Scenario
	switch {
	case env.plan != "":
		var err error
		if s, r.entry, err = c.source().Open(env.plan); err != nil {
			return nil, fmt.Errorf("%s: %w", EnvPlan, err)
		}
		if r.entry != nil {
			if err := r.checkNeeds(env.plan); err != nil {
				return nil, fmt.Errorf("%s: %w", EnvPlan, err)
			}
			r.name, r.expect = env.plan, r.entry.Expect
			return r, nil
		}
	case c.Stored != "":
		if c.Scenario != "" || c.Plan != nil {
			return nil, errors.New("Config has a Stored run and a Scenario or a Plan: leave one out")
		}
		entry, err := scenario.ParseEntry("Config.Stored", []byte(c.Stored), c.builds()...)
		if err != nil {
			return nil, err
		}
		r.name, r.entry, r.expect = "Config.Stored", entry, entry.Expect
		return r, r.checkNeeds("Config.Stored")
	case c.Plan != nil:
		if c.Scenario != "" {
			return nil, errors.New("Config has both a Scenario and a Plan: leave one out")
		}
		r.plan = func(seed uint64) (p *plan.Plan, err error) {
			err = called("Config.Plan", func() (err error) { p, err = c.Plan(seed); return err })
			if err == nil && p == nil {
				err = errors.New("Config.Plan returned no plan")
			}
			return p, err
		}
		return r, nil
	case c.Scenario == "" && len(c.Applications)+len(own.Applications) > 0:
		return nil, errors.New("Config has Applications and no Scenario: write one, since the built-in scenario does not name their builds")
	default:
		var entry *scenario.Entry
		var err error
		if s, entry, err = c.source().Open(c.Scenario); err != nil {
			return nil, err
		}
		if entry != nil {
			return nil, fmt.Errorf("Config.Scenario: %s is a stored run, not a scenario; %s=%s replays it", c.Scenario, EnvPlan, c.Scenario)
		}
	}
	if _, foreign := scenario.Lookup(cmp.Or(c.Scenario, scenario.Default)); own.Handlers == nil && foreign != nil && (c.Builds != nil || c.EachRun != nil) {
		return nil, errors.New("Config has Builds or EachRun and no Handlers, so its orchestrations would be durosim's own: set Handlers to yours, or to workload.Handlers")
	}
	if orchestrations, activities := c.known(); orchestrations != nil {
		if err := s.CheckHandlers(orchestrations, activities); err != nil {
			if own.Handlers == nil {
				err = fmt.Errorf("%w; Config has no Handlers, so nodes have durosim's own", err)
			}
			return nil, err
		}
	}
	if err := s.Place(s.Template.Validate(c.knownToPlans())); err != nil {
		return nil, err
	}
	if c.EachRun == nil { // its monitors may have points of their own
		if err := s.CheckRequired(properties.CheckPoint); err != nil {
			return nil, err
		}
	}
	r.warnings = s.Warnings()
	if c.Handlers == nil {
		r.warnings = append(r.warnings, s.WarningsOf(workload.InputWarnings)...)
	}
	steps := cluster.Config{Plan: &s.Template, Builds: c.builds(), Handlers: newRun(c.Handlers, c.EachRun).Handlers}
	r.warnings = append(r.warnings, s.WarningsOfHandlers(steps.Registered)...)
	r.name, r.expect, r.required = s.Name, s.Expect, s.Required(c.Overrides, c.Seeds)
	over := c.Overrides
	if c.Input != nil {
		over.Input = c.Input
	}
	r.plan = func(seed uint64) (*plan.Plan, error) { return s.Expand(seed, over) }
	return r, nil
}

// holds says what holds if nothing is violated, which is all that was checked.
func (r *testRun) holds() string {
	if r.c.Properties == nil {
		return "every property holds"
	}
	holds := strings.Join(r.c.Properties, " holds, ") + " holds"
	if len(r.expect)+len(r.own.Invariants) > 0 || r.own.Monitor != nil {
		holds += ", and so do the expectations and what EachRun adds"
	}
	return holds + "; nothing else was checked"
}

// checkNeeds returns an error if the stored run uses handlers or a store that the configuration lacks. name is the run's name in
// that error.
func (r *testRun) checkNeeds(name string) error {
	if err := r.entry.CheckProvider(name, r.c.Store != nil, "name the function that makes its stores, as Store"); err != nil {
		return err
	}
	orchestrations, activities := r.c.known()
	if orchestrations == nil {
		return nil
	}
	return r.entry.CheckNeeds(name, slices.Concat(orchestrations, activities), newRun(r.c.Handlers, r.c.EachRun).Handlers != nil)
}

// source returns where to look for scenarios.
func (c Config) source() scenario.Source {
	return scenario.Source{Builds: c.builds(), ReadFile: readInput}
}

func (c Config) builds() []*engine.Build {
	if c.Builds == nil {
		return engine.ShippedBuilds()
	}
	return c.Builds()
}

// known returns the handlers that the nodes of all builds register; orchestrations look like "Name@1.0.0". It returns
// nil if a registration fails, because the first run reports that failure.
func (c Config) known() (orchestrations, activities []string) {
	handlers := newRun(c.Handlers, c.EachRun).Handlers
	if handlers == nil {
		handlers = workload.Handlers
	}
	orchestrations = []string{}
	for _, b := range c.builds() {
		r := node.NewRegistry()
		if handlers(r, b) != nil {
			return nil, nil
		}
		orchestrations = append(orchestrations, r.Orchestrations()...)
		activities = append(activities, r.Activities()...)
	}
	return orchestrations, activities
}

// knownToPlans returns what plans may name.
func (c Config) knownToPlans() plan.Known {
	orchestrations, _ := c.known()
	return plan.Known{Builds: c.builds(), Orchestrations: workload.Names(), Registers: func(handler string) bool { return slices.Contains(orchestrations, handler) }}
}

// config returns a run's configuration, except for its plan and seed.
func (r *testRun) config() cluster.Config {
	cfg := cluster.Config{Builds: r.c.builds(), Store: r.c.Store, DoubleCheck: r.c.DoubleCheck}
	run := newRun(r.c.Handlers, r.c.EachRun)
	run.counted = true
	run.Configure(&cfg, properties.Options{Properties: r.c.Properties, UserOnly: r.entry == nil, Expectations: r.expect, SecondJudge: r.second()})
	return cfg
}

// judgedSeeds is the number that divides the seeds of a campaign that have a second judge.
const judgedSeeds = 10

// second returns the number that divides the seeds with a second judge.
func (r *testRun) second() uint64 {
	if r.entry != nil {
		return 1
	}
	return judgedSeeds
}

// judged says which seeds of the campaign the second judge has watched.
func (r *testRun) judged(seeds uint64) string {
	n := (r.c.First+seeds-1)/judgedSeeds - r.c.First/judgedSeeds
	if r.c.First%judgedSeeds == 0 {
		n++
	}
	if n == 0 || r.c.Store != nil {
		return ""
	}
	return fmt.Sprintf("; %d of the seeds, those that %d divides, had a second judge of the store", n, judgedSeeds)
}

func (r *testRun) carryOut() (report string, failed bool) {
	if r.entry != nil {
		return r.replay()
	}
	gone := ""
	if r.kept != "" {
		if gone, failed = r.replayKept(); failed {
			return gone, true
		}
	}
	report, failed = r.campaign()
	return gone + report, failed
}

func (r *testRun) campaign() (report string, failed bool) {
	sum, err := campaign.Run(campaign.Options{
		Plan: r.plan, Config: r.config, Chooser: r.chooser, First: r.c.First, Count: r.c.Seeds, Workers: r.c.Workers, Twice: r.c.Seeds, KeepGoing: r.c.Rate,
	})
	if sum != nil && sum.Fate.Work > 0 {
		r.fate = "\n" + sum.Plan() + "\n" + sum.Fate.Text(false)
	}
	if r.c.Rate && sum != nil && len(sum.Properties) > 0 {
		r.fate = r.rates(sum) + r.fate
	}
	var unwritten error
	if err == nil && len(sum.Internal) == 0 {
		unwritten = r.files(sum)
	}
	report, failed = r.verdict(sum, err)
	return without(unwritten, report, failed)
}

// without adds to a report that a file could not be written, which fails the test, too.
func without(unwritten error, report string, failed bool) (string, bool) {
	if unwritten == nil {
		return report, failed
	}
	return fmt.Sprintf("durosim: %v\n%s", unwritten, report), true
}

// files writes the page and the histories that the environment asks for.
func (r *testRun) files(sum *campaign.Summary) error {
	if r.draw != nil {
		if err := r.drawn(sum); err != nil {
			return fmt.Errorf("%s: %w", EnvHTML, err)
		}
	}
	if r.write != nil {
		if err := r.histories(); err != nil {
			return fmt.Errorf("%s: %w", EnvHistories, err)
		}
	}
	return nil
}

// verdict says how the campaign ended.
func (r *testRun) verdict(sum *campaign.Summary, err error) (report string, failed bool) {
	switch {
	case err != nil:
		return "durosim: " + err.Error(), true
	case len(sum.Internal) > 0:
		e := sum.Internal[0]
		return r.end(e.Seed, fmt.Sprintf("durosim: seed %d of %s: this is a defect of durosim: %s\n%s\n", e.Seed, r.name, e.Text, e.Stack)), true
	case len(sum.Violations) > 0 && sum.Violations[0].Unsteady():
		v := sum.Violations[0] // This violation causes all the others, and a nondeterministic run is not shrunk.
		return r.end(v.Seed, violationText(fmt.Sprintf("seed %d of %s", v.Seed, r.name), v.Violation)), true
	case len(sum.Drifts) > 0:
		return r.differs(sum.Drifts[0]), true
	case len(sum.Violations) > 0:
		return r.violated(sum.Violations[0]), true
	}
	if missed := sum.Missed(r.required); len(missed) > 0 {
		return fmt.Sprintf("durosim: %d seeds of %s from %d on: %s, but no seed reaches what the scenario requires of %d seeds or more:\n  %s\n%s",
			sum.Seeds, r.name, r.c.First, r.holds(), sum.Seeds, strings.Join(missed, "\n  "), r.fate), true
	}
	return fmt.Sprintf("durosim: %d seeds of %s from %d on: %s%s%s", sum.Seeds, r.name, r.c.First, r.holds(), r.judged(sum.Seeds), r.idle(sum)+r.fate), false
}

// idle says what the campaign has not tried: the applications that ran no code, or any work.
func (r *testRun) idle(sum *campaign.Summary) (text string) {
	if sum.Fate.Work == 0 {
		return "\nno seed has any work, so little was tried"
	}
	for _, b := range r.c.builds() {
		if by := ranBy(b); b.Application != "" && sum.Count(by) == 0 && !strings.Contains(text, by+" ") {
			text += "\n" + by + " runs no code in any seed"
		}
	}
	return text
}

// rates says in how many seeds each property is violated.
func (r *testRun) rates(sum *campaign.Summary) string {
	text := fmt.Sprintf("\nOf %d seeds this many violate:\n", sum.Seeds)
	for _, p := range sum.Properties {
		text += fmt.Sprintf("  %5d  %s (%s), first in seed %d\n", p.Seeds, p.First.Rule(), p.Class, p.FirstSeed)
	}
	return text
}

// differs reports a seed whose two runs differ. It names the handler at fault if computing each turn twice reveals it.
func (r *testRun) differs(d campaign.Drift) string {
	return r.end(d.Seed, fmt.Sprintf("durosim: seed %d of %s gave two different runs\n  first   %s\n  second  %s\n%s", d.Seed, r.name, d.First, d.Second, r.unsteady(d.Seed)))
}

// unsteady says what makes runs of one seed differ and, if that can be found out, which code does.
func (r *testRun) unsteady(seed uint64) string {
	text := `  A handler that reads the clock, ranges over a map, draws random numbers or keeps state between calls causes this: what
  an orchestration does must follow from its input and its history alone, what an activity returns from its arguments and
  the state that EachRun made.
`
	if r.c.Input != nil {
		text += "  So does an Input whose result depends on more than its arguments.\n"
	}
	if v, ok := campaign.DoubleCheck(r.seedConfig(seed)); ok {
		return text + "\nWith each turn computed twice:\n\n" + violationText("that seed", v)
	}
	run := func() cluster.Config { return r.seedConfig(seed) }
	return text + cmp.Or(moodyInput(run), moody(run), parted(run))
}

// seedConfig returns the configuration of a seed's run. Its plan is nil if it cannot be made, as it was before.
func (r *testRun) seedConfig(seed uint64) cluster.Config {
	cfg := r.config()
	cfg.Plan, _ = r.plan(seed)
	cfg.Seed, cfg.Chooser = seed, r.chooser(seed)
	return cfg
}

// moodyInput names the first instance whose input is another when the plan is made again, or returns "".
func moodyInput(run func() cluster.Config) string {
	first, second := run().Plan, run().Plan
	for i := 0; first != nil && second != nil && i < min(len(first.Instances), len(second.Instances)); i++ {
		if a, b := first.Instances[i], second.Instances[i]; a.Input != b.Input {
			return fmt.Sprintf("\nIn two more plans the input of %s is\n  %.100q\n  %.100q\n", a.ID, a.Input, b.Input)
		}
	}
	return ""
}

// parted shows the first events that differ in two of a few more runs.
func parted(run func() cluster.Config) string {
	var first []string
	for i := range 10 {
		var events []string
		cfg := run()
		monitor := cfg.Monitor
		cfg.Monitor = func(w *cluster.World) cluster.Monitor { return &diary{Monitor: monitor(w), world: w, events: &events} }
		_, _ = cluster.Run(cfg) // it has run before
		if i == 0 {
			first = events
			continue
		}
		at := 0
		for at < min(len(first), len(events)) && first[at] == events[at] {
			at++
		}
		if at < max(len(first), len(events)) {
			const end = "no event more"
			return fmt.Sprintf("\nTwo more runs are alike up to these events:\n  %.500s\n  %.500s\n", append(first, end)[at], append(events, end)[at])
		}
	}
	return "\nTen more runs are alike: code is random once in a while only, or keeps a value from run to run.\n"
}

// diary is a monitor that also notes the events of all histories.
type diary struct {
	cluster.Monitor
	world  *cluster.World
	events *[]string
}

func (d *diary) Observe(o *observe.Observation) {
	if o.Kind == observe.EventAppended {
		*d.events = append(*d.events, fmt.Sprintf("step %d, virtual time %s, %s", d.world.Step(), pretty.Duration(d.world.NowMs()-d.world.StartMs()), o.Bytes))
	}
	d.Monitor.Observe(o)
}

// WatchHandle implements cluster.HandleWatcher by forwarding to the monitor if it can.
func (d *diary) WatchHandle(p engine.Provider, codec engine.Codec) engine.Provider {
	return cluster.WatchHandle(d.Monitor, p, codec)
}

// moody names the first activity whose call has different results in two runs that are alike up to that call. Without one,
// it returns "".
func moody(run func() cluster.Config) string {
	var runs [2][][2]string // calls and results
	for i := range runs {
		cfg := run()
		handlers := cfg.Handlers
		if handlers == nil {
			return ""
		}
		cfg.Handlers = func(r *node.Registry, b *engine.Build) error {
			err := handlers(r, b)
			for _, name := range r.Activities() {
				code, _ := r.Activity(name)
				r.DeregisterActivity(name)
				_ = r.RegisterActivity(name, func(ctx node.ActivityContext, input string) (string, error) { // no error: it was registered
					result, err := code(ctx, input)
					runs[i] = append(runs[i], [2]string{fmt.Sprintf("%s of %s, called with %.100q", name, ctx.Instance, input), fmt.Sprintf("%.100q (error: %v)", result, err)})
					return result, err
				})
			}
			return err
		}
		_, _ = cluster.Run(cfg) // it has run before
	}
	for i, first := range runs[0] {
		if i == len(runs[1]) || runs[1][i][0] != first[0] {
			break
		}
		if second := runs[1][i][1]; second != first[1] {
			return fmt.Sprintf("\nIn two more runs the activity %s, returns\n  %s\n  %s\n", first[0], first[1], second)
		}
	}
	return ""
}

func (r *testRun) violated(v campaign.Violation) string {
	text := violationText(fmt.Sprintf("seed %d of %s", v.Seed, r.name), v.Violation)
	if r.heldOnce(v) {
		return text + fmt.Sprintf("not shrunk: seed %d held, and violates it, too, when it runs again: this depends on something that is kept from run to run, such as a variable outside the function EachRun; a seed alone does not show it\n",
			r.c.First) + r.fate + "\nTo see it again:\n" + r.plainCommand()
	}
	plan, err := r.plan(v.Seed)
	if err != nil {
		return r.end(v.Seed, text+"not shrunk: "+err.Error()+"\n"+r.fate)
	}
	choices := &sim.Recording{}
	cfg := r.seedConfig(v.Seed)
	cfg.Plan, cfg.Recording = plan, choices
	if _, err = cluster.Run(cfg); err == nil {
		var small *Shrunk
		small, err = Shrink(shrink.Concrete{Plan: plan, Choices: choices, Expect: r.expect}, ShrinkOptions{
			Property: v.Property, Expectation: v.Expectation, End: v.End, Cause: v.Cause, Builds: r.c.builds, Handlers: r.c.Handlers, EachRun: r.c.EachRun, Store: r.c.Store, MaxRuns: r.c.ShrinkRuns,
			Stop: func(best Concrete, runs int) bool {
				return r.search.Over(func(spent time.Duration) {
					r.logf("durosim: seed %d violates %s: %d runs in %s of shrinking, size %s so far", v.Seed, v.Property, runs, spent, best.Size())
				})
			},
		})
		if err == nil && r.draw != nil {
			_ = r.drawnSmall(small) // if it cannot be written, nor could the page before, and files has said so
		}
		if err == nil {
			return r.end(v.Seed, text+small.report(r.fate, r.search)+r.keep(small, v.Seed))
		}
	}
	text += "not shrunk: " + err.Error() + "\n"
	if errors.Is(err, shrink.ErrHolds) {
		text += r.unsteady(v.Seed)
	}
	return r.end(v.Seed, text+r.fate)
}

// heldOnce reports whether the campaign's first seed, which held, violates the same when it runs again.
func (r *testRun) heldOnce(v campaign.Violation) bool {
	if v.Seed == r.c.First {
		return false
	}
	result, err := cluster.Run(r.seedConfig(r.c.First))
	return err == nil && slices.ContainsFunc(result.Violations, func(again cluster.Violation) bool { return again.Property == v.Property })
}

// report describes the smallest plan, what happens in it, and the fate of the campaign's work.
func (s *Shrunk) report(fate string, search *watchdog.Search) string {
	minimal := "nothing can be left out"
	switch {
	case s.Stopped:
		minimal = search.Met()
	case !s.Minimal:
		minimal = "the bound on runs was reached"
	}
	nearest := ""
	if n, ok := s.Nearest(); ok {
		nearest = "\n" + n.Text()
	}
	return fmt.Sprintf(`
The smallest plan found that violates it: size %s, from %d, in %d runs; %s.

%s
What happens in it:
%s  there     %s
%s%s`, s.Size(), s.From.Total(), s.Runs, minimal, s.Text(), s.storyText(), s.First.Message, nearest, fate)
}

func (s *Shrunk) storyText() string { return storyText(s.options.story(s.Concrete), s.First.Step) }

// storyText returns the last important lines up to a step.
func storyText(lines []cluster.Line, step uint64) string {
	const most = 30
	var b strings.Builder
	lines = slices.DeleteFunc(lines, func(l cluster.Line) bool { return !l.Important || l.Step > step })
	if more := len(lines) - most; more > 0 {
		fmt.Fprintf(&b, "  (%d lines before)\n", more)
		lines = lines[more:]
	}
	who, width := func(l *cluster.Line) string { return strings.TrimSpace(l.Node + " " + l.Build) }, 0
	for i := range lines {
		width = max(width, len(who(&lines[i])))
	}
	for i := range lines {
		fmt.Fprintf(&b, "  %-8s  %-*s  %s\n", pretty.Duration(lines[i].Ms), width, who(&lines[i]), lines[i].Text)
	}
	return b.String()
}

// replay runs a stored run. The test fails if the run violates any property, whatever verdict was recorded.
func (r *testRun) replay() (report string, failed bool) {
	var err error
	cfg := r.config()
	cfg.Plan, cfg.Seed = r.entry.Plan, r.entry.Seed
	if cfg.Chooser, err = r.entry.NewChooser(); err != nil {
		return "durosim: " + err.Error(), true
	}
	var lines []cluster.Line
	cfg.Narrator = func(l cluster.Line) { lines = append(lines, l) }
	result, err := cluster.Run(cfg)
	if err != nil {
		return "durosim: " + err.Error(), true
	}
	var unwritten error
	if r.draw != nil {
		again := r.config()
		again.Plan, again.Seed = r.entry.Plan, r.entry.Seed
		if again.Chooser, err = r.entry.NewChooser(); err == nil {
			err = r.drawnStored(again, result.Violations)
		}
		if err != nil {
			unwritten = fmt.Errorf("%s: %w", EnvHTML, err)
		}
	}
	report, failed = r.replayed(result, lines)
	return without(unwritten, report, failed)
}

// replayed says how a stored run ended.
func (r *testRun) replayed(result *cluster.Result, lines []cluster.Line) (report string, failed bool) {
	if len(result.Violations) > 0 {
		v, inputs := result.Violations[0], ""
		if r.c.Input != nil {
			inputs = "\nIts inputs are those that were stored, not what Input makes now. If Input has changed, delete the file.\n"
		}
		return violationText("the stored run "+r.name, v) + r.other(result.Violations) + inputs + "\nWhat happens in it:\n" + storyText(lines, v.Step) + "\nTo see it again:\n" + r.plainCommand(), true
	}
	if r.verify > 0 {
		if report, failed = r.others(); failed {
			return report, true
		}
	}
	return fmt.Sprintf("durosim: the stored run %s: %s", r.name, r.holds()), false
}

// other says that a stored run violates nothing of what it was stored for.
func (r *testRun) other(violations []cluster.Violation) string {
	stored := strings.Fields(r.entry.Verdict)
	if slices.ContainsFunc(violations, func(v cluster.Violation) bool { return slices.Contains(stored, v.Property) }) {
		return ""
	}
	return fmt.Sprintf("  another violation: stored was %q\n", r.entry.Verdict)
}

// plainCommand is the command without a seed.
func (r *testRun) plainCommand() string {
	return strings.TrimPrefix(r.command, EnvSeed+"="+seedMark+" ")
}

// propertyOf returns the property's catalogue entry. For a property that is not in the catalogue, the name is not set.
func propertyOf(v cluster.Violation) properties.Property {
	if p, ok := properties.ByID(v.Property); ok {
		return p
	}
	return properties.Property{ID: v.Property, Statement: cmp.Or(v.Statement, v.Expectation)}
}

// violationText describes one violation: what happened, where, by whom, and the evidence.
func violationText(run string, v cluster.Violation) string {
	p := propertyOf(v)
	return fmt.Sprintf("durosim: %s violates %s (%s)\n%s", run, strings.TrimSpace(p.String()), v.Class, v.Text(p.Statement, ""))
}

// end appends to a report, as its last line, the command that reproduces the seed.
func (r *testRun) end(seed uint64, report string) string {
	return report + "\nTo see it again:\n" + strings.Replace(r.command, seedMark, strconv.FormatUint(seed, 10), 1)
}

// seedMark is the placeholder for the seed in a command.
const seedMark = "{seed}"

// command returns the command that reproduces a test's failure from anywhere in its module. seedMark stands in for the
// seed.
func command(test string, env environment, pkg string) string {
	var parts []string
	for part := range strings.SplitSeq(test, "/") {
		parts = append(parts, "^"+regexp.QuoteMeta(part)+"$")
	}
	words := []string{EnvSeed + "=" + seedMark}
	if env.plan != "" {
		words = append(words, EnvPlan+"="+commandline.Quote(env.plan))
	}
	return strings.Join(append(words, commandline.Join("go", "test", "-run", strings.Join(parts, "/"), pkg)), " ")
}
