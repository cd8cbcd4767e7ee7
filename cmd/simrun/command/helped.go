package command

import (
	"fmt"
	"strings"

	"github.com/durosim/durosim/sim/cluster"
)

// helpShown is the maximum number of names in a line about help.
const helpShown = 5

// helpLines describes the help that calm and relief gave beyond the plan. Help of the same kind with the same event or
// build shares a line.
func helpLines(all []cluster.Help) []string {
	type line struct {
		head, text string
		names      []string
	}
	var lines []*line
	for _, h := range all {
		head, text := fmt.Sprintf("%s %s", h.Phase, helpVerb(h.Kind)), ""
		switch h.Kind {
		case cluster.HelpRaise, cluster.HelpEnqueue:
			text = fmt.Sprintf(" %q for", h.Text)
		case cluster.HelpBuild:
			text = fmt.Sprintf(" %s:", h.Text)
		}
		var l *line
		for _, have := range lines {
			if have.head == head && have.text == text {
				l = have
			}
		}
		if l == nil {
			l = &line{head: head, text: text}
			lines = append(lines, l)
		}
		if len(l.names) == 0 || l.names[len(l.names)-1] != h.Name {
			l.names = append(l.names, h.Name)
		}
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		shown := l.names
		more := ""
		if len(shown) > helpShown {
			shown, more = shown[:helpShown], fmt.Sprintf(" and %d more", len(l.names)-helpShown)
		}
		out[i] = l.head + l.text + " " + strings.Join(shown, ", ") + more
	}
	return out
}

func helpVerb(k cluster.HelpKind) string {
	switch k {
	case cluster.HelpRaise:
		return "raised"
	case cluster.HelpEnqueue:
		return "enqueued"
	case cluster.HelpCancel:
		return "cancelled"
	case cluster.HelpStart:
		return "started"
	case cluster.HelpBuild:
		return "started a node as build"
	case cluster.HelpRange:
		return "gave the range of its build to"
	case cluster.HelpDelete:
		return "deleted"
	}
	return "widened"
}
