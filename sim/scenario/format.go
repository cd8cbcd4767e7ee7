package scenario

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim/plan"
)

// Format returns a plan's canonical text. Parsing it gives a scenario that leaves nothing open. Every rate is written
// out, so that the text keeps its meaning when the named fault plans change. An empty strategy or profile is parsed as
// the default, filter or contract.
func Format(p *plan.Plan) []byte {
	s := Scenario{Name: p.Name, Template: *p}
	var b bytes.Buffer
	s.format(&b, len(p.Faults.Rates), "")
	return b.Bytes()
}

// Format returns the scenario's canonical text, which Parse can parse. It keeps no comments except the title.
func (s *Scenario) Format() []byte {
	var b bytes.Buffer
	if s.Title != "" {
		fmt.Fprintf(&b, "# %s\n\n", s.Title)
	}
	single, common := len(s.Template.Faults.Rates), ""
	for _, name := range []string{"light", "full", "timing"} {
		plan, _ := NamedFaults(name)
		if n := len(s.Template.Faults.Rates) - len(plan.Rates); n >= 0 && slices.Equal(s.Template.Faults.Rates[n:], plan.Rates) {
			single, common = n, name
		}
	}
	s.format(&b, single, common)
	formatExpectations(&b, s.Expect)
	return b.Bytes()
}

// format writes everything except the title and the expectations. It writes the first single rates one by one, and
// refers to the rest as the fault plan named common.
func (s *Scenario) format(b *bytes.Buffer, single int, common string) {
	p := &s.Template
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	if s.Name != "" {
		line("scenario %s", quote(s.Name))
	}
	if s.Seeds.Count != 0 {
		line("seeds %d", s.Seeds.Count)
	}
	for _, point := range s.Require {
		line("require coverage %s", quote(point))
	}
	if s.Matrix {
		line("require matrix")
	}
	for _, text := range s.Fuzz.lines() {
		line("%s", text)
	}
	if p.Strategy != "" && p.Strategy != plan.StrategyFilter {
		line("strategy %s", p.Strategy)
	}
	if p.Patience.After != 0 {
		line("%s", formatPatience(p.Patience))
	}
	if p.Profile != "" && p.Profile != plan.ProfileContract {
		line("profile %s", p.Profile)
	}
	if p.Contract != "" {
		line("contract %s", p.Contract)
	}
	if p.Store != (plan.StoreOptions{}) {
		line("%s", formatStore(p.Store))
	}
	if p.Turbulence != 0 {
		line("turbulence %v", p.Turbulence)
	}
	if p.Until != 0 {
		line("until %v", p.Until)
	}
	if p.Relief != plan.ReliefBuild {
		line("relief %s", p.Relief)
	}
	if p.StepBudget != 0 {
		line("budget %d steps", p.StepBudget)
	}
	if p.TurnBudget != 0 {
		line("budget %d turns", p.TurnBudget)
	}
	for _, id := range p.Bugs {
		if bug, whose := id.On(); whose != "" {
			line("bug %s on %s", quote(string(bug)), quote(whose))
		} else {
			line("bug %s", quote(string(id)))
		}
	}
	if common != "" {
		line("faults %s", common)
	}
	for _, r := range p.Faults.Rates[:single] {
		line("%s", formatRate(r))
	}
	formatBuilds(b, p.Builds)
	s.formatNodes(b)
	s.formatInstances(b)
	s.formatLoad(b)
	s.formatSchedule(b)
	if s.Template.Unaided {
		b.WriteString("then nothing\n")
	}
}

func formatRate(r faults.Rate) string {
	text := fmt.Sprintf("fault %s %d in %d", quote(string(r.Kind)), r.Num, r.Den)
	if r.From != 0 {
		text += " from " + r.From.String()
	}
	if r.To != 0 {
		text += " to " + r.To.String()
	}
	if r.Node != "" {
		text += " on " + quote(r.Node)
	}
	return text
}

func (s *Scenario) formatNodes(b *bytes.Buffer) {
	gap(b, len(s.Template.Nodes))
	for _, n := range s.Template.Nodes {
		fmt.Fprintf(b, "node %s runs %s", quoteName(n.Name, "run", "runs"), formatBuild(n.Build))
		if n.Absent {
			b.WriteString(" absent")
		}
		b.WriteByte('\n')
		for _, o := range n.Options {
			fmt.Fprintf(b, "  option %s %s\n", o.Name, quote(o.Value))
		}
		if n.Clock != (plan.Clock{}) {
			fmt.Fprintf(b, "  clock %v\n", n.Clock)
		}
		if n.Handlers == nil {
			continue
		}
		b.WriteString("  handlers")
		for _, h := range n.Handlers {
			b.WriteString(" " + quote(h))
		}
		if len(n.Handlers) == 0 {
			b.WriteString(" none")
		}
		b.WriteByte('\n')
	}
}

// formatBuild writes a released runtime's name as two words.
func formatBuild(name string) string {
	if version, released := strings.CutPrefix(name, engine.ReleasePrefix); released {
		return "duroxide " + quote(version)
	}
	return quote(name)
}

func (s *Scenario) formatInstances(b *bytes.Buffer) {
	for i := range s.Template.Programs {
		gap(b, 1)
		s.Template.Programs[i].Format(b, quote)
	}
	gap(b, len(s.Template.Histories))
	for i, h := range s.Template.Histories {
		fmt.Fprintf(b, "history %s", quote(h.Instance))
		if h.Orchestration != "" {
			b.WriteString(" runs " + formatHandler(h.Orchestration, h.Version))
		}
		if h.Pin == nil {
			b.WriteString(" unpinned")
		} else {
			fmt.Fprintf(b, " pinned %v", h.Pin)
		}
		fmt.Fprintf(b, " shape %s", h.Shape)
		if h.Variant != 0 {
			fmt.Fprintf(b, " variant %d", h.Variant)
		}
		if when := s.time(openKick, i, 0, h.KickAt); when != "0s" {
			b.WriteString(" kick at " + when)
		}
		b.WriteByte('\n')
	}
	gap(b, len(s.Template.Instances))
	for i, in := range s.Template.Instances {
		fmt.Fprintf(b, "instance %s runs %s", quote(in.ID), formatHandler(in.Orchestration, in.Version))
		if in.Input != "" {
			b.WriteString(" with " + quote(in.Input))
		}
		if when := s.time(openStart, i, 0, in.StartAt); when != "0s" {
			b.WriteString(" at " + when)
		}
		if in.Expect != "" {
			b.WriteString(" expect " + string(in.Expect))
		}
		if in.Unaided {
			b.WriteString(" unaided")
		}
		b.WriteByte('\n')
		for j, a := range in.Actions {
			d, _ := s.drawOf(openAction, i, j)
			formatAction(b, "  ", a, d.Relative, s.time(openAction, i, j, a.At))
		}
	}
}

func formatHandler(name, version string) string {
	text := quote(name)
	switch {
	case text != name || strings.Contains(name, "@"):
		if text == name {
			text = fmt.Sprintf("%q", name)
		}
		if version != "" {
			text += " version " + quote(version)
		}
	case version != "":
		text += "@" + version
	}
	return text
}

func formatAction(b *bytes.Buffer, indent string, a plan.Action, relative bool, when string) {
	b.WriteString(indent + string(a.Verb))
	if a.Forced {
		b.WriteString(" forced")
	}
	if a.Alone {
		b.WriteString(" alone")
	}
	if a.Verb == plan.ActionRaise || a.Verb == plan.ActionEnqueue {
		b.WriteString(" " + quote(a.Name))
		if a.Topic != "" {
			b.WriteString(" topic " + quote(a.Topic))
		}
		if a.Data != "" {
			b.WriteString(" data " + quote(a.Data))
		}
	} else if a.Data != "" {
		b.WriteString(" because " + quote(a.Data))
	}
	if relative {
		b.WriteString(" after " + when)
	} else {
		b.WriteString(" at " + when)
	}
	if a.Unawaited {
		b.WriteString(" unawaited")
	}
	b.WriteByte('\n')
}

func (s *Scenario) formatLoad(b *bytes.Buffer) {
	if l := s.Load; l != nil {
		gap(b, 1)
		fmt.Fprintf(b, "load %d instances", l.Count)
		if l.From != 0 {
			fmt.Fprintf(b, " from %v", l.From)
		}
		if l.Over != 0 {
			fmt.Fprintf(b, " over %v", l.Over)
		}
		b.WriteByte('\n')
		for _, m := range l.Mix {
			what := formatHandler(m.Orchestration, m.Version)
			if m.Generated {
				what = "generated programs"
			}
			fmt.Fprintf(b, "  mix %d %s", m.Weight, what)
			if m.Input != "" {
				b.WriteString(" with " + quote(m.Input))
			}
			if m.Expect != "" {
				b.WriteString(" expect " + string(m.Expect))
			}
			if m.Unaided {
				b.WriteString(" unaided")
			}
			b.WriteByte('\n')
			for _, a := range m.Actions {
				formatAction(b, "    ", a.Action, a.Relative, formatSpan(a.Lo, a.Hi))
			}
		}
	}
	gap(b, len(s.Template.Probes))
	for i, p := range s.Template.Probes {
		formatProbe(b, &p, s.time(openProbe, i, 0, p.From))
	}
}

func (s *Scenario) formatSchedule(b *bytes.Buffer) {
	gap(b, len(s.Template.Schedule))
	for i, t := range s.Template.Schedule {
		d, _ := s.drawOf(openStep, i, 0)
		switch {
		case !d.Relative:
			b.WriteString("at " + s.time(openStep, i, 0, t.At))
		case d.Lo == 0 && d.Hi == 0:
			b.WriteString("then")
		default:
			b.WriteString("after " + formatSpan(d.Lo, d.Hi))
		}
		fmt.Fprintf(b, " %s", t.Verb)
		switch t.Verb {
		case plan.VerbMark:
			fmt.Fprintf(b, " %q", t.Mark)
		case plan.VerbUpgrade, plan.VerbRollback:
			fmt.Fprintf(b, " %s to %s", quote(t.Node), formatBuild(t.Build))
		case plan.VerbPause:
			fmt.Fprintf(b, " %s for %s", quote(t.Node), s.time(openFor, i, 0, t.For))
		case plan.VerbWiden, plan.VerbNarrow:
			fmt.Fprintf(b, " %s to %s", quote(t.Node), formatRange(t.Range))
		case plan.VerbRegister, plan.VerbDeregister:
			fmt.Fprintf(b, " %s on %s", quote(t.Handler), quote(t.Node))
		default:
			b.WriteString(" " + quote(t.Node))
		}
		b.WriteByte('\n')
	}
}

// formatRange returns a range in a form that versionRange accepts: as a constraint if that is equivalent, otherwise as
// its two ends.
func formatRange(r *engine.VersionRange) string {
	if r == nil {
		return "*"
	}
	if back, err := engine.ParseRange(r.String()); err == nil && back == *r {
		return r.String()
	}
	return r.Min.String() + ".." + r.Max.String()
}

func formatExpectations(b *bytes.Buffer, list []plan.Expectation) {
	gap(b, len(list))
	for _, e := range list {
		fmt.Fprintf(b, "expect %s\n", formatExpectation(e))
	}
}

// formatExpectation returns an expectation's text without the keyword.
func formatExpectation(e plan.Expectation) string {
	text := string(e.Mode) + " " + e.Event
	if e.In != "" {
		text += fmt.Sprintf(" in %q", e.In)
	}
	for _, list := range []struct {
		word  string
		attrs []plan.Attr
	}{{" where", e.Where}, {" has", e.Has}} {
		if len(list.attrs) > 0 {
			text += list.word
		}
		for _, a := range list.attrs {
			text += " " + a.Name + "=" + quote(a.Value)
		}
	}
	return text
}

// gap writes an empty line between two groups of lines.
func gap(b *bytes.Buffer, lines int) {
	if lines > 0 && b.Len() > 0 && !bytes.HasSuffix(b.Bytes(), []byte("\n\n")) {
		b.WriteByte('\n')
	}
}

// time returns the text of a time, open or fixed.
func (s *Scenario) time(of openOf, index, action int, fixed time.Duration) string {
	if d, open := s.drawOf(of, index, action); open {
		return formatSpan(d.Lo, d.Hi)
	}
	return fixed.String()
}

func formatSpan(lo, hi time.Duration) string {
	if lo == hi {
		return lo.String()
	}
	return lo.String() + ".." + hi.String()
}
