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
	began   int // the line with which the program begins

	text  []byte
	line  int
	words []token
	form  string // the form of the current statement, for use in errors

	rows *vocabulary
	// open are the statements that the next line may stand below, innermost last.
	open []string
	// first is the index of the first node that the last node line names.
	first int
	// cycle is the cycle that the next step belongs to, if it has any times.
	cycle cycle
	once  map[string]int // statement → line, for statements that may occur only once
	named map[string]int // kind and name → line
	// Line numbers needed by finish. Invariant: each slice is as long as the scenario's slice that it describes.
	stepLines, faultLines, probeLines, expectLines []int
	// stepWhen are the times of the steps.
	stepWhen []when
	// acts are what clients do, to instances and to those of the load.
	acts []act
	// common is the named fault plan, which applies after the single rates.
	common faults.Plan
}

func newParser(file string, builds []*engine.Build) *parser {
	p := &parser{file: file, rows: table, s: &Scenario{File: file}, once: map[string]int{}, named: map[string]int{}}
	p.s.Template.Strategy, p.s.Template.Profile = plan.StrategyFilter, plan.ProfileContract
	if len(builds) == 0 {
		builds = engine.ShippedBuilds()
	}
	p.from, p.builds = builds, pretty.Texts(builds, (*engine.Build).Name)
	return p
}

func (p *parser) read(data []byte) {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // some editors put it at the start of a file
	if at := noText(data); at >= 0 {
		p.failf("this is not text: byte %d is 0x%02x", at, data[at])
		return
	}
	p.text = data
	p.declareReleases()
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

// aliases are other names of statements: the plural, and what runs that 0.1.0 stored call them.
var aliases = map[string]string{"nodes": "node", "turbulence": "fault-phase", "relief": "rescue"}

// statement parses one line by its row in the table.
func (p *parser) statement() {
	head, steps := p.words[0], p.words
	follows := (head.is("then") || head.is("after")) && !(len(steps) == 2 && steps[1].is("nothing"))
	if !follows {
		p.repeat()
	}
	if head.quoted {
		p.failf("expected a statement, found the string %q", head.text)
		return
	}
	r := lookup(p.rows.statements, head.text)
	if other := aliases[head.text]; r == nil && other != "" {
		r = lookup(p.rows.statements, other)
	}
	switch {
	case p.entry != nil && p.once["durosim"] == 0 && !head.is("durosim"):
		p.failf("expected %q on the first line of a corpus entry, found %q", header, head.text)
	case r == nil && lookup(p.rows.steps, head.text) != nil:
		p.failf("%q is a step of the schedule: expected a time before it, as in \"at 10s %s ...\"", head.text, head.text)
	case r == nil:
		p.failf("unknown statement %q%s", head.text, pretty.Hint(head.text, append(names(p.rows.statements), names(p.rows.steps)...)))
	case p.entry == nil && r.Corpus:
		p.failf("%q belongs in a corpus entry, but this is read as a scenario: replay it instead", head.text)
	case p.entry != nil && r.Open:
		p.failf("%q belongs in a scenario: a corpus entry holds a concrete plan, in which nothing is left to draw", head.text)
	}
	if p.err != nil {
		return
	}
	p.form, p.words = r.Form, p.words[1:]
	at := place{s: p.s, e: p.entry}
	if p.below(r); p.err == nil && len(p.open) > 0 {
		at.parent = p.open[len(p.open)-1]
		at.outer = map[string]int{"build": len(p.s.Template.Builds), "instance": len(p.s.Template.Instances)}[at.parent] - 1
		if at.parent == "mix" {
			at.outer = len(p.s.Load.Mix) - 1
		}
	}
	if r.once {
		p.single(r.Name)
	}
	if p.err != nil {
		return
	}
	for _, it := range r.add(at) {
		if p.err == nil {
			it.read(p)
		}
	}
	if p.more() {
		p.failf("unexpected %q: expected the end of the line, as in: %s", p.words[0].text, p.form)
	}
	if follows && p.cycle.times > 0 {
		p.cycle.steps = append(p.cycle.steps, cycleStep{p.line, steps})
	}
	if slices.ContainsFunc(p.rows.statements, func(below row) bool { return below.stands(r.Name) }) {
		p.open = append(p.open, r.Name)
	}
}

// cycle is a number of steps that are repeated: times is how often they happen, and line is where it begins.
type cycle struct {
	times, line int
	steps       []cycleStep
}

type cycleStep struct {
	line  int
	words []token
}

// repeat ends the cycle: it parses its steps again, as often as the cycle says.
func (p *parser) repeat() {
	c, line, words := p.cycle, p.line, p.words
	p.cycle = cycle{}
	if p.line = c.line; c.times > 0 && len(c.steps) == 0 {
		p.failf("the cycle has no steps: expected below it lines that begin with then or after")
	}
	for range c.times - 1 {
		for _, s := range c.steps {
			if p.line, p.words = s.line, s.words; p.err == nil {
				p.statement()
			}
		}
	}
	p.line, p.words = line, words
}

// below closes the statements that a line of the row does not stand below. It reports an error if none is left.
func (p *parser) below(r *row) {
	if r.Below == "" {
		p.open = nil
		return
	}
	for len(p.open) > 0 && !r.stands(p.open[len(p.open)-1]) {
		p.open = p.open[:len(p.open)-1]
	}
	if len(p.open) == 0 {
		above := pretty.Texts(strings.Split(r.Below, ", "), func(name string) string {
			if strings.ContainsAny(name[:1], "aeiou") {
				return "an " + name
			}
			return "a " + name
		})
		p.failf("expected this line below %s, as in: %s", strings.Join(above, " or "), p.form)
	}
}

var (
	strategies = texts(plan.Strategies())
	profiles   = []string{string(plan.ProfileContract), string(plan.ProfileDuroxide), string(plan.ProfileDuroxide32)}
)

func bugIDs() []string {
	return pretty.Texts(faults.Bugs(), func(b faults.Bug) string { return string(b.ID) })
}

func faultKinds() []string {
	return pretty.Texts(faults.Kinds(), func(k faults.Info) string { return string(k.Kind) })
}

func faultNames() []string { return []string{"none", "light", "full", "timing"} }

// NamedFaults returns the fault plan with the given name.
func NamedFaults(name string) (faults.Plan, error) {
	i := slices.Index(faultNames(), name)
	if i < 0 {
		return faults.Plan{}, fmt.Errorf("unknown fault plan %q: expected %s", name, orList(faultNames()))
	}
	return [...]func() faults.Plan{faults.None, faults.Light, faults.Full, faults.Timing}[i](), nil
}

func contracts() []string {
	return pretty.Texts(engine.Contracts(), func(c engine.Contract) string { return c.Release })
}
