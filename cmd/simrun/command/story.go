package command

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
)

// storyLine is one line of a run's story: either an event, or a violation at the place where it was found.
type storyLine struct {
	cluster.Line
	violation *campaign.Violation
}

// teller collects the story of one run.
type teller struct {
	seed  uint64
	lines []storyLine
}

func (t *teller) tell(l cluster.Line) { t.lines = append(t.lines, storyLine{Line: l}) }

// watch wraps a monitor so that each violation appears in the story at the place where it was found.
func (t *teller) watch(m cluster.Monitor) cluster.Monitor {
	return &marker{Monitor: m, teller: t}
}

// marker forwards everything to a monitor and adds the violations that the monitor finds to the story.
type marker struct {
	cluster.Monitor
	teller *teller
	seen   int
}

// WatchHandle implements cluster.HandleWatcher by forwarding to the monitor if it can. The second judge needs this to watch
// calls.
func (m *marker) WatchHandle(p engine.Provider, codec engine.Codec) engine.Provider {
	return cluster.WatchHandle(m.Monitor, p, codec)
}

// Fates implements cluster.FateTeller by forwarding to the monitor if it can.
func (m *marker) Fates() []cluster.Fate {
	if teller, ok := m.Monitor.(cluster.FateTeller); ok {
		return teller.Fates()
	}
	return nil
}

// Waits implements cluster.FateTeller by forwarding to the monitor if it can.
func (m *marker) Waits() []cluster.Wait {
	if teller, ok := m.Monitor.(cluster.FateTeller); ok {
		return teller.Waits()
	}
	return nil
}

// Observe implements observe.Sink.
func (m *marker) Observe(o *observe.Observation) {
	m.Monitor.Observe(o)
	m.mark()
}

// Record implements cluster.Monitor.
func (m *marker) Record(r *cluster.Record) {
	m.Monitor.Record(r)
	m.mark()
}

// AfterStep implements cluster.Monitor.
func (m *marker) AfterStep() {
	m.Monitor.AfterStep()
	m.mark()
}

// Finish implements cluster.Monitor.
func (m *marker) Finish() {
	m.Monitor.Finish()
	m.mark()
}

func (m *marker) mark() {
	found := m.Monitor.Violations()
	for ; m.seen < len(found); m.seen++ {
		v := campaign.Violation{Seed: m.teller.seed, Violation: found[m.seen]}
		m.teller.lines = append(m.teller.lines, storyLine{
			Line:      cluster.Line{Ms: v.VirtualMs, Step: v.Step, Node: v.Node, Text: oneLine(propertyName(v.Property) + ": " + v.Message), Important: true},
			violation: &v,
		})
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// aroundStep is the number of steps shown before and after the selected step.
const aroundStep = 20

// has reports whether the flags select a line.
func (s *storyFlags) has(l *storyLine) bool {
	at := time.Duration(l.Ms) * time.Millisecond
	switch {
	case s.Step != nil && (l.Step+aroundStep < *s.Step || l.Step > *s.Step+aroundStep):
		return false
	case at < s.From, s.To > 0 && at > s.To:
		return false
	case l.violation != nil:
		return true
	case s.Node != "" && l.Node != s.Node:
		return false
	case s.Instance != "" && !mentions(l.Text, s.Instance):
		return false
	}
	return l.Important || s.All || s.Instance != "" || s.Step != nil
}

// mentions reports whether text contains an instance ID as a whole word.
func mentions(text, instance string) bool {
	inName := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' }
	for rest := text; ; {
		i := strings.Index(rest, instance)
		if i < 0 {
			return false
		}
		before, after := rest[:i], rest[i+len(instance):]
		if strings.LastIndexFunc(before, inName) != len(before)-1 || before == "" {
			if strings.IndexFunc(after, inName) != 0 {
				return true
			}
		}
		rest = after
	}
}

// of returns the selected lines.
func (s *storyFlags) of(lines []storyLine) []storyLine {
	return slices.DeleteFunc(slices.Clone(lines), func(l storyLine) bool { return !s.has(&l) })
}

// printStory prints lines in three columns: the time, the actor and the event.
func (a *app) printStory(lines []storyLine) {
	who := func(l *storyLine) string {
		if l.Build == "" {
			return l.Node
		}
		return l.Node + " " + l.Build
	}
	width := len("who")
	for i := range lines {
		width = max(width, len(who(&lines[i])))
	}
	a.printf("%s\n", a.style.quiet(fmt.Sprintf("%11s  %-*s  what", "time", width, "who")))
	for i := range lines {
		l := &lines[i]
		if l.violation != nil {
			a.printf("%11s  %s\n", pretty.Duration(l.Ms), a.style.bad(fmt.Sprintf("%-*s  >>> VIOLATED %s", width, l.Node, l.Text)))
			continue
		}
		a.printf("%11s  %-*s  %s\n", pretty.Duration(l.Ms), width, who(l), l.Text)
	}
}

func storyJSON(lines []storyLine) []storyLineJSON {
	out := make([]storyLineJSON, len(lines))
	for i, l := range lines {
		out[i] = storyLineJSON{VirtualMs: l.Ms, Step: l.Step, Node: l.Node, Build: l.Build, Text: l.Text, Important: l.Important, Violation: l.violation != nil}
	}
	return out
}
