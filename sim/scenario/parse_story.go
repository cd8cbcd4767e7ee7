package scenario

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/plan"
)

// step parses a step of the schedule. The time of a relative step counts from the previous step.
func (p *parser) step(lo, hi time.Duration, relative bool) {
	pl := &p.s.Template
	index := len(pl.Schedule)
	if relative && index == 0 && p.err == nil {
		p.failf("there is no earlier step: expected \"at\" and a time")
	}
	t := p.next("a step")
	if p.err != nil {
		return
	}
	r := lookup(p.rows.steps, t.text)
	switch {
	case t.quoted:
		p.failf("expected a step, found the string %q", t.text)
	case r == nil:
		p.known("step", t.text, names(p.rows.steps))
	}
	if p.err != nil {
		return
	}
	p.form = r.Form
	s := plan.Step{Verb: plan.Verb(t.text), At: lo}
	for _, it := range stepPattern(place{s: p.s}, &s, index) {
		if p.err == nil {
			it.read(p)
		}
	}
	if p.err != nil {
		return
	}
	d := openTime{Of: openStep, Index: index, Lo: lo, Hi: hi, Relative: relative}
	if relative {
		before := pl.Schedule[index-1].At
		s.At = p.sum(before, lo)
		d = p.settle(d, before, p.drawn(openStep, index-1, 0))
	}
	p.draw(d)
	pl.Schedule = append(pl.Schedule, s)
	p.stepLines = append(p.stepLines, p.line)
	w := when{earliest: lo, latest: hi, relative: relative}
	if relative {
		before := p.stepWhen[index-1]
		w.earliest, w.latest = before.earliest+lo, before.latest+hi
	}
	p.stepWhen = append(p.stepWhen, w)
}

// versionRange parses a range up to the end of the line. The range may also be given by its two ends, as MIN..MAX, in
// which case it may be empty.
func (p *parser) versionRange() *engine.VersionRange {
	text := p.rest("a range of versions")
	if p.err != nil {
		return nil
	}
	if low, high, ends := strings.Cut(text, ".."); ends {
		lo, errLo := engine.ParseVersion(low)
		hi, errHi := engine.ParseVersion(high)
		if errLo == nil && errHi == nil {
			return &engine.VersionRange{Min: lo, Max: hi}
		}
	}
	r, err := engine.ParseRange(text)
	if err != nil {
		p.failf("%v", err)
	}
	return &r
}

// expect parses `MODE EVENT [in PART] [where ...] [has ...]`. `in PART:` may also come before the event, and `where`
// may be omitted.
func (p *parser) expect() {
	e := plan.Expectation{Line: p.line}
	e.Mode = plan.Mode(p.oneOf("mode", []string{string(plan.ModeAlways), string(plan.ModeNever), string(plan.ModeSometimes), "panics", "taken"}))
	in := func() bool {
		if !p.accept("in") {
			return false
		}
		t := p.next("a part of the story")
		if e.In = t.text; t.colon {
			e.In = strings.TrimSuffix(t.text, ":")
		}
		if p.err == nil && e.In == "" {
			p.failf("an empty name: expected a part of the story, as in: %s", p.form)
		}
		return true
	}
	before := in()
	t := p.next("an event")
	if e.Event = t.text; t.colon {
		e.Event = strings.TrimSuffix(t.text, ":")
	}
	p.known("event", e.Event, pretty.Texts(plan.Facts(), func(f plan.FactInfo) string { return f.Name }))
	if !before {
		in()
	}
	list := &e.Where
	for where, has := false, false; p.more(); {
		switch {
		case !where && !has && p.accept("where"):
			where = true
		case !has && p.accept("has"):
			has, list = true, &e.Has
		default:
			*list = append(*list, p.attr(e.Event))
			continue
		}
		if p.err == nil && !p.more() {
			p.failf("the line ends too early: expected NAME=VALUE, as in: %s", p.form)
		}
	}
	if p.err != nil {
		return
	}
	if err := e.Validate(); err != nil {
		p.failf("%v", err)
		return
	}
	e.Text = formatExpectation(e)
	p.s.Expect = append(p.s.Expect, e)
	p.expectLines = append(p.expectLines, p.line)
}

func (p *parser) attr(event string) plan.Attr {
	t := p.next("an attribute")
	name, value, ok := strings.Cut(t.text, "=")
	if p.err == nil && (!ok || name == "") {
		p.failf("unexpected %q: expected NAME=VALUE, as in: %s", t.text, p.form)
	}
	for _, info := range plan.Facts() {
		if info.Name != event {
			continue
		}
		known := pretty.Texts(info.Attrs, func(a plan.FactAttr) string { return a.Name })
		if hint := pretty.Hint(name, known); hint != "" && !slices.Contains(known, name) && p.err == nil {
			if _, err := engine.ParseVersion(name); err != nil {
				p.failf("%s has no attribute %q%s", event, name, hint)
			}
		}
	}
	return plan.Attr{Name: name, Value: value}
}

func (p *parser) draw(d openTime) {
	if p.err == nil && (d.Lo != d.Hi || d.Relative) {
		p.s.open = append(p.s.open, d)
	}
}

func (p *parser) drawn(of openOf, index, action int) bool {
	return slices.ContainsFunc(p.s.open, func(d openTime) bool { return d.Of == of && d.Index == index && d.Action == action })
}

// settle turns a relative time into an absolute one, unless the time it is relative to is open.
func (p *parser) settle(d openTime, from time.Duration, open bool) openTime {
	if d.Relative && !open {
		d.Relative, d.Lo, d.Hi = false, p.sum(from, d.Lo), p.sum(from, d.Hi)
	}
	return d
}

func (p *parser) sum(a, b time.Duration) time.Duration {
	if p.err == nil && a+b > maxTime {
		p.failf("this is %v after the start of the run: expected at most %v", a+b, maxTime)
	}
	return a + b
}

// finish performs the checks that need the whole text, and puts draws and faults into canonical order.
func (p *parser) finish() {
	p.repeat()
	if p.err != nil {
		return
	}
	pl := &p.s.Template
	var parts []string
	nodes := pretty.Texts(pl.Nodes, func(n plan.Node) string { return n.Name })
	for _, s := range pl.Schedule {
		if s.Verb == plan.VerbMark {
			parts = append(parts, s.Mark)
		}
	}
	actors := slices.Concat(nodes, pretty.Texts(pl.Probes, func(b plan.Probe) string { return b.Name }))
	for i, s := range pl.Schedule {
		if s.Verb.OfNode() {
			p.line = p.stepLines[i]
			p.known("node", s.Node, nodes)
		}
	}
	for i, r := range pl.Faults.Rates {
		if r.Node != "" {
			p.line = p.faultLines[i]
			p.known("node", r.Node, nodes)
		}
	}
	for i, e := range p.s.Expect {
		p.line = p.expectLines[i]
		if e.In != "" {
			p.known("part of the story", e.In, parts)
		}
		for i, a := range append(slices.Clone(e.Where), e.Has...) {
			so := "the expectation sees nothing"
			if i >= len(e.Where) {
				so = "nothing has that"
			}
			if a.Name == "node" {
				for _, name := range strings.Split(a.Value, "|") {
					p.known("node", name, actors)
				}
			}
			p.checkVersions(a, so)
			p.checkInstance(a, so)
		}
	}
	p.finishProbes()
	p.finishPrograms()
	p.finishLoad()
	p.finishEntry()
	if p.err != nil {
		return
	}
	for i, line := range p.stepLines {
		p.named["step "+strconv.Itoa(i+1)] = line
	}
	p.named["nodes"] = 0 // if there are none, the whole file is wrong
	p.s.lines = p.named
	p.warnBuilds()
	p.warnMarks()
	p.warnSteps()
	p.warnUntil()
	p.warnSometimes()
	p.warnKept()
	p.warnFaults()
	slices.SortStableFunc(p.s.warnings, func(a, b *Error) int { return cmp.Compare(a.Line, b.Line) })
	pl.Faults.Rates = append(pl.Faults.Rates, p.common.Rates...)
	slices.SortFunc(p.s.open, compareDraws)
	pl.Name = p.s.Name
	if p.s.Name == "" && p.entry == nil {
		p.s.Name = strings.TrimSuffix(path.Base(strings.ReplaceAll(p.file, "\\", "/")), path.Ext(p.file))
		pl.Name = p.s.Name
	}
}

// checkVersions refuses a build that no node of the plan runs, and warns about a pin that no execution gets, and of what
// follows: an expectation that selects it would hold without having seen anything. A pin may still come from the contents
// of a store.
func (p *parser) checkVersions(a plan.Attr, so string) {
	_, err := engine.ParseVersion(a.Name)
	up := err == nil // a build's name is an attribute of the fact how many nodes run it
	if a.Name != "build" && a.Name != "pin" && !up {
		return
	}
	pl := &p.s.Template
	builds := pl.RunBuilds()
	for _, b := range pl.Probes {
		builds = append(builds, b.Build)
		if b.Pin != nil {
			builds = append(builds, b.Pin.String())
		}
	}
	for _, h := range pl.Histories {
		if h.Pin != nil {
			builds = append(builds, h.Pin.String()) // rescue starts a node of the build that stranded work is pinned to
		}
	}
	var pins []string
	for _, name := range builds {
		version, _, _ := strings.Cut(name, "+")
		if v, err := engine.ParseVersion(version); err == nil {
			version = v.Triple().String() // a store keeps no pre-release of a pin
		}
		pins = append(pins, version)
	}
	for _, one := range strings.Split(a.Value, "|") {
		matches := plan.Attr{Name: a.Name, Value: one}.Match
		switch {
		case a.Name == "build" && !slices.ContainsFunc(builds, matches), up && !slices.Contains(builds, a.Name):
			p.failf("%s: no node of this plan runs such a build: expected one of %s", a, orList(slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(builds))), func(b string) bool { return b == "" })))
		case a.Name == "pin" && one != "none" && !slices.ContainsFunc(pins, matches):
			why := ", unless the contents of a store have that pin"
			if strings.Contains(one, "-") {
				why = ": a pin has three numbers, and no pre-release"
			}
			p.warn(p.line, "%s: no build of this plan pins an execution to %s, so %s%s", a, one, so, why)
		}
	}
}

// checkInstance warns about an instance that no line starts, and of what follows: an expectation that selects it may hold
// without having seen anything.
func (p *parser) checkInstance(a plan.Attr, so string) {
	generated := func(m MixEntry) bool { return m.Generated }
	if a.Name != "instance" || p.s.Load != nil && slices.ContainsFunc(p.s.Load.Mix, generated) {
		return
	}
	names := slices.Concat(pretty.Texts(p.s.Template.Instances, func(in plan.Instance) string { return in.ID }),
		pretty.Texts(p.s.Template.Histories, func(h plan.History) string { return h.Instance }))
	for _, one := range strings.Split(a.Value, "|") {
		matches := func(m MixEntry) bool {
			n, err := strconv.Atoi(strings.TrimPrefix(one, m.Orchestration+"-"))
			return err == nil && n <= p.s.Load.Count && p.s.Load.names(m.Orchestration, one)
		}
		if !slices.Contains(names, one) && !strings.ContainsAny(one, ":/") && !(p.s.Load != nil && slices.ContainsFunc(p.s.Load.Mix, matches)) {
			p.warn(p.line, "%s: no line of this plan starts %s, so %s, unless code starts it or the contents of a store have it%s", a, one, so, pretty.Hint(one, names))
		}
	}
}

func compareDraws(a, b openTime) int {
	return cmp.Or(cmp.Compare(a.Of, b.Of), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Action, b.Action))
}

func (p *parser) finishLoad() {
	l := p.s.Load
	if l == nil {
		return
	}
	p.line = p.once["load"]
	if len(l.Mix) == 0 {
		p.failf("the load has no mix: expected below it %s", lookup(p.rows.statements, "mix").Form)
	}
	ids := pretty.Texts(p.s.Template.Instances, func(in plan.Instance) string { return in.ID })
	for _, id := range append(ids, pretty.Texts(p.s.Template.Histories, func(h plan.History) string { return h.Instance })...) {
		for _, m := range l.Mix {
			if l.names(m.Orchestration, id) {
				p.line = p.named["instance "+id]
				p.failf("instance %q has a name that an instance of the load may get: expected another name", id)
			}
		}
	}
}
