package scenario

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/plan"
)

func (p *parser) coverage() {
	for ok := true; ok; ok = p.more() {
		point := p.name("a coverage point")
		p.unique("coverage point", point)
		p.s.Require = append(p.s.Require, point)
	}
}

// bugs reads ID... [on BUILD | on NODE].
func (p *parser) bugs() {
	for ok := true; ok; ok = p.more() {
		id := p.name("the id of a planted bug, such as provider/filter-after-lock")
		p.known("bug", id, bugIDs())
		if p.accept("on") {
			id += "@" + p.name("a build or a node")
		}
		p.unique("bug", id)
		p.s.Template.Bugs = append(p.s.Template.Bugs, faults.BugID(id))
	}
}

// nodeNames reads NAME... runs, and adds these nodes to the plan.
func (p *parser) nodeNames() {
	pl := &p.s.Template
	p.first = len(pl.Nodes)
	for {
		name := p.name("a node's name")
		p.unique("node", name)
		pl.Nodes = append(pl.Nodes, plan.Node{Name: name})
		switch _, err := strconv.Atoi(name); {
		case p.err != nil, p.accept("runs"):
			return
		case p.accept("run"):
			if err == nil && len(pl.Nodes) == p.first+1 {
				p.warn(p.line, "nodes %[1]s: that is one node with the name %[1]s; name each node, as in \"nodes A B C run 1.5.0\"", name)
			}
			return
		}
		if !p.more() {
			p.failf("the line ends too early: expected \"runs\" and a build, as in: %s", p.form)
		}
	}
}

// toNodes applies a line to each node of the node line that it stands below.
func (p *parser) toNodes(change func(n *plan.Node)) {
	for i := p.first; i < len(p.s.Template.Nodes) && p.err == nil; i++ {
		change(&p.s.Template.Nodes[i])
	}
}

// clock reads OFFSET [drift PPM].
func (p *parser) clock() (c plan.Clock) {
	text := p.name("an offset, such as +300ms")
	offset, err := time.ParseDuration(text)
	if err != nil {
		p.failf("clock %q: expected an offset such as +300ms or -1s", text)
	}
	if c.Offset = offset; p.more() {
		p.keyword("drift")
		text := p.name("a drift, such as 50ppm")
		if c.DriftPPM, err = strconv.ParseInt(strings.TrimSuffix(text, "ppm"), 10, 64); err != nil || !strings.HasSuffix(text, "ppm") {
			p.failf("drift %q: expected parts per million, such as 50ppm or -20ppm", text)
		}
	}
	return c
}

// handlers reads none or NAME@VERSION... below a node, and buildHandlers below a build.
func (p *parser) handlers(at place) {
	if at.parent == "build" {
		p.buildHandlers()
		return
	}
	list := []string{}
	if !p.accept("none") {
		several(&list, "", "an orchestration", "orchestration", (*parser).registered).read(p)
	}
	p.toNodes(func(n *plan.Node) {
		if n.Handlers != nil {
			p.failf("the handlers of node %s are given twice", n.Name)
		}
		n.Handlers = slices.Clone(list)
	})
}

// buildHandlers parses `none`, `HANDLER...`, `with HANDLER...` or `without HANDLER...`.
func (p *parser) buildHandlers() {
	build := &p.s.Template.Builds[len(p.s.Template.Builds)-1]
	c := &build.Handlers
	list, what := &c.Only, "all the handlers"
	switch {
	case p.accept("with"):
		list, what = &c.With, "more handlers"
	case p.accept("without"):
		list, what = &c.Without, "handlers that it lacks"
	}
	if *list != nil {
		p.failf("this is the second line with %s of the build", what)
		return
	}
	*list = []string{}
	if list == &c.Only && p.accept("none") {
		return
	}
	several(list, "", "a handler: an orchestration, NAME or NAME@VERSION, or an activity", "handler", func(p *parser, name string) {
		if strings.Contains(name, "@") {
			p.registered(name)
		}
		if slices.Contains(slices.Concat(c.Only, c.With, c.Without), name) {
			p.failf("handler %s is given twice", name)
		}
		p.named["handler "+name+" of "+build.Name] = p.line
	}).read(p)
}

func (p *parser) registered(name string) {
	if p.err != nil {
		return
	}
	i := strings.LastIndexByte(name, '@')
	if name == "with" || name == "without" {
		p.failf("%s: only handlers of a build may be given so; those of a node are a list, such as: handlers Leaf@1.0.0", name)
		return
	}
	if i <= 0 {
		p.failf("orchestration %q: expected NAME@VERSION, such as Leaf@1.0.0", name)
		return
	}
	if _, err := engine.ParseVersion(name[i+1:]); err != nil {
		p.failf("orchestration %s: %v", name[:i], err)
	}
}

// checkBuilds reports an error if a declared build cannot be made.
func (p *parser) checkBuilds() {
	if p.err != nil {
		return
	}
	if _, err := p.s.Template.AllBuilds(p.from); err != nil {
		p.failf("%v", err)
	}
}

func (p *parser) checkRange(b *plan.Build) {
	if b.Range.IsEmpty() {
		p.failf("the range %s admits no version", b.Range)
		return
	}
	p.warnRange("range "+b.Range.String(), *b.Range, b.Name)
}

// addAction adds an action to the instance or the mix that its line stands below.
func (p *parser) addAction(at place, t *ActionTemplate) {
	if at.parent == "mix" {
		m := &p.s.Load.Mix[at.outer]
		m.Actions = append(m.Actions, *t)
		earliest := t.Lo
		if t.Relative {
			earliest += p.s.Load.From
		}
		p.acts = append(p.acts, act{p.line, &t.Action, earliest})
		return
	}
	in, a := &p.s.Template.Instances[at.outer], &t.Action
	d := openTime{Of: openAction, Index: at.outer, Action: len(in.Actions), Lo: t.Lo, Hi: t.Hi, Relative: t.Relative}
	startOpen := p.drawn(openStart, at.outer, 0)
	a.At = t.Lo
	if t.Relative {
		a.At = p.sum(in.StartAt, t.Lo)
		d = p.settle(d, in.StartAt, startOpen)
	}
	if a.At < in.StartAt && t.Lo == t.Hi && !startOpen {
		p.failf("%s at %v: expected a time at or after the start of %s, which is %v", a.Verb, a.At, in.ID, in.StartAt)
	}
	in.Actions = append(in.Actions, *a)
	p.acts = append(p.acts, act{p.line, a, a.At})
	p.draw(d)
}

// expectedEnd parses how an instance may end.
func (p *parser) expectedEnd() plan.End {
	t, ends := p.next("an end"), texts(plan.Ends())
	if _, err := plan.End(t.text).Ways(); err != nil {
		p.failf("%v: expected %s, or some of completed, failed and poison with | between them%s", err, orList(ends), pretty.Hint(t.text, ends))
	}
	return plan.End(t.text)
}

// checkProbe rejects clauses of a probe that do not go together.
func (p *parser) checkProbe(b *plan.Probe) {
	if err := b.Check(); err != nil {
		p.failf("%v", err)
	}
	p.probeLines = append(p.probeLines, p.line)
}

func (p *parser) probeFilter() string {
	filter := p.name("a filter: none, any, or ranges separated by |")
	if _, err := plan.ParseFilter(filter); err != nil {
		p.failf("%v; expected none, any, or ranges separated by |", err)
	}
	return filter
}

func (p *parser) finishProbes() {
	ids := pretty.Texts(p.s.Template.Instances, func(in plan.Instance) string { return in.ID })
	for i, b := range p.s.Template.Probes {
		p.line = p.probeLines[i]
		if b.Send == plan.SendStart {
			p.known("instance", b.Instance, ids)
		}
	}
}
