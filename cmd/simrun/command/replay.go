package command

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/timeline"
)

// replayCmd implements `simrun replay`, which prints one run as a story.
type replayCmd struct {
	planFlags `embed:""`

	Scenario string `arg:"" optional:"" help:"Built-in scenario, scenario file, or stored run; if none is named, the one that shows the first --bug, or rolling-upgrade."`

	Seed       *seed `help:"The seed, decimal or 0x-hex; 1 if not given. A stored run has its own." placeholder:"N"`
	storyFlags `embed:""`
	HTML       string `name:"html" help:"Write a page that shows the run over virtual time: one file, for any browser, without a network." placeholder:"FILE" writes:""`
	JSON       bool   `name:"json" help:"Print one JSON object on standard output and nothing else."`
}

// storyFlags are the flags for selecting lines of a story.
type storyFlags struct {
	All      bool           `help:"Show every line, not only the important ones."`
	From     time.Duration  `help:"Show what happened from this virtual time on, such as 12.5s." placeholder:"TIME"`
	To       time.Duration  `help:"Show what happened up to this virtual time." placeholder:"TIME"`
	Node     string         `help:"Show only what this node did." placeholder:"NAME"`
	Instance string         `help:"Show every line about this instance, and no other." placeholder:"ID"`
	At       *time.Duration `help:"Show everything within a second of this virtual time." placeholder:"TIME"`
	Step     *uint64        `help:"Show everything around this step; pictures and violations name steps." placeholder:"STEP"`
}

// check returns an error if the flags contradict each other. It replaces At by the times around it.
func (c *storyFlags) check() error {
	if c.At != nil {
		if c.From != 0 || c.To != 0 || c.Step != nil {
			return errors.New("--at excludes --from, --to and --step")
		}
		c.From, c.To, c.All = max(*c.At-around, 0), *c.At+around, true
	}
	if c.From < 0 || c.To < 0 || c.To > 0 && c.To < c.From {
		return fmt.Errorf("--from %v --to %v: expected times of the run, the first before the second", c.From, c.To)
	}
	return nil
}

// Help returns the text printed below the flags.
func (replayCmd) Help() string {
	return `Runs one seed with every property checked and shows what happened: what each node fetched, what it skipped and why, what was committed, given back or lost, and where a violation occurred. Then it runs the seed again and compares the two runs.

A stored run (testdata/seeds/*.txt, or written by run --out) has its plan, its choices and the expected verdict: another verdict is a failure, another digest only a notice.

Examples:

    simrun replay --seed 7
    simrun replay --seed 7 --instance ProcessOrder-3
    simrun replay --seed 7 --from 10s --to 20s --node B --all
    simrun replay --seed 7 --at 12.5s
    simrun replay --seed 7 --bug provider/filter-after-lock rolling-upgrade
    simrun replay testdata/seeds/0123456789abcdef.txt

Exit status: as that of run; for a stored run 0 if it has its expected verdict and 1 if not.`
}

func (c *replayCmd) run(a *app) (int, error) {
	if err := c.check(); err != nil {
		return 0, err
	}
	r, err := c.one(a.program, c.Scenario, c.Seed)
	if err != nil {
		return 0, err
	}
	return r.tell(a, &c.storyFlags, c.HTML, c.JSON)
}

// tell runs the seed and prints its story.
func (r *replayed) tell(a *app, show *storyFlags, page string, asJSON bool) (int, error) {
	if err := inDirectory(page); err != nil {
		return 0, err
	}
	r.pictured = page != ""
	if err := r.carryOut(); err != nil {
		return 0, err
	}
	if err := r.check(show); err != nil {
		return 0, err
	}
	if err := r.draw(page); err != nil {
		return 0, err
	}
	return r.print(a, show, asJSON)
}

// one returns the run that the flags and the argument name, which is that of a seed or a stored one.
func (f planFlags) one(p *Program, name string, of *seed) (*replayed, error) {
	entry, err := f.entry(p, name, of)
	if err != nil {
		return nil, err
	}
	r := &replayed{seed: uint64(or(of, 1)), entry: entry}
	if entry == nil {
		r.subject, err = f.subject(p, name)
		return r, err
	}
	r.seed = entry.Seed
	r.subject, err = entrySubject(p, entry, name, f.Provider)
	return r, err
}

// entry returns the stored run that the argument names, or nil if the argument names a scenario. of is the seed that is
// asked for, or nil.
func (f planFlags) entry(p *Program, name string, of *seed) (*scenario.Entry, error) {
	if name == "" {
		return nil, nil
	}
	_, entry, err := p.open(name)
	if err != nil || entry == nil {
		return nil, err
	}
	own := f
	own.Provider = ""
	if of != nil || len(given(own)) > 0 {
		return nil, errors.New("a stored run has its own seed, faults, profile, strategy, clocks, chooser and bugs, and all self-checks: leave out those flags")
	}
	orchestrations, activities, err := p.registered()
	if err != nil {
		return nil, err
	}
	return entry, entry.CheckNeeds(name, slices.Concat(orchestrations, activities), p.ownHandlers())
}

// replayed is the result of running one seed twice. The first run is recorded as a story, and the second checks that
// both runs agree.
type replayed struct {
	subject *subject
	seed    uint64
	entry   *scenario.Entry // the stored run, or nil for a scenario
	// made, if not nil, returns the configuration for a variant of the plan. name and line are the variant's name and
	// command line.
	made       func() (cluster.Config, error)
	name, line string
	story      *teller
	result     *cluster.Result
	again      *cluster.Result
	crash      *campaign.InternalError
	wall       time.Duration
	notices    []string
	// picture collects the data for pictures, if pictured is set.
	pictured bool
	picture  *timeline.Collector
}

func (r *replayed) config() (cluster.Config, error) {
	if r.made != nil {
		return r.made()
	}
	if r.entry == nil {
		return r.subject.config(r.seed)
	}
	cfg := r.subject.configOf(r.entry.Plan, r.seed)
	if r.entry.Mode == scenario.ModeRecorded {
		cfg.Chooser = sim.Replay(r.entry.Recording)
	}
	return cfg, nil
}

// carryOut runs the seed twice and records the story of the first run. An error means that the plan is invalid.
func (r *replayed) carryOut() (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.crash = campaign.NewInternalError(r.seed, p)
		}
	}()
	began := time.Now()
	r.story = &teller{} // discard lines collected by an earlier attempt that crashed
	if r.result, err = r.told(r.story); err != nil {
		return err
	}
	r.wall = time.Since(began)
	cfg, err := r.config()
	if err != nil {
		return err
	}
	cfg.KeepTrace = true
	if r.again, err = cluster.Run(cfg); err != nil {
		return err
	}
	for _, d := range sim.Divergences(cfg.Chooser) {
		r.notices = append(r.notices, "the run departs from its recording: "+d)
	}
	return nil
}

// told runs the seed and collects its story in t.
func (r *replayed) told(t *teller) (*cluster.Result, error) {
	cfg, err := r.config()
	if err != nil {
		return nil, err
	}
	cfg.KeepTrace = true
	cfg.Narrator = func(l cluster.Line) { t.lines = append(t.lines, storyLine{Line: l}) }
	if t == r.story && r.pictured {
		r.picture = watch(&cfg)
	}
	result, err := cluster.Run(cfg)
	if err == nil {
		t.place(result.Violations)
	}
	return result, err
}

// check returns an error if show names a node or instance that does not exist in the run.
func (r *replayed) check(show *storyFlags) error {
	cfg, err := r.config()
	if err != nil {
		return err
	}
	if about := func(l storyLine) bool { return mentions(l.Text, show.Instance) }; show.Instance != "" && r.crash == nil && !slices.ContainsFunc(r.story.lines, about) {
		return fmt.Errorf("--instance %q: this run has no such instance; without --instance, the story shows all instances", show.Instance)
	}
	if show.Step != nil && r.crash == nil && *show.Step > r.result.Steps {
		return fmt.Errorf("--step %d: this run has %s", *show.Step, plural(r.result.Steps, "step", "steps"))
	}
	if r.crash == nil && show.From > time.Duration(r.result.Virtual)*time.Millisecond {
		return fmt.Errorf("the run ends at %s, before what --at or --from asks for", pretty.Duration(r.result.Virtual))
	}
	if show.Node == "" {
		return nil
	}
	names := []string{"world"}
	for _, n := range cfg.Plan.Nodes {
		names = append(names, n.Name)
	}
	return oneOf("--node", show.Node, names)
}

func (r *replayed) summary() *campaign.Summary {
	result := campaign.SeedResult{Seed: r.seed, Result: r.result, Crash: r.crash}
	if r.again != nil {
		result.Second = &r.again.Digest
	}
	return campaign.Merge([]campaign.SeedResult{result}, nil)
}

func (r *replayed) print(a *app, show *storyFlags, asJSON bool) (int, error) {
	rep := newReport(r.subject, r.summary(), seedRange{first: r.seed, count: 1})
	rep.Wall, rep.Missed = seconds(r.wall), []string{}
	rep.Status = summaryExit(rep.Summary, nil)
	r.judge(rep)
	lines := slices.DeleteFunc(slices.Clone(r.story.lines), func(l storyLine) bool { return !show.has(&l) })
	if asJSON {
		rep.Story, rep.Notices = lines, r.notices
		if r.entry != nil {
			rep.Expected = r.entry.Verdict
		}
		for i := range rep.Violations {
			rep.Violations[i].Repro = r.repro()
		}
		return a.printJSON("replay", rep, rep)
	}
	a.printf("%s\n\n", a.style.title(r.title()))
	a.printStory(lines)
	if hidden := len(r.story.lines) - len(lines); hidden > 0 {
		text := plural(uint64(hidden), "line", "lines") + " not shown"
		if !show.All && show.Instance == "" && show.Step == nil { // which show every line already
			text += "; --all shows every line"
		}
		a.printf("%11s  %s\n", "", a.style.quiet(text))
	}
	for _, p := range rep.Properties {
		a.printf("\n")
		a.printViolation(p.First)
	}
	r.printEnd(a, rep, show)
	return rep.Status, nil
}

func (r *replayed) title() string {
	title := fmt.Sprintf("%s, seed %d", cmp.Or(r.name, r.subject.scenario.Name), r.seed)
	if o := r.subject.options(); len(o) > 0 {
		title += ", " + strings.Join(o, " ")
	}
	if r.entry != nil && r.entry.Found != "" {
		title += ", found " + r.entry.Found
	}
	return title
}

// judge compares a stored run's replay with its stored verdict and digest.
func (r *replayed) judge(rep *report) {
	if r.entry == nil || r.crash != nil {
		return
	}
	named := strings.Fields(r.entry.Verdict)
	var ids, all []string
	for _, v := range r.result.Violations {
		all = append(all, v.Property)
		if v.Class == cluster.ClassPlan && len(named) > 1 && !slices.Contains(named, v.Property) {
			continue // the entry is about a different property, and its plan may lose work
		}
		ids = append(ids, v.Property)
	}
	got := scenario.Violates(ids...)
	if r.entry.Digest != "" && r.entry.Digest != r.result.Digest.String() {
		r.notices = append(r.notices, "the digest differs from the stored "+r.entry.Digest+"; the run is not the one that was stored")
	}
	switch {
	case rep.Status == exitInternal || rep.Status == exitDrift:
	case got == r.entry.Verdict:
		r.notices = append(r.notices, "the verdict is the stored one: "+got)
		rep.Status = exitOK
	default:
		r.notices = append(r.notices, fmt.Sprintf("the verdict differs: stored was %q, this run %s", r.entry.Verdict, scenario.Violates(all...)))
		rep.Status = exitSafety
	}
}

func (r *replayed) repro() string {
	if r.line != "" {
		return r.line
	}
	if r.entry != nil {
		return itself(append(append([]string{"replay"}, r.subject.options()...), r.subject.arg)...)
	}
	return r.subject.repro(r.seed)
}

// around is the amount of virtual time that --at shows before and after its time.
const around = time.Second

func (r *replayed) printEnd(a *app, rep *report, show *storyFlags) {
	a.printf("\n")
	if r.crash != nil {
		a.printf("%s: this is a defect of durosim\n  %s\n%s\n", a.style.bad("INTERNAL ERROR"), r.crash.Text, indent(firstLines(r.crash.Stack, shownStack)))
		return
	}
	res := r.result
	a.printf("%s steps, %s turns, %s provider calls in %s of virtual time\n", grouped(res.Steps), grouped(res.Turns), grouped(res.Calls), pretty.Duration(res.Virtual))
	a.printf("status of the instances: %s\n", statuses(res.FinalStates))
	a.printf("%s\n", rep.verdicts("\n"))
	for i := range rep.Fate.Help {
		g := &rep.Fate.Help[i]
		text := g.String()
		if !strings.Contains(text, g.First) {
			text += " for " + g.First
		}
		if g.Count > 1 {
			text += fmt.Sprintf(" and %d more", g.Count-1)
		}
		a.printf("beyond the plan: %s\n", text)
	}
	a.printf("digest %s\n", res.Digest)
	if r.again != nil && r.again.Digest != r.result.Digest {
		a.printf("%s\n%s", a.style.bad("NOT DETERMINISTIC: the second run differs"), indent(r.difference()))
	} else {
		a.printf("run twice: the same\n")
	}
	for _, n := range r.notices {
		a.printf("notice: %s\n", n)
	}
	if v := res.Violations; len(v) > 0 {
		if at := time.Duration(v[0].VirtualMs) * time.Millisecond; at != or(show.At, -1) {
			a.printf("around the first violation: %s --at %v\n", r.repro(), at)
		}
	}
	switch {
	case rep.Status == exitOK:
	case rep.Status == exitSafety && r.entry != nil:
		a.printf("%s\n", a.style.bad("the stored verdict does not hold any more"))
	default:
		a.printf("%s\n", a.style.bad(exitText(rep.Status)))
	}
}

// difference describes the first difference between the two runs' traces. It also runs the seed a third time and
// describes the first difference between that run's story and the first run's.
func (r *replayed) difference() string {
	at := sim.FirstDifference(r.result.Marks, r.again.Marks)
	text := fmt.Sprintf("digest %s\nfirst difference: trace record %d of %d and %d\n", r.again.Digest, at, len(r.result.Marks), len(r.again.Marks))
	second := &teller{}
	if _, err := r.told(second); err != nil {
		return text
	}
	first := r.story.lines
	for i := range max(len(first), len(second.lines)) {
		a, b := lineAt(first, i), lineAt(second.lines, i)
		if a != b {
			return text + fmt.Sprintf("first   %s\nsecond  %s\n", a, b)
		}
	}
	return text + "a third run gave the story above\n"
}

func lineAt(lines []storyLine, i int) string {
	if i >= len(lines) {
		return "nothing more"
	}
	return lineText(&lines[i].Line)
}

// entrySubject returns the subject for a stored run, whose plan is fixed.
func entrySubject(p *Program, e *scenario.Entry, arg, provider string) (*subject, error) {
	if err := e.CheckProvider(arg, provider != "", "give --provider"); err != nil {
		return nil, err
	}
	name := e.Plan.Name
	if name == "" {
		name = arg
	}
	store, err := p.stores.of(provider)
	s := &subject{
		program: p, scenario: &scenario.Scenario{Name: name, Template: *e.Plan, Expect: e.Expect}, arg: arg, stored: true,
		flags: planFlags{Provider: provider}, store: store,
	}
	if err := s.choose(e.Chooser); err != nil {
		panic(err) // ParseEntry has already checked this
	}
	return s, err
}

// storyLine is one line of a run's story: either an event, or a violation at the place where it was found.
type storyLine struct {
	cluster.Line
	Violation bool `json:"violation"`
}

// teller collects the story of one run.
type teller struct{ lines []storyLine }

// place puts violations into the story, after everything that happened until then.
func (t *teller) place(found []cluster.Violation) {
	for _, v := range found {
		at := sort.Search(len(t.lines), func(i int) bool { return t.lines[i].Step > v.Step || t.lines[i].Ms > v.VirtualMs })
		t.lines = slices.Insert(t.lines, at, storyLine{
			Line:      cluster.Line{Ms: v.VirtualMs, Step: v.Step, Node: v.Node, Text: strings.Join(strings.Fields(propertyName(v.Property)+": "+v.Message), " "), Important: true},
			Violation: true,
		})
	}
}

// aroundStep is the number of steps shown before and after the selected step.
const aroundStep = 20

func (s *storyFlags) has(l *storyLine) bool {
	at := time.Duration(l.Ms) * time.Millisecond
	switch {
	case s.Step != nil && (l.Step+aroundStep < *s.Step || l.Step > *s.Step+aroundStep):
		return false
	case at < s.From, s.To > 0 && at > s.To:
		return false
	case l.Violation:
		return true
	case s.Node != "" && l.Node != s.Node:
		return false
	case s.Instance != "" && !mentions(l.Text, s.Instance):
		return false
	}
	return l.Important || s.All || s.Instance != "" || s.Step != nil
}

// mentions reports whether text contains an instance ID as a whole word.
func mentions(text, instance string) bool {
	const other = `[^\pL\p{Nd}_-]`
	return regexp.MustCompile(`(^|` + other + `)` + regexp.QuoteMeta(instance) + `($|` + other + `)`).MatchString(text)
}

// printStory prints lines in three columns: the time, the actor and the event.
func (a *app) printStory(lines []storyLine) {
	who := func(l *storyLine) string { return strings.TrimSpace(l.Node + " " + l.Build) }
	width := len("who")
	for i := range lines {
		width = max(width, len(who(&lines[i])))
	}
	a.printf("%s\n", a.style.quiet(fmt.Sprintf("%11s  %-*s  what", "time", width, "who")))
	for i := 0; i < len(lines); i++ {
		l, times := &lines[i], 1
		for i+1 < len(lines) && lines[i+1].Ms == l.Ms && who(&lines[i+1]) == who(l) && lines[i+1].Text == l.Text {
			i, times = i+1, times+1
		}
		if l.Violation {
			a.printf("%11s  %s\n", pretty.Duration(l.Ms), a.style.bad(fmt.Sprintf("%-*s  >>> VIOLATED %s", width, l.Node, l.Text)))
			continue
		}
		text := l.Text
		if times > 1 {
			text += fmt.Sprintf(" (%d times)", times)
		}
		a.printf("%11s  %-*s  %s\n", pretty.Duration(l.Ms), width, who(l), text)
	}
}
