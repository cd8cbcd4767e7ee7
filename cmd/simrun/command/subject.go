package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/cmd/simrun/internal/upgrade"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/commandline"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/realnode"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/workload"
)

// planFlags are the flags that select what is simulated. run, replay and why share them.
type planFlags struct {
	Faults      string   `json:"faults,omitempty" help:"Fault load instead of the scenario's own: none, light, full or timing." placeholder:"LOAD"`
	Profile     string   `json:"profile,omitempty" help:"The rules by which nodes decide: contract, duroxide-0.1.26 or duroxide-0.1.32." placeholder:"NAME"`
	Contract    string   `json:"contract,omitempty" help:"The release whose contract holds where 0.1.26 and 0.1.32 differ. See docs/contract-decisions.md." placeholder:"RELEASE"`
	Strategy    string   `json:"strategy,omitempty" help:"How work that a node cannot run is routed: {strategies}." placeholder:"NAME"`
	Clocks      string   `json:"clocks,omitempty" help:"The clock that the store uses, instead of the scenario's: own or callers." placeholder:"WHOSE"`
	Chooser     string   `json:"chooser,omitempty" help:"The chooser: random, fifo, pct:D, delay:D, enumerate:D, reseed:N:SEED or portfolio. See docs/hunting.md." placeholder:"NAME"`
	DoubleCheck bool     `json:"double_check,omitempty" help:"Compute every turn twice, to check that the handlers are deterministic."`
	Bug         []string `json:"bugs,omitempty" help:"Switch a planted bug on, ID@BUILD or ID@NODE for one build or node only; may be repeated. See simrun list bugs." placeholder:"ID" sep:"none"`
	Provider    string   `json:"provider,omitempty" help:"Run over the storage provider that this command serves (docs/oracle-protocol.md), instead of durosim's own store." placeholder:"COMMAND"`
	Store       string   `json:"store,omitempty" help:"The present contents of the store: an export, which is a file of JSON lines or a directory of such files. See docs/plan-an-upgrade.md." placeholder:"PATH"`
	SelfCheck   bool     `json:"self_check,omitempty" help:"Have the second judge of the store watch every seed, not only every tenth, and judge the turns of durosim's own nodes, as in runs of built-in scenarios."`
}

// subject is the simulation that a command runs: a scenario, plus the flags that override parts of it.
type subject struct {
	program  *Program
	scenario *scenario.Scenario
	// arg is the scenario as given on the command line.
	arg string
	// stored is set if the subject is a stored run.
	stored bool
	// userOnly leaves out self-checks, which can blame nobody but durosim: they are for its own scenarios and stored runs.
	userOnly bool
	known    plan.Known // what its plans may name
	planted  bool       // see plan.Planted
	bridges  bool       // builds that the scenario declares and does not use may be bridges, of which nothing is to be warned
	flags    planFlags
	over     scenario.Overrides
	// context, if not nil, is done once the user interrupts the command.
	context context.Context
	// matrix makes runs count which kinds of faults hit which features.
	matrix bool
	// apart is that of properties.Options.
	apart func(v cluster.Violation) int
	// chooser returns the chooser for a seed. Nil means the default chooser.
	chooser func(seed uint64) sim.Chooser
	// begins, if not nil, has the contents with which the store begins (--store), and the stand-ins for its orchestrations.
	begins *upgrade.Config
	// store creates the store for a run. Nil means durosim's own store.
	store func(startMs int64) (*cluster.ForeignStore, error)
}

// subject finds the scenario and checks the flags. If name is empty, it uses the scenario that shows the first
// requested bug, or the default scenario if no bug is requested.
func (f planFlags) subject(p *Program, name string) (*subject, error) {
	s := &subject{program: p, flags: f}
	if err := s.choose(f.Chooser); err != nil {
		return nil, fmt.Errorf("--chooser: %w", err)
	}
	if f.Faults != "" {
		plan, err := scenario.NamedFaults(f.Faults)
		if err != nil {
			return nil, fmt.Errorf("--faults: %w", err)
		}
		s.over.Faults = &plan
	}
	if f.Clocks != "" {
		if f.Clocks != "own" && f.Clocks != "callers" {
			return nil, fmt.Errorf("--clocks %q: expected own or callers", f.Clocks)
		}
		callers := f.Clocks == "callers"
		s.over.CallersClock = &callers
	}
	if f.Contract != "" {
		if _, err := engine.ContractOf(f.Contract); err != nil {
			return nil, fmt.Errorf("--%w", err)
		}
	}
	profiles := []string{string(plan.ProfileContract), string(plan.ProfileDuroxide), string(plan.ProfileDuroxide32)}
	if err := errors.Join(oneOf("--profile", f.Profile, profiles), oneOf("--strategy", f.Strategy, strategies())); err != nil {
		return nil, err
	}
	s.over.Profile, s.over.Strategy, s.over.Contract, s.over.Input = plan.Profile(f.Profile), plan.Strategy(f.Strategy), f.Contract, p.Input
	for _, id := range f.Bug {
		bug, ok := faults.Lookup(faults.BugID(id))
		if strings.HasSuffix(id, "@") {
			return nil, fmt.Errorf("--bug %q: a build or a node is missing after the @", id)
		}
		if !ok {
			return nil, fmt.Errorf("--bug %q: no such bug%s; %s lists all", id, nearBug(id, faults.Catalogue()), p.hint("list bugs"))
		}
		s.over.Bugs = append(s.over.Bugs, faults.BugID(id))
		if name == "" {
			name = bug.Scenario // empty if no property catches the bug
		}
	}
	name = cmp.Or(name, p.Scenario, scenario.Default)
	var err error
	if s.store, err = p.stores.of(f.Provider); err != nil {
		return nil, err
	}
	if s.scenario, err = p.openScenario(name); err != nil {
		return nil, err
	}
	s.arg = name
	if err := s.beginWith(f.Store); err != nil {
		return nil, err
	}
	_, foreign := scenario.Lookup(name)
	s.userOnly = !f.SelfCheck && (foreign != nil || p.ownHandlers() || s.begins != nil)
	orchestrations, activities, err := p.registered()
	if err != nil {
		return nil, err
	}
	if err := s.scenario.CheckHandlers(orchestrations, activities); err != nil {
		if !p.ownHandlers() {
			err = fmt.Errorf("%w; %s has no code of yours, only what %s shows: your own program has yours (docs/authors.md#your-own-command)", err, p.name(), p.hint("list orchestrations"))
		}
		return nil, err
	}
	if p.EachRun == nil { // its monitors may have points of their own
		if err := s.scenario.CheckRequired(properties.CheckPoint); err != nil {
			return nil, err
		}
	}
	// An error in the plan or the flags is the same for every seed, so report it before the first run.
	first, err := s.plan(1)
	if err != nil {
		return nil, err
	}
	p.oddIDs = oddIDs(first)
	s.planted = first.Planted()
	s.known = plan.Known{Builds: p.builds(), Orchestrations: workload.Names(), Registers: func(handler string) bool { return slices.Contains(orchestrations, handler) }}
	if err := first.Validate(s.known); err != nil {
		return nil, s.scenario.Place(err)
	}
	for _, b := range first.Releases() {
		if err := releases().Check(b); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func strategies() []string {
	return idsOf(plan.Strategies(), func(s plan.Strategy) string { return string(s) })
}

// oddIDs returns what escapes the ids of p that have control characters, longer ones first, or nil if there are none.
func oddIDs(p *plan.Plan) *strings.Replacer {
	ids := idsOf(p.Instances, func(in plan.Instance) string { return in.ID })
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var pairs []string
	for _, id := range ids {
		if escaped := pretty.Escaped(id); escaped != id {
			pairs = append(pairs, id, escaped)
		}
	}
	if pairs == nil {
		return nil
	}
	return strings.NewReplacer(pairs...)
}

// beginWith makes runs begin with the contents of an export, if one is named.
func (s *subject) beginWith(export string) error {
	p := s.program
	switch {
	case export == "":
		return nil
	case s.flags.Provider != "":
		return errors.New("--provider: runs that begin with the contents that --store names are on durosim's own store")
	}
	snapshot, err := readStore(export, p.builds())
	if err != nil {
		return err
	}
	p.stored = snapshot.Orchestrations()
	cfg := s.upgrade()
	cfg.Snapshot, s.begins = snapshot, &cfg
	return nil
}

// upgrade returns the configuration for trying the subject's upgrade, with the contents of the store if it begins with any.
func (s *subject) upgrade() upgrade.Config {
	if s.begins != nil {
		return *s.begins
	}
	return upgrade.Config{Scenario: s.scenario, Overrides: s.over, Builds: s.program.builds(), NewRun: s.program.newRun, Releases: releases()}
}

// noStore returns an error that says why a verb, or what it is asked to write, cannot have the contents of a store.
func (f *planFlags) noStore(why string) error {
	if f.Store == "" {
		return nil
	}
	return fmt.Errorf("--store %s: %s", f.Store, why)
}

// noStoreToKeep returns an error if a flag names a directory for stored runs, which hold no contents of a store.
func (f *planFlags) noStoreToKeep(flag, dir string) error {
	if dir == "" {
		return nil
	}
	return f.noStore("a stored run holds no contents of a store: leave out " + flag)
}

// nearBug returns the name of the bug among those most similar to id, preceded by a separator, or "" if none is similar.
func nearBug(id string, of []faults.Bug) string {
	return pretty.Hint(id, idsOf(of, func(b faults.Bug) string { return string(b.ID) }))
}

// open opens the scenario or stored run called name.
func (p *Program) open(name string) (*scenario.Scenario, *scenario.Entry, error) {
	return scenario.Source{Builds: p.builds(), ReadFile: readFile}.Open(name)
}

// readFile is like os.ReadFile, except that it reads standard input if name is "-".
func readFile(name string) ([]byte, error) {
	if name == "-" {
		return standardInput()
	}
	return os.ReadFile(name)
}

// standardInput returns the contents of standard input. It reads them only once, because a verb may call it several
// times.
var standardInput = sync.OnceValues(func() ([]byte, error) { return io.ReadAll(os.Stdin) })

func (p *Program) openScenario(name string) (*scenario.Scenario, error) {
	s, e, err := p.open(name)
	if e != nil {
		return nil, fmt.Errorf("%s is a stored run, not a scenario; %s replays it", name, p.hint("replay "+commandline.Quote(name)))
	}
	return s, err
}

// plan expands seed into a plan. It is safe for concurrent use.
func (s *subject) plan(seed uint64) (*plan.Plan, error) {
	if strings.HasPrefix(s.flags.Chooser, enumerated) {
		seed = 1 // the plan is fixed; the seed only selects the choices
	}
	if s.begins != nil {
		return s.begins.Plan(seed)
	}
	return s.scenario.Expand(seed, s.over)
}

// newRun returns the state for a new run, with stand-ins for the store's orchestrations.
func (s *subject) newRun() durosim.Run {
	run := s.program.newRun()
	if s.begins != nil {
		run.Handlers = s.begins.Handlers(run.Handlers)
	}
	return run
}

func (s *subject) config(seed uint64) (cluster.Config, error) {
	plan, err := s.plan(seed)
	return s.configOf(plan, seed), err
}

// configOf returns the configuration for running plan with seed, using the program's builds and handlers.
func (s *subject) configOf(plan *plan.Plan, seed uint64) cluster.Config {
	cfg := cluster.Config{Plan: plan, Seed: seed, Releases: releases(), Store: s.store, DoubleCheck: s.flags.DoubleCheck}
	if s.program.Builds != nil { // if nil, the runs of a worker share the shipped builds and handlers
		cfg.Builds = s.program.Builds()
	}
	if s.chooser != nil {
		cfg.Chooser = s.chooser(seed)
	}
	s.newRun().Configure(&cfg, properties.Options{UserOnly: s.userOnly, Expectations: s.scenario.Expect, SecondJudge: s.secondJudge(), Matrix: s.matrix || s.scenario.Matrix, Apart: s.apart})
	return cfg
}

// idleBugs warns about planted bugs that are limited to a build that nothing of the plan runs. If runs begin with the
// contents of a store, rescue may start it for a pin in these.
func (s *subject) idleBugs() (all []*scenario.Error) {
	p := &s.scenario.Template
	runs := append(p.RunBuilds(), p.Clients)
	for _, n := range p.Nodes {
		runs = append(runs, n.Name)
	}
	for _, b := range p.Probes {
		runs = append(runs, b.Build)
	}
	for _, h := range p.Histories {
		if h.Pin != nil {
			runs = append(runs, h.Pin.String()) // rescue may start it
		}
	}
	for _, id := range slices.Concat(p.Bugs, s.over.Bugs) {
		bug, whose := id.On()
		row, _ := faults.Lookup(id)
		if whose = cmp.Or(whose, row.On); whose != "" && !slices.Contains(runs, whose) && s.begins == nil {
			all = append(all, &scenario.Error{File: s.scenario.File, Msg: fmt.Sprintf("bug %s on %s: nothing of the plan runs that build, so the bug does nothing", bug, whose)})
		}
	}
	return all
}

// secondJudge returns the number of which a seed is a multiple if the second judge watches its run.
func (s *subject) secondJudge() uint64 {
	if s.flags.SelfCheck || s.stored || s.planted || s.flags.Provider != "" {
		return 1
	}
	return 10
}

// judgedTwice counts the seeds that the second judge watches: of n seeds from first on, or of a shard of them.
func (s *subject) judgedTwice(first uint64, of shard, n uint64) (count uint64) {
	for i := range n {
		if seed := first + max(of.index, 1) - 1 + i*max(of.of, 1); seed%s.secondJudge() == 0 {
			count++
		}
	}
	return count
}

// releases returns the host programs for released runtimes.
var releases = sync.OnceValue(realnode.Releases)

// campaign returns the options for a campaign over the subject. The caller sets the seeds.
func (s *subject) campaign() campaign.Options {
	return campaign.Options{
		Plan: s.plan, Config: func() cluster.Config { return s.configOf(nil, 0) }, Chooser: s.chooser,
	}
}

// required returns the points that a campaign of that many seeds must reach.
func (s *subject) required(seeds uint64) []string {
	points := s.scenario.Required(s.over, seeds)
	if points != nil && s.scenario.Matrix {
		points = append(points, properties.Cells()...)
	}
	return points
}

func (s *subject) repro(seed uint64) string { return s.line("replay", seed) }

func (s *subject) line(verb string, seed uint64, more ...string) string {
	words := append([]string{verb, "--seed", decimal(seed)}, s.options()...)
	return itself(append(append(words, asArgument(s.arg)), more...)...)
}

// itself returns a command line that runs this program, ready to be pasted in the directory in which the program was
// started.
func itself(words ...string) string {
	return commandline.Join(append(commandline.Self(), words...)...)
}

// lineOf returns the command line of a verb with the flags that are set, without those named, and its argument.
func lineOf(verb string, flags any, argument string, without ...string) string {
	return itself(slices.Concat([]string{verb}, given(flags, without...), []string{asArgument(argument)})...)
}

// asArgument spells the name of a file so that it is not taken for a flag.
func asArgument(name string) string {
	if len(name) > 1 && name[0] == '-' {
		return "./" + name
	}
	return name
}

// options returns the flags that select what is simulated, as given on the command line.
func (s *subject) options() []string { return given(s.flags) }

// given returns the flags of a verb that are set, as on a command line, without those named.
func given(verb any, without ...string) []string { return flagsOf(reflect.ValueOf(verb), without) }

func flagsOf(v reflect.Value, without []string) (words []string) {
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		if field.Anonymous {
			words = append(words, flagsOf(value, without)...)
			continue
		}
		name := field.Tag.Get("name")
		if name == "" {
			name = strings.ToLower(wordBegin.ReplaceAllString(field.Name, "$1-$2"))
		}
		if _, argument := field.Tag.Lookup("arg"); argument || value.IsZero() || slices.Contains(without, name) {
			continue
		}
		name = "--" + name
		switch x := value.Interface().(type) {
		case bool:
			words = append(words, name)
		case []string:
			for _, one := range x {
				words = append(words, flag(name, one)...)
			}
		case *seed:
			words = append(words, name, decimal(uint64(*x)))
		case seedRange:
			words = append(words, name, x.bounds())
		default:
			words = append(words, flag(name, fmt.Sprint(reflect.Indirect(value).Interface()))...)
		}
	}
	return words
}

// flag joins a flag and a value that would be taken for another flag.
func flag(name, value string) []string {
	if strings.HasPrefix(value, "-") {
		return []string{name + "=" + value}
	}
	return []string{name, value}
}

// wordBegin matches where a word begins within the name of a field.
var wordBegin = regexp.MustCompile(`([a-z])([A-Z])`)

// warn prints warnings about suspicious but valid parts of the scenario.
func (a *app) warn(s *subject) {
	if s.begins != nil {
		for _, p := range s.begins.Snapshot.Problems {
			a.complain("%s", pretty.Escaped(p.Error()))
		}
	}
	all := s.scenario.Warnings()
	if t := s.scenario.Template; len(t.Instances)+len(t.Histories)+len(t.Probes) == 0 && s.scenario.Load == nil && a.program.stored == nil {
		all = append(all, &scenario.Error{File: s.scenario.File, Msg: "nothing is started: there is no instance, history, load or probe"})
	}
	if a.program.Handlers == nil {
		all = append(all, s.scenario.WarningsOf(workload.InputWarnings)...)
	}
	steps := cluster.Config{Plan: &s.scenario.Template, Builds: s.program.builds(), Handlers: s.newRun().Handlers}
	all = append(all, s.scenario.WarningsOfHandlers(steps.Registered)...)
	all = append(all, s.idleBugs()...)
	for _, w := range all {
		if s.bridges && slices.Contains(s.scenario.Unused(), w) {
			continue
		}
		a.complain("warning: %v", w)
	}
}
