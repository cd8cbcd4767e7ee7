package durosim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// Nearest describes a run that does not show the violation and is as close to a shrunk run as possible: its plan
// differs in one element, if such a plan exists, and the two runs stay equal for as long as possible.
type Nearest struct {
	// Without lists the lines of the shrunk plan that the other plan lacks. Instead lists the lines that only the other
	// plan has.
	Without, Instead []string
	// Chance reports whether the other plan violates the property with other random choices, so that its difference may
	// only shift them.
	Chance bool
	// Same is the number of leading lines that both stories share. Last is the last of them, or nil if there are none.
	Same int
	Last *cluster.Line
	// Fails and Holds are the next lines of the failing run and of the other run. Each is nil if its run ends at that
	// point.
	Fails, Holds *cluster.Line
}

// Nearest tries at most nearestTried plans, each with at most nearestDraws other random choices.
const nearestTried, nearestDraws = 40, 20

// Nearest returns the nearest run that does not violate the property, if possible one whose plan holds with 20 other
// random choices, too. It reports false if the search for the smallest plan never came across a run that holds.
func (s *Shrunk) Nearest() (*Nearest, bool) {
	type candidate struct {
		nearest Nearest
		run     Concrete
	}
	own, plan := strings.Split(s.Text(), "\n"), string(scenario.Format(s.Plan))
	var all []candidate
	for _, c := range s.Near {
		if p := c.Plan; len(p.Instances)+len(p.Histories)+len(p.Probes) == 0 {
			continue // a plan without work satisfies every property
		}
		other := strings.Split(c.Text(), "\n")
		n := Nearest{Without: missing(own, other), Instead: missing(other, own)}
		if len(n.Without) > 0 {
			all = append(all, candidate{n, c})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return len(a.nearest.Without) + len(a.nearest.Instead) - len(b.nearest.Without) - len(b.nearest.Instead)
	})
	var best *Nearest
	story := s.options.story(s.Concrete)
	for _, c := range all[:min(len(all), nearestTried)] {
		n := c.nearest
		farther := best != nil && len(n.Without)+len(n.Instead) > len(best.Without)+len(best.Instead)
		if farther && !best.Chance {
			break
		}
		other, holds := s.options.tell(c.run)
		if !holds {
			continue // it fails in another way, for another cause
		}
		n.compare(story, other)
		if string(scenario.Format(c.run.Plan)) != plan { // else a choice is what differs
			n.Chance = s.options.failsByChance(c.run)
		}
		if best == nil || best.Chance && !n.Chance || best.Chance == n.Chance && !farther && n.Same > best.Same {
			best = &n
		}
	}
	return best, best != nil
}

// Text describes the run for human readers: what its plan lacks, what it has instead, and where the two runs diverge.
// The text ends with a newline.
func (n *Nearest) Text() string {
	var b strings.Builder
	if len(n.Without) > 0 {
		fmt.Fprintf(&b, "The nearest plan that holds is without\n    %s\n", strings.Join(n.Without, "\n    "))
	} else {
		b.WriteString("The nearest of these runs that holds:\n")
	}
	if len(n.Instead) > 0 {
		fmt.Fprintf(&b, "  and has instead\n    %s\n", strings.Join(n.Instead, "\n    "))
	}
	if n.Chance {
		b.WriteString("  It, too, violates the rule with other random choices: the difference may only shift them.\n")
	}
	if n.Last == nil {
		b.WriteString("  The two runs differ from the start:\n")
	} else {
		fmt.Fprintf(&b, "  Both runs are alike up to\n    %s\n  and then\n", lineText(n.Last))
	}
	fmt.Fprintf(&b, "    fails  %s\n    holds  %s\n", lineText(n.Fails), lineText(n.Holds))
	return b.String()
}

func lineText(l *cluster.Line) string {
	if l == nil {
		return "nothing more happens"
	}
	return fmt.Sprintf("%s  %s  %s", pretty.Duration(l.Ms), strings.TrimSpace(l.Node+" "+l.Build), l.Text)
}

// missing returns the lines of one text that are not in the other, omitting headings.
func missing(of, in []string) []string {
	left := slices.Clone(in)
	var list []string
	for _, line := range of {
		if i := slices.Index(left, line); i >= 0 {
			left = slices.Delete(left, i, i+1)
		} else if text := strings.TrimSpace(line); text != "" && !strings.HasSuffix(text, ":") {
			list = append(list, text)
		}
	}
	return list
}

// compare finds the line at which two stories diverge.
func (n *Nearest) compare(fails, holds []cluster.Line) {
	for n.Same < min(len(fails), len(holds)) && alike(fails[n.Same], holds[n.Same]) {
		n.Same++
	}
	if n.Same > 0 {
		n.Last = &fails[n.Same-1]
	}
	if n.Same < len(fails) {
		n.Fails = &fails[n.Same]
	}
	if n.Same < len(holds) {
		n.Holds = &holds[n.Same]
	}
}

func alike(a, b cluster.Line) bool {
	return a.At == b.At && a.Node == b.Node && a.Build == b.Build && a.Text == b.Text
}

func (o *ShrinkOptions) story(c Concrete) []cluster.Line {
	lines, _ := o.tell(c)
	return lines
}

// tell returns the story of a run, and whether the property holds in it, whatever the end and the cause.
func (o *ShrinkOptions) tell(c Concrete) (lines []cluster.Line, holds bool) {
	cfg := o.config(c, sim.Replay(c.Choices))
	cfg.Narrator = func(l cluster.Line) { lines = append(lines, l) }
	r, err := cluster.Run(cfg)
	if err != nil {
		return nil, false // cannot happen: the same plan has already run, without a narrator
	}
	return lines, !o.violated(r)
}

// failsByChance reports whether a plan whose run holds violates the property with other random choices.
func (o *ShrinkOptions) failsByChance(c Concrete) bool {
	for seed := range uint64(nearestDraws) {
		cfg := o.config(c, nil)
		redraw(&cfg, sim.Replay(c.Choices), 0, seed+1)
		if r, err := cluster.Run(cfg); err == nil && o.violated(r) {
			return true
		}
	}
	return false
}

// violated reports whether a run violates the property, whatever the end and the cause.
func (o *ShrinkOptions) violated(r *cluster.Result) bool {
	return slices.ContainsFunc(r.Violations, func(v cluster.Violation) bool {
		return v.Property == o.Property && (o.Expectation == "" || v.Expectation == o.Expectation)
	})
}
