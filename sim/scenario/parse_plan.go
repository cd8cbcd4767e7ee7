package scenario

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/plan"
)

func faultKinds() []string {
	var kinds []string
	for _, k := range faults.Kinds() {
		kinds = append(kinds, string(k.Kind))
	}
	return kinds
}

// fault parses `KIND N in M [from TIME] [to TIME] [on NODE]`.
func (p *parser) fault() {
	kind := p.name("a kind of fault")
	p.known("fault", kind, faultKinds())
	r := faults.Rate{Kind: faults.Kind(kind)}
	r.Num = p.number("a number of times", 0, maxOdds)
	p.keyword("in")
	r.Den = p.number("a number of opportunities", 1, maxOdds)
	if p.err == nil && r.Num > r.Den {
		p.failf("%d in %d: expected a first number that is not above the second", r.Num, r.Den)
	}
	for seen := map[string]bool{}; p.more(); {
		switch p.clause(seen, "from", "to", "on") {
		case "from":
			r.From = p.duration("a time")
		case "to":
			r.To = p.duration("a time")
			if p.err == nil && r.To == 0 {
				p.failf("to 0s: expected a time after the start")
			}
		case "on":
			r.Node = p.name("a node")
		}
	}
	if r.To != 0 && r.To <= r.From {
		p.failf("from %v to %v: the window ends before it begins", r.From, r.To)
	}
	p.s.Template.Faults.Rates = append(p.s.Template.Faults.Rates, r)
	p.faultLines = append(p.faultLines, p.line)
}

// node parses `NAME... runs BUILD [absent]`.
func (p *parser) node() {
	pl := &p.s.Template
	p.first = len(pl.Nodes)
	for {
		name := p.name("a node's name")
		p.unique("node", name)
		pl.Nodes = append(pl.Nodes, plan.Node{Name: name})
		if p.err != nil || p.accept("runs") || p.accept("run") {
			break
		}
		if !p.more() {
			p.failf("the line ends too early: expected \"runs\" and a build, as in: %s", p.form)
			break
		}
	}
	build := p.build()
	absent := p.accept("absent")
	for i := p.first; i < len(pl.Nodes); i++ {
		pl.Nodes[i].Build, pl.Nodes[i].Absent = build, absent
	}
	p.owner = ownerNode
}

func (p *parser) below(owner ownerKind, what string, allowed ...ownerKind) bool {
	if !slices.Contains(allowed, owner) {
		p.failf("expected this line below %s, as in: %s", what, p.form)
		return false
	}
	p.owner = owner
	return true
}

// option parses `NAME VALUE`. The value extends to the end of the line.
func (p *parser) option(owner ownerKind) {
	if !p.below(owner, "a node", ownerNode) {
		return
	}
	name := p.name("an option")
	p.known("option", name, node.OptionNames())
	value := p.rest("a value")
	if p.err != nil {
		return
	}
	options := node.DefaultOptions()
	if err := options.Set(name, value); err != nil {
		p.failf("%v", err)
		return
	}
	for i := p.first; i < len(p.s.Template.Nodes); i++ {
		n := &p.s.Template.Nodes[i]
		if slices.ContainsFunc(n.Options, func(s plan.Setting) bool { return s.Name == name }) {
			p.failf("option %s of node %s is given twice", name, n.Name)
			return
		}
		n.Options = append(n.Options, plan.Setting{Name: name, Value: value})
	}
}

// handlers parses `none` or `NAME@VERSION...`. Below a build, it calls buildHandlers.
func (p *parser) handlers(owner ownerKind) {
	if !p.below(owner, "a node or a build", ownerNode, ownerBuild) {
		return
	}
	if owner == ownerBuild {
		p.buildHandlers()
		return
	}
	list := []string{}
	for none := p.accept("none"); !none && (len(list) == 0 || p.more()) && p.err == nil; {
		name := p.name("an orchestration")
		p.registered(name)
		if slices.Contains(list, name) {
			p.failf("orchestration %s is given twice", name)
		}
		list = append(list, name)
	}
	for i := p.first; i < len(p.s.Template.Nodes); i++ {
		n := &p.s.Template.Nodes[i]
		if n.Handlers != nil {
			p.failf("the handlers of node %s are given twice", n.Name)
			return
		}
		n.Handlers = slices.Clone(list)
	}
}

// registered checks a NAME@VERSION.
func (p *parser) registered(name string) {
	if p.err != nil {
		return
	}
	i := strings.LastIndexByte(name, '@')
	if i <= 0 {
		p.failf("orchestration %q: expected NAME@VERSION, such as Leaf@1.0.0", name)
		return
	}
	if _, err := engine.ParseVersion(name[i+1:]); err != nil {
		p.failf("orchestration %s: %v", name[:i], err)
	}
}

// history parses INSTANCE followed by these clauses in any order: runs, pinned or unpinned, shape, variant and kick.
func (p *parser) history() {
	var h plan.History
	h.Instance = p.name("an instance")
	p.unique("instance", h.Instance)
	index, seen := len(p.s.Template.Histories), map[string]bool{}
	for p.more() {
		switch p.clause(seen, "runs", "pinned", "unpinned", "shape", "variant", "kick") {
		case "runs":
			h.Orchestration, h.Version = p.handler()
		case "pinned":
			v := p.version()
			h.Pin = &v
		case "shape":
			h.Shape = plan.Shape(p.oneOf("shape", shapes()))
		case "variant":
			h.Variant = int(p.number("a variant", 1, maxVariant))
		case "kick":
			p.keyword("at")
			lo, hi := p.span("a time")
			h.KickAt = lo
			p.draw(openTime{Of: openKick, Index: index, Lo: lo, Hi: hi})
		}
	}
	if p.err == nil && seen["pinned"] == seen["unpinned"] {
		p.failf("history %s: expected either \"pinned\" and a version, or \"unpinned\"", h.Instance)
	}
	if p.err == nil && h.Shape == "" {
		p.failf("history %s: expected \"shape\" and %s", h.Instance, orList(shapes()))
	}
	p.s.Template.Histories = append(p.s.Template.Histories, h)
}

// maxVariant is far higher than the number of variants of any shape. Variants repeat.
const maxVariant = 1000

// instance parses `ID runs NAME[@VERSION]` followed by the clauses with, at and expect in any order.
func (p *parser) instance() {
	var in plan.Instance
	in.ID = p.name("an instance")
	p.unique("instance", in.ID)
	p.keyword("runs")
	in.Orchestration, in.Version = p.handler()
	for seen := map[string]bool{}; p.more(); {
		switch p.clause(seen, "with", "at", "expect", "unaided") {
		case "with":
			in.Input = p.next("an input").text
		case "at":
			lo, hi := p.span("a time")
			in.StartAt = lo
			p.draw(openTime{Of: openStart, Index: len(p.s.Template.Instances), Lo: lo, Hi: hi})
		case "expect":
			in.Expect = p.expectedEnd()
		case "unaided":
			in.Unaided = true
		}
	}
	p.s.Template.Instances = append(p.s.Template.Instances, in)
	p.owner = ownerInstance
}

// action parses the rest of a raise, enqueue, cancel, delete or prune line.
func (p *parser) action(owner ownerKind, verb plan.ActionVerb) {
	if !p.below(owner, "an instance or a mix", ownerInstance, ownerMix) {
		return
	}
	t := ActionTemplate{Action: plan.Action{Verb: verb}}
	clauses := []string{"because", "at", "after"}
	switch verb {
	case plan.ActionRaise:
		t.Action.Name = p.name("the name of an event")
		clauses = []string{"topic", "data", "at", "after", "unawaited"}
	case plan.ActionEnqueue:
		t.Action.Name = p.name("the name of a queue")
		clauses = []string{"data", "at", "after", "unawaited"}
	case plan.ActionDelete:
		clauses = []string{"forced", "alone", "at", "after"}
	case plan.ActionPrune:
		clauses = []string{"at", "after"}
	}
	seen := map[string]bool{}
	for p.more() {
		switch p.clause(seen, clauses...) {
		case "topic":
			t.Action.Topic = p.next("a topic").text
		case "data":
			t.Action.Data = p.next("data").text
		case "because":
			t.Action.Data = p.next("a reason").text
		case "alone":
			t.Action.Alone = true
		case "forced":
			t.Action.Forced = true
		case "unawaited":
			t.Action.Unawaited = true
		case "at":
			t.Lo, t.Hi = p.span("a time")
		case "after":
			t.Lo, t.Hi = p.span("a time")
			t.Relative = true
		}
	}
	if p.err == nil && seen["at"] == seen["after"] {
		p.failf("expected either \"at\" or \"after\" and a time, as in: %s", p.form)
	}
	if owner == ownerMix {
		m := &p.s.Load.Mix[len(p.s.Load.Mix)-1]
		m.Actions = append(m.Actions, t)
		return
	}
	index := len(p.s.Template.Instances) - 1
	in := &p.s.Template.Instances[index]
	d := openTime{Of: openAction, Index: index, Action: len(in.Actions), Lo: t.Lo, Hi: t.Hi, Relative: t.Relative}
	t.Action.At = t.Lo
	if t.Relative {
		t.Action.At = p.sum(in.StartAt, t.Lo)
		d = p.settle(d, in.StartAt, p.drawn(openStart, index, 0))
	}
	if p.err == nil && t.Action.At < in.StartAt && t.Lo == t.Hi && !p.drawn(openStart, index, 0) {
		p.failf("%s at %v: expected a time at or after the start of %s, which is %v", verb, t.Action.At, in.ID, in.StartAt)
	}
	in.Actions = append(in.Actions, t.Action)
	p.draw(d)
}

// load parses `COUNT instances [from TIME] [over DURATION]`.
func (p *parser) load() {
	p.single("load")
	l := &Load{Count: int(p.number("a number of instances", 1, maxLoad))}
	p.keyword("instances", "instance")
	for seen := map[string]bool{}; p.more(); {
		switch p.clause(seen, "from", "over") {
		case "from":
			l.From = p.duration("a time")
		case "over":
			l.Over = p.duration("a duration")
		}
	}
	if p.err == nil && (l.From%time.Millisecond != 0 || l.Over%time.Millisecond != 0) {
		p.failf("expected whole milliseconds")
	}
	p.s.Load = l
	p.owner = ownerLoad
}

// expectedEnd parses how an instance may end.
func (p *parser) expectedEnd() plan.End {
	t, ends := p.next("an end"), texts(plan.Ends())
	if _, err := plan.End(t.text).Ways(); err != nil {
		p.failf("%v: expected %s, or some of completed, failed and poison with | between them%s", err, orList(ends), pretty.Hint(t.text, ends))
	}
	return plan.End(t.text)
}

// mix parses `WEIGHT NAME[@VERSION]` or `WEIGHT generated programs`, followed by `[with INPUT] [expect END[|END]]`.
func (p *parser) mix(owner ownerKind) {
	if !p.below(owner, "a load", ownerLoad, ownerMix) {
		return
	}
	p.owner = ownerMix
	var m MixEntry
	m.Weight = uint32(p.number("a weight", 1, maxWeight))
	if len(p.words) > 1 && p.words[0].is("generated") && p.words[1].is("programs") {
		p.words = p.words[2:]
		m.Generated, m.Orchestration = true, generatedName
	} else {
		m.Orchestration, m.Version = p.handler()
	}
	for seen := map[string]bool{}; p.more(); {
		switch p.clause(seen, "with", "expect", "unaided") {
		case "with":
			m.Input = p.next("an input").text
			if _, err := parseInputRange(m.Input); err != nil {
				p.failf("%v", err)
			}
		case "expect":
			m.Expect = p.expectedEnd()
		case "unaided":
			m.Unaided = true
		}
	}
	p.named["mix "+strconv.Itoa(len(p.s.Load.Mix))] = p.line
	p.s.Load.Mix = append(p.s.Load.Mix, m)
}
