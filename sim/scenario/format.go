package scenario

import (
	"bytes"
	"cmp"
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
	format(&b, place{s: &s, single: len(p.Faults.Rates)}, func(r *row) bool { return !r.Corpus }) // a plan has no expectations but those that are its own
	return b.Bytes()
}

// Format returns the scenario's canonical text, which Parse can parse. It keeps no comments except the title.
func (s *Scenario) Format() []byte {
	var b bytes.Buffer
	if s.Title != "" {
		fmt.Fprintf(&b, "# %s\n\n", s.Title)
	}
	single, common := s.splitFaults()
	format(&b, place{s: s, single: single, common: common}, func(r *row) bool { return !r.Corpus })
	return b.Bytes()
}

// SingleFaults returns the rates that have a line of their own.
func (s *Scenario) SingleFaults() []faults.Rate {
	single, _ := s.splitFaults()
	return s.Template.Faults.Rates[:single]
}

// splitFaults returns how many rates have a line of their own, and the name of the fault plan that the others are.
func (s *Scenario) splitFaults() (single int, common string) {
	single = len(s.Template.Faults.Rates)
	if s.NoFaults {
		common = "none"
	}
	for _, name := range []string{"light", "full", "timing"} {
		plan, _ := NamedFaults(name)
		if n := len(s.Template.Faults.Rates) - len(plan.Rates); n >= 0 && slices.Equal(s.Template.Faults.Rates[n:], plan.Rates) {
			single, common = n, name
		}
	}
	return single, common
}

// format writes the lines of the statements that which selects, as their rows say.
func format(b *bytes.Buffer, at place, which func(r *row) bool) {
	for i := range table.statements {
		if r := &table.statements[i]; which(r) && r.Below == "" && r.each != nil {
			r.format(b, at, "")
		}
	}
}

func (r *row) format(b *bytes.Buffer, at place, indent string) {
	lines := 0
	r.each(at, func(name string, index int, items []item) {
		lines++
		gap := r.gap == gapEach || r.gap == gapFirst && lines == 1
		if gap && b.Len() > 0 && !bytes.HasSuffix(b.Bytes(), []byte("\n\n")) {
			b.WriteByte('\n')
		}
		b.WriteString(indent + cmp.Or(name, r.Name))
		if text := textOf(items); text != "" {
			b.WriteString(" " + text)
		}
		b.WriteByte('\n')
		below := at
		below.parent, below.outer = r.Name, index
		for i := range table.statements {
			if child := &table.statements[i]; child.stands(r.Name) && child.each != nil {
				child.format(b, below, indent+"  ")
			}
		}
	})
}

// formatBuild writes a released runtime's name as two words.
func formatBuild(name string) string {
	if version, released := strings.CutPrefix(name, engine.ReleasePrefix); released {
		return "duroxide " + quote(version)
	}
	return quote(name)
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
