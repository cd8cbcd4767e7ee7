package scenario

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/plan"
)

// declareBuild parses `NAME like BUILD`.
func (p *parser) declareBuild() {
	b := plan.Build{Name: p.name("a version, such as 2.1.0")}
	p.unique("build", b.Name)
	p.keyword("like")
	b.Like = p.build()
	p.s.Template.Builds = append(p.s.Template.Builds, b)
	p.checkBuilds()
	if !slices.Contains(p.builds, b.Name) {
		p.builds = append(p.builds, b.Name)
	}
	p.owner = ownerBuild
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

// ownBuild returns the declared build that a line belongs to, or nil after an error.
func (p *parser) ownBuild(owner ownerKind) *plan.Build {
	if !p.below(owner, "a build", ownerBuild) || p.err != nil {
		return nil
	}
	return &p.s.Template.Builds[len(p.s.Template.Builds)-1]
}

// buildRange parses the range of pins that the build's nodes declare.
func (p *parser) buildRange(owner ownerKind) {
	b := p.ownBuild(owner)
	if b == nil {
		return
	}
	p.unique("range of build", b.Name)
	r := p.versionRange()
	if p.err != nil {
		return
	}
	if r.IsEmpty() {
		p.failf("the range %s admits no version", r)
	}
	if v, err := engine.ParseVersion(strings.SplitN(b.Name, "+", 2)[0]); err == nil && !r.Contains(v) {
		p.warn(p.line, "build %s: its range excludes its own version, so its nodes may be unable to continue what they start", b.Name)
	}
	b.Range = r
}

// kinds parses `with KIND...` and `without KIND...` clauses, which change what the build reads or writes.
func (p *parser) kinds(owner ownerKind, what string) {
	b := p.ownBuild(owner)
	if b == nil {
		return
	}
	p.unique(what+" of build", b.Name)
	c := &b.Reads
	if what == "writes" {
		c = &b.Writes
	}
	var known []string
	for _, k := range plan.VariableKinds() {
		known = append(known, string(k))
	}
	for seen := map[string]bool{}; len(seen) == 0 || p.more(); {
		list := &c.With
		if p.clause(seen, "with", "without") == "without" {
			list = &c.Without
		}
		for first := true; p.err == nil && (first || p.more() && !p.words[0].is("with") && !p.words[0].is("without")); first = false {
			k := p.name("a kind of event")
			p.known("kind of event", k, known)
			if slices.Contains(slices.Concat(c.With, c.Without), engine.EventKind(k)) {
				p.failf("kind of event %s is given twice", k)
			}
			*list = append(*list, engine.EventKind(k))
		}
		if p.err != nil {
			return
		}
	}
	p.checkBuilds()
}

// buildHandlers parses `none`, `HANDLER...`, `with HANDLER...` or `without HANDLER...`.
func (p *parser) buildHandlers() {
	c := &p.s.Template.Builds[len(p.s.Template.Builds)-1].Handlers
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
	for first := true; p.err == nil && (first || p.more()); first = false {
		name := p.name("a handler: an orchestration, NAME or NAME@VERSION, or an activity")
		if i := strings.LastIndexByte(name, '@'); i >= 0 {
			p.registered(name)
		}
		if slices.Contains(slices.Concat(c.Only, c.With, c.Without), name) {
			p.failf("handler %s is given twice", name)
		}
		*list = append(*list, name)
	}
}

// semantics parses `NAME [from VERSION]`.
func (p *parser) semantics(owner ownerKind) {
	b := p.ownBuild(owner)
	if b == nil {
		return
	}
	var c engine.SemanticsChange
	name := p.name("semantics: standard, discard or eager-timers")
	if p.err != nil {
		return
	}
	var err error
	if c.Semantics, err = engine.ParseSemantics(name); err != nil {
		p.failf("%v", err)
		return
	}
	if p.accept("from") {
		c.Since = p.version()
	}
	p.unique("semantics from "+c.Since.String()+" of build", b.Name)
	b.Semantics = append(b.Semantics, c)
}

// limits parses one or more of `carried COUNT`, `keys COUNT` and `bytes COUNT`.
func (p *parser) limits(owner ownerKind) {
	b := p.ownBuild(owner)
	if b == nil {
		return
	}
	p.unique("limits of build", b.Name)
	const most = 1 << 20
	for seen := map[string]bool{}; p.err == nil && (len(seen) == 0 || p.more()); {
		switch p.clause(seen, "carried", "keys", "bytes") {
		case "carried":
			b.Limits.CarriedEvents = int(p.number("carried messages", 1, most))
		case "keys":
			b.Limits.Keys = int(p.number("keys", 1, most))
		case "bytes":
			b.Limits.ValueBytes = int(p.number("bytes of a value", 1, most))
		}
	}
}

// lacks parses `FIELD...`.
func (p *parser) lacks(owner ownerKind) {
	b := p.ownBuild(owner)
	if b == nil {
		return
	}
	p.unique("fields that it lacks, of build", b.Name)
	var known []string
	for _, f := range engine.Fields() {
		known = append(known, string(f))
	}
	for first := true; p.err == nil && (first || p.more()); first = false {
		f := p.name("a field")
		p.known("field", f, known)
		if slices.Contains(b.Lacks, engine.Field(f)) {
			p.failf("field %s is given twice", f)
		}
		b.Lacks = append(b.Lacks, engine.Field(f))
	}
}

// warnBuilds warns about declared builds that are not used by any node, step, probe, bug or other build.
func (p *parser) warnBuilds() {
	pl := &p.s.Template
	for i, b := range pl.Builds {
		used := slices.ContainsFunc(pl.Nodes, func(n plan.Node) bool { return n.Build == b.Name }) ||
			slices.ContainsFunc(pl.Schedule, func(s plan.Step) bool { return s.Build == b.Name }) ||
			slices.ContainsFunc(pl.Probes, func(pr plan.Probe) bool { return pr.Build == b.Name }) ||
			slices.ContainsFunc(pl.Builds[i+1:], func(later plan.Build) bool { return later.Like == b.Name })
		if !used {
			p.warn(p.named["build "+b.Name], "build %s: nothing uses it", b.Name)
		}
	}
}

func formatBuilds(w *bytes.Buffer, builds []plan.Build) {
	for _, b := range builds {
		gap(w, 1)
		fmt.Fprintf(w, "build %s like %s\n", quote(b.Name), formatBuild(b.Like))
		if b.Range != nil {
			fmt.Fprintf(w, "  range %s\n", formatRange(b.Range))
		}
		formatKinds(w, "reads", b.Reads)
		formatKinds(w, "writes", b.Writes)
		for _, c := range b.Semantics {
			fmt.Fprintf(w, "  semantics %s", c.Semantics)
			if !c.Since.IsZero() {
				fmt.Fprintf(w, " from %s", c.Since)
			}
			w.WriteByte('\n')
		}
		formatLimits(w, b.Limits)
		if len(b.Lacks) > 0 {
			w.WriteString("  lacks" + formatNames(b.Lacks) + "\n")
		}
		if h := b.Handlers; h.Only != nil {
			w.WriteString("  handlers" + formatNames(h.Only))
			if len(h.Only) == 0 {
				w.WriteString(" none")
			}
			w.WriteByte('\n')
		}
		if len(b.Handlers.With) > 0 {
			w.WriteString("  handlers with" + formatNames(b.Handlers.With) + "\n")
		}
		if len(b.Handlers.Without) > 0 {
			w.WriteString("  handlers without" + formatNames(b.Handlers.Without) + "\n")
		}
	}
}

func formatLimits(w *bytes.Buffer, l engine.Limits) {
	if l == (engine.Limits{}) {
		return
	}
	w.WriteString("  limits")
	for _, limit := range []struct {
		word string
		n    int
	}{{"carried", l.CarriedEvents}, {"keys", l.Keys}, {"bytes", l.ValueBytes}} {
		if limit.n > 0 {
			fmt.Fprintf(w, " %s %d", limit.word, limit.n)
		}
	}
	w.WriteByte('\n')
}

func formatKinds(w *bytes.Buffer, what string, c plan.KindChange) {
	if len(c.With)+len(c.Without) == 0 {
		return
	}
	w.WriteString("  " + what)
	for _, list := range []struct {
		word  string
		kinds []engine.EventKind
	}{{" with", c.With}, {" without", c.Without}} {
		if len(list.kinds) > 0 {
			w.WriteString(list.word + formatNames(list.kinds))
		}
	}
	w.WriteByte('\n')
}

func formatNames[T ~string](names []T) string {
	text := ""
	for _, n := range names {
		text += " " + quoteName(string(n), "with", "without", "none")
	}
	return text
}
