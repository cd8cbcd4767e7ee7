package scenario

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/program"
)

// Parse parses a scenario. The scenario may use the given builds or, if none are given, the shipped ones. file is the
// name used in errors. The error is an *Error that identifies the first wrong line.
func Parse(file string, data []byte, builds ...*engine.Build) (*Scenario, error) {
	p := newParser(file, builds)
	p.read(data)
	if p.err != nil {
		return nil, p.err
	}
	return p.s, nil
}

// parser parses a text line by line. It keeps the first error; after that, all methods do nothing and return zero
// values.
type parser struct {
	file   string
	from   []*engine.Build // the known builds
	builds []string        // names of the known builds and of those declared so far
	s      *Scenario
	// entry is nil when parsing a scenario.
	entry *Entry
	err   *Error
	// program, if not nil, parses a program whose end has not been reached.
	program *program.Parser

	line  int
	words []token
	form  string // the form of the current statement, for use in errors

	owner ownerKind
	// first is the index of the first node that the current owner names.
	first int
	once  map[string]int // statement → line, for statements that may occur only once
	named map[string]int // kind and name → line
	// Line numbers needed by finish. Invariant: each slice is as long as the scenario's slice that it describes.
	stepLines, faultLines, probeLines, expectLines []int
	// stepWhen are the times of the steps.
	stepWhen []when
	// common is the named fault plan, which applies after the single rates.
	common faults.Plan
}

// ownerKind is the kind of statement that sub-statements belong to.
type ownerKind uint8

const (
	ownerNone ownerKind = iota
	ownerBuild
	ownerNode
	ownerInstance
	ownerLoad
	ownerMix
)

func newParser(file string, builds []*engine.Build) *parser {
	p := &parser{file: file, s: &Scenario{File: file}, once: map[string]int{}, named: map[string]int{}}
	p.s.Template.Strategy, p.s.Template.Profile = plan.StrategyFilter, plan.ProfileContract
	if len(builds) == 0 {
		builds = engine.ShippedBuilds()
	}
	p.from = builds
	for _, b := range builds {
		p.builds = append(p.builds, b.Name())
	}
	return p
}

func (p *parser) read(data []byte) {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // some editors put it at the start of a file
	if at := noText(data); at >= 0 {
		p.failf("this is not text: byte %d is 0x%02x", at, data[at])
		return
	}
	for text := range bytes.Lines(data) {
		p.line++
		words, comment, err := split(strings.TrimSuffix(string(text), "\n"))
		if err != nil {
			p.failf("%v", err)
			return
		}
		if p.s.Title == "" && len(words) == 0 {
			p.s.Title = comment
		}
		if len(words) == 0 {
			continue
		}
		p.words = words
		if p.program != nil {
			p.programLine()
		} else {
			p.statement()
		}
		if p.err != nil {
			return
		}
	}
	p.finish()
}

// noText returns the offset of the first byte that is not valid text, or -1.
func noText(data []byte) int {
	for at := 0; at < len(data); {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 || r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f' {
			return at
		}
		at += size
	}
	return -1
}

// statement parses one line. Each case starts with a comment on the meaning of its statement; Statements returns these
// meanings as a table.
func (p *parser) statement() {
	head := p.words[0]
	p.form = formOf(statementTable, head.text)
	if head.quoted {
		p.failf("expected a statement, found the string %q", head.text)
		return
	}
	if head.is("nodes") {
		p.form = formOf(statementTable, "node")
	}
	if p.entry != nil && p.once["durosim"] == 0 && !head.is("durosim") {
		p.failf("expected %q on the first line of a corpus entry, found %q", header, head.text)
		return
	}
	if p.entry == nil && belongs(head.text, func(s StatementInfo) bool { return s.Corpus }) {
		p.failf("%q belongs in a corpus entry, but this is read as a scenario: replay it instead", head.text)
		return
	}
	if p.entry != nil && belongs(head.text, func(s StatementInfo) bool { return s.Open }) {
		p.failf("%q belongs in a scenario: a corpus entry holds a concrete plan, in which nothing is left to draw", head.text)
		return
	}
	p.words = p.words[1:]
	owner := p.owner
	p.owner = ownerNone
	switch head.text {
	// scenario NAME names the scenario. Reports and `simrun list` use the name.
	case "scenario":
		p.single(head.text)
		p.s.Name = p.name("a name")
	// seeds COUNT is the smallest number of seeds for which missing coverage makes a campaign fail.
	case "seeds":
		p.single(head.text)
		p.s.Seeds.Count = int(p.number("a number of seeds", 1, maxSeeds))
	// require coverage POINT... lists coverage points that a campaign of that many seeds must reach; a campaign that
	// misses one is vacuous. require matrix requires every kind of fault to affect every feature.
	case "require":
		if p.keyword("coverage", "matrix") == "matrix" {
			p.s.Matrix = true
			break
		}
		for ok := true; ok; ok = p.more() {
			point := p.name("a coverage point")
			p.unique("coverage point", point)
			p.s.Require = append(p.s.Require, point)
		}
	// strategy NAME determines how work that a node cannot run is routed.
	case "strategy":
		p.single(head.text)
		p.s.Template.Strategy = plan.Strategy(p.oneOf("strategy", strategies))
	// patience DURATION [every DURATION] is how long a sweeper or a dead-letter policy leaves work waiting.
	case "patience":
		p.single(head.text)
		p.s.Template.Patience.After = p.positive()
		if p.more() {
			p.keyword("every")
			p.s.Template.Patience.Every = p.positive()
		}
	// profile NAME selects the release that nodes imitate where it differs from the contract.
	case "profile":
		p.single(head.text)
		p.s.Template.Profile = plan.Profile(p.oneOf("profile", profiles))
	// contract RELEASE selects the release whose contract applies where releases differ.
	case "contract":
		p.single(head.text)
		p.s.Template.Contract = p.oneOf("contract", contracts())
	// turbulence DURATION is how long steps and faults last. Then calm begins, in which obligations must be met.
	case "turbulence":
		p.single(head.text)
		p.s.Template.Turbulence = p.duration("a duration")
	// until DURATION is when the run ends. There is no calm or relief.
	case "until":
		p.single(head.text)
		p.s.Template.Until = p.duration("a duration")
	// relief widen makes relief widen every node, as old documentation told operators to do.
	case "relief":
		p.single(head.text)
		p.s.Template.Relief = plan.Relief(p.keyword(string(plan.ReliefWiden)))
	// budget COUNT steps limits the run, and budget COUNT turns limits each execution. Exceeding a limit is a
	// violation.
	case "budget":
		count := p.number("a number of steps or turns", 1, maxBudget)
		switch unit := p.keyword("steps", "turns"); unit {
		case "steps":
			p.single("budget of steps")
			p.s.Template.StepBudget = count
		case "turns":
			p.single("budget of turns")
			p.s.Template.TurnBudget = count
		}
	// bug ID... switches on planted bugs, to show what breaks. "on" limits the bug to one build or node; otherwise all
	// have it.
	case "bug":
		for ok := true; ok; ok = p.more() {
			id := p.name("the id of a planted bug, such as provider/filter-after-lock")
			p.known("bug", id, bugIDs())
			if p.accept("on") {
				id += "@" + p.name("a build or a node")
			}
			p.unique("bug", id)
			p.s.Template.Bugs = append(p.s.Template.Bugs, faults.BugID(id))
		}
	// faults NAME selects a fault plan.
	case "faults":
		p.single(head.text)
		p.common, _ = NamedFaults(p.oneOf("fault plan", faultNames()))
	// fault KIND N in M sets the rate of one kind of fault. Single kinds take precedence over the plan selected by
	// faults.
	case "fault":
		p.fault()
	// build NAME like BUILD declares a build; the lines below it list the differences.
	case "build":
		p.declareBuild()
	// range RANGE sets the pins that nodes running the build above admit.
	case "range":
		p.buildRange(owner)
	// reads and writes with KIND... without KIND... change the event kinds of the build above.
	case "reads", "writes":
		p.kinds(owner, head.text)
	// semantics NAME from VERSION sets the semantics with which the build above replays executions begun by that
	// version or later.
	case "semantics":
		p.semantics(owner)
	// limits carried N keys N bytes N sets limits of the build above.
	case "limits":
		p.limits(owner)
	// lacks FIELD... lists optional fields that the build above neither reads nor writes.
	case "lacks":
		p.lacks(owner)
	// node NAME... runs BUILD declares nodes. The option and handlers lines below apply to all of them.
	case "node", "nodes":
		p.node()
	// option NAME VALUE sets an option of the node above.
	case "option":
		p.option(owner)
	// clock +OFFSET drift Nppm sets the clock of the node above wrong.
	case "clock":
		p.clock(owner)
	// store clock callers makes the store use its callers' clocks; store serial DURATION makes it serve fetches one at
	// a time.
	case "store":
		p.store()
	// handlers NAME@VERSION... limits what the node above registers or what the build above ships.
	case "handlers":
		p.handlers(owner)
	// program NAME begins a program; the lines up to its end are its statements.
	case "program":
		p.beginProgram()
	// history INSTANCE runs NAME ... declares an execution that exists before the run.
	case "history":
		p.history()
	// instance ID runs NAME ... declares an instance that a client starts. The raise, enqueue and cancel lines below
	// apply to it.
	case "instance":
		p.instance()
	// raise EVENT sends an event to the instance above, or to each instance of the mix above.
	case "raise":
		p.action(owner, plan.ActionRaise)
	// enqueue EVENT sends a queue message to the instance above, or to each instance of the mix above.
	case "enqueue":
		p.action(owner, plan.ActionEnqueue)
	// cancel cancels the instance above, or each instance of the mix above.
	case "cancel":
		p.action(owner, plan.ActionCancel)
	// delete deletes the instance above, or each instance of the mix above. prune removes its old executions.
	case "delete":
		p.action(owner, plan.ActionDelete)
	case "prune":
		p.action(owner, plan.ActionPrune)
	// fuzz limits what `simrun fuzz` may add to the scenario's plans.
	case "fuzz":
		p.fuzz()
	// load COUNT instances starts that many additional instances. The mix lines below list their kinds.
	case "load":
		p.load()
	// mix WEIGHT NAME ... declares one kind of instance for the load above.
	case "mix":
		p.mix(owner)
	// probe NAME reads BUILD ... declares an actor that makes raw provider calls which nodes never make.
	case "probe":
		p.probe()
	// at TIME STEP does something to the cluster at that time.
	case "at":
		lo, hi := p.span("a time")
		p.step(lo, hi, false)
	// then STEP happens at the same time as the previous step, even if that time is drawn.
	case "then":
		if len(p.words) == 1 && p.words[0].is("nothing") { // no calm or relief after turbulence
			p.words = nil
			p.single("then nothing")
			p.s.Template.Unaided = true
			break
		}
		p.step(0, 0, true)
	// after TIME STEP happens that long after the previous step.
	case "after":
		lo, hi := p.span("a time")
		p.step(lo, hi, true)
	// expect states a requirement on runs in addition to the properties.
	case "expect":
		p.expect()
	case "durosim", "found", "verdict", "digest", "seed", "mode", "chooser", "needs", "note", "recording", "choice", "priority":
		p.corpus(head.text)
	default:
		if slices.Contains(names(stepTable), head.text) {
			p.failf("%q is a step of the schedule: expected a time before it, as in \"at 10s %s ...\"", head.text, head.text)
			return
		}
		p.failf("unknown statement %q%s", head.text, pretty.Hint(head.text, append(names(statementTable), names(stepTable)...)))
	}
	p.end()
}

func belongs(name string, which func(StatementInfo) bool) bool {
	return slices.ContainsFunc(statementTable, func(s StatementInfo) bool { return s.Name == name && which(s) })
}

var (
	strategies = []string{
		string(plan.StrategyFilter), string(plan.StrategyBounce), string(plan.StrategySweeper), string(plan.StrategyDeadletter),
	}
	profiles = []string{string(plan.ProfileContract), string(plan.ProfileDuroxide), string(plan.ProfileDuroxide32)}
)

func shapes() []string {
	var names []string
	for _, s := range plan.Shapes() {
		names = append(names, string(s))
	}
	return names
}

func bugIDs() []string {
	var ids []string
	for _, b := range faults.Catalogue() {
		ids = append(ids, string(b.ID))
	}
	return ids
}

// faultNames returns the names of the fault plans.
func faultNames() []string { return []string{"none", "light", "full", "timing"} }

// NamedFaults returns the fault plan with the given name.
func NamedFaults(name string) (faults.Plan, error) {
	switch name {
	case "none":
		return faults.None(), nil
	case "light":
		return faults.Light(), nil
	case "full":
		return faults.Full(), nil
	case "timing":
		return faults.Timing(), nil
	}
	return faults.Plan{}, fmt.Errorf("unknown fault plan %q: expected %s", name, orList(faultNames()))
}

// contracts returns the releases that have their own contract.
func contracts() (releases []string) {
	for _, c := range engine.Contracts() {
		releases = append(releases, c.Release)
	}
	return releases
}
