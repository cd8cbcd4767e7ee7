package command

import (
	"fmt"
	"strings"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/cluster"
)

// blame determines which part of the run decides the violation. With released runtimes, it tries fewer variations
// because their runs are slow.
func (s *shrunk) blame() []durosim.Chance {
	draws := 20
	if len(s.small.Plan.Releases()) > 0 {
		draws = 4
	}
	return s.small.Blame(draws)
}

// nearestJSON describes the nearest run that does not violate the property. It lists the lines of the plan that the
// nearest run lacks or replaces, the number of story lines that the two runs share, and the first line at which each
// diverges.
type nearestJSON struct {
	Without []string `json:"without"`
	Instead []string `json:"instead"`
	Alike   int      `json:"lines_alike"`
	Fails   string   `json:"fails,omitempty"`
	Holds   string   `json:"holds,omitempty"`
}

// chanceJSON reports how many runs violate the property when all choices after a certain step are drawn afresh.
type chanceJSON struct {
	Step   uint64 `json:"step"`
	Failed int    `json:"failed"`
	Draws  int    `json:"draws"`
	Line   string `json:"line,omitempty"`
}

// lineText formats a line of a story, or returns "" for nil.
func lineText(l *cluster.Line) string {
	if l == nil {
		return ""
	}
	return fmt.Sprintf("%s  %s  %s", pretty.Duration(l.Ms), strings.TrimSpace(l.Node+" "+l.Build), l.Text)
}

// printNearest prints the nearest passing run and the point at which it diverges from the failing run.
func (a *app) printNearest(s *shrunk) {
	if n, ok := s.small.Nearest(); ok {
		a.printf("\n%s", n.Text())
	}
}

// printBlame prints which part of the run decides the violation.
func (a *app) printBlame(s *shrunk) {
	list := s.blame()
	first, last := list[0], list[len(list)-1]
	if first.Failed == first.Draws || len(list) == 1 {
		a.printf("\nWith new random choices from the start, %d of %d runs violate it: order and latencies matter little.\n", first.Failed, first.Draws)
		return
	}
	a.printf("\nHow many of %d runs violate it with new random choices after a step:\n", last.Draws)
	for i, c := range list {
		if i > 0 && i+1 < len(list) && c.Failed == list[i-1].Failed && c.Failed == list[i+1].Failed {
			continue // same result as at the steps before and after this one
		}
		what := lineText(c.Line)
		if c.Line == nil {
			what = "every choice is new"
		}
		a.printf("  %4d  step %-6d %s\n", c.Failed, c.Step, what)
	}
	if n, ok := s.small.NearestDraw(list); ok {
		a.printf("\n%s", n.Text())
	}
}
