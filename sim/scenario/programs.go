package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/program"
)

// generatedName is the prefix of the names of generated programs and their instances: Program-7, and Program-7.1 for a
// program that Program-7 may start.
const generatedName = "Program"

// beginProgram parses `NAME [version VERSION]`.
func (p *parser) beginProgram() {
	name, version, id := p.name("a program's name"), "", ""
	if p.accept("version") {
		version = p.version().String()
		id = "@" + version
	}
	p.unique("program", name+id)
	p.began, p.program = p.line, program.NewParser(name, version)
}

func (p *parser) programLine() {
	if p.words[0].quoted {
		p.failf("expected a statement of a program, found the string %q", p.words[0].text)
		return
	}
	words := pretty.Texts(p.words, func(t token) string { return t.text })
	done, err := p.program.Line(words)
	switch statement := lookup(p.rows.statements, words[0]) != nil || words[0] == "nodes"; {
	case err != nil && statement && strings.HasPrefix(err.Error(), "unknown statement "):
		p.failf("%q is no statement of a program: the program of line %d must have its \"end\" above", words[0], p.began)
		return
	case err != nil:
		p.failf("%v", err)
		return
	}
	if !done {
		return
	}
	made := p.program.Program()
	p.program = nil
	plan := &p.s.Template
	plan.Programs = append(plan.Programs, made)
	forward := slices.ContainsFunc(made.Body, func(n program.Node) bool { return n.Op == program.OpAgain && n.Version != "" })
	if !forward { // the named version may still follow, so finishPrograms decides
		p.checkPrograms()
	}
}

// checkPrograms reports an error if the programs parsed so far are invalid.
func (p *parser) checkPrograms() {
	if err := p.s.Template.Programs.Validate(); err != nil {
		p.failf("%v", strings.Split(err.Error(), "\n")[0])
	}
}

func (p *parser) finishPrograms() {
	if p.program != nil {
		p.failf("the text ends within program %s: expected \"end\"", p.program.Program().Name)
	}
	p.checkPrograms()
	if l := p.s.Load; l == nil || !slices.ContainsFunc(l.Mix, func(m MixEntry) bool { return m.Generated }) {
		return
	}
	for i := range p.s.Template.Programs {
		if name := p.s.Template.Programs[i].Name; isGenerated(name) {
			p.line = p.named["program "+name] // its first version may omit the number
			p.failf("program %q has a name that a generated program may get: expected another name", name)
		}
	}
}

// isGenerated reports whether the name is one that a generated program may have.
func isGenerated(name string) bool {
	number, ok := strings.CutPrefix(name, generatedName+"-")
	number, _, _ = strings.Cut(number, ".")
	_, err := strconv.ParseUint(number, 10, 32)
	return ok && err == nil
}

// Segments for the keys of a program's draws.
var (
	labelProgram = sim.NewLabel("program")
	labelNumber  = sim.NewLabel("number")
)

// eventsWithin is the maximum time after its start at which an instance of a generated program gets the events it waits
// for.
const eventsWithin = 6 * time.Second

// generate draws a program for an instance, and up to two of each event that the program waits for. The instance may
// end in any way that its program allows, unless the mix says otherwise.
func (e *expansion) generate(in *plan.Instance, key sim.Key) {
	key, n := key.At(labelProgram), uint64(0)
	choose := func(of int) int {
		n++
		return int(e.chooser.Choose(key.Num(labelNumber, n), uint64(of)))
	}
	set := program.Generate(in.ID, choose)
	e.plan.Suit(set)
	e.plan.Programs = append(e.plan.Programs, set...)
	in.Orchestration = in.ID
	if in.Expect == "" {
		in.Expect = plan.EndAny
	}
	last := set[len(set)-1]
	for _, event := range last.Waits() {
		e.sendGenerated(in, plan.ActionRaise, event, choose(3), choose)
	}
	for _, queue := range last.Queues() {
		e.sendGenerated(in, plan.ActionEnqueue, queue, choose(4), choose)
	}
	if in.Expect == plan.EndAny && len(e.plan.Releases()) == 0 {
		e.edgesGenerated(&last, in, choose)
		e.cancelGenerated(in, choose)
		e.withdrawGenerated(set, in, choose)
	}
}

// edgesGenerated moves some of an instance's events and messages to times at which their order is open: its start, its
// first turn, the time of another message, or when one of the program's timers may fire.
func (e *expansion) edgesGenerated(last *program.Program, in *plan.Instance, choose func(of int) int) {
	for i := range in.Actions {
		at, delays := &in.Actions[i].At, last.Delays()
		switch choose(16) {
		case 12:
			*at = in.StartAt + time.Duration(choose(60))*time.Millisecond
		case 13:
			*at = in.Actions[choose(len(in.Actions))].At
		case 14:
			if len(delays) > 0 {
				*at = in.StartAt + delays[choose(len(delays))] + time.Duration(choose(60)-1)*time.Millisecond
			}
		case 15:
			*at = in.StartAt
		}
	}
}

// cancelGenerated sometimes cancels an instance, up to three times at once with a different reason each time: when it
// starts, when another message is sent to it, or later.
func (e *expansion) cancelGenerated(in *plan.Instance, choose func(of int) int) {
	if choose(7) != 6 {
		return
	}
	at := in.StartAt
	switch others := len(in.Actions); choose(3) {
	case 1:
		if others > 0 {
			at = in.Actions[choose(others)].At
		}
	case 2:
		at += time.Duration(choose(int(eventsWithin/time.Millisecond))) * time.Millisecond
	}
	for i := range 1 + choose(3) {
		in.Actions = append(in.Actions, plan.Action{At: at, Verb: plan.ActionCancel, Data: strings.Repeat("no ", i) + "more"})
	}
}

// withdrawGenerated sometimes deregisters a version of a program on one node or on all nodes while an instance may run
// it, and usually registers it again.
func (e *expansion) withdrawGenerated(set program.Set, in *plan.Instance, choose func(of int) int) {
	if choose(10) != 9 {
		return
	}
	taken := set[len(set)-1-choose(len(set))]
	nodes, at := e.plan.Nodes, in.StartAt+time.Duration(choose(int(eventsWithin/time.Millisecond)))*time.Millisecond
	if choose(2) == 1 {
		one := choose(len(nodes))
		nodes = nodes[one : one+1]
	}
	back := choose(4) != 3
	if t := e.plan.FaultPhase; t > 0 && at+eventsWithin >= t || e.plan.Until > 0 {
		return
	}
	for _, n := range nodes {
		step := plan.Step{At: at, Node: n.Name, Verb: plan.VerbDeregister, Handler: taken.Name + "@" + taken.At()}
		e.plan.Schedule = append(e.plan.Schedule, step)
		if back {
			step.At, step.Verb = at+eventsWithin/2, plan.VerbRegister
			e.plan.Schedule = append(e.plan.Schedule, step)
		}
	}
	slices.SortStableFunc(e.plan.Schedule, func(a, b plan.Step) int { return cmp.Compare(a.At, b.At) })
}

// sendGenerated sends an instance several events or messages, each with different data.
func (e *expansion) sendGenerated(in *plan.Instance, verb plan.ActionVerb, name string, times int, choose func(of int) int) {
	for i := range times {
		in.Actions = append(in.Actions, plan.Action{
			At:   in.StartAt + time.Duration(choose(int(eventsWithin/time.Millisecond)))*time.Millisecond,
			Verb: verb, Name: name, Data: fmt.Sprintf("%s %d", name, i+1),
		})
	}
}
