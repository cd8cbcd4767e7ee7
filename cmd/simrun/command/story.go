package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/cluster"
)

// storyLine is one line of a run's story: either an event, or a violation at the place where it was found.
type storyLine struct {
	cluster.Line
	violation bool
}

// teller collects the story of one run.
type teller struct{ lines []storyLine }

func (t *teller) tell(l cluster.Line) { t.lines = append(t.lines, storyLine{Line: l}) }

// place puts violations into the story, after everything that happened in their steps.
func (t *teller) place(found []cluster.Violation) {
	for _, v := range found {
		at, _ := slices.BinarySearchFunc(t.lines, v.Step+1, func(l storyLine, step uint64) int { return cmp.Compare(l.Step, step) })
		t.lines = slices.Insert(t.lines, at, storyLine{
			Line:      cluster.Line{Ms: v.VirtualMs, Step: v.Step, Node: v.Node, Text: oneLine(propertyName(v.Property) + ": " + v.Message), Important: true},
			violation: true,
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
	case l.violation:
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
		if l.violation {
			a.printf("%11s  %s\n", pretty.Duration(l.Ms), a.style.bad(fmt.Sprintf("%-*s  >>> VIOLATED %s", width, l.Node, l.Text)))
			continue
		}
		a.printf("%11s  %-*s  %s\n", pretty.Duration(l.Ms), width, who(l), l.Text)
	}
}

func storyJSON(lines []storyLine) []storyLineJSON {
	out := make([]storyLineJSON, len(lines))
	for i, l := range lines {
		out[i] = storyLineJSON{VirtualMs: l.Ms, Step: l.Step, Node: l.Node, Build: l.Build, Text: l.Text, Important: l.Important, Violation: l.violation}
	}
	return out
}
