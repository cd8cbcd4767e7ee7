package command

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/durosim/durosim/internal/pretty"
)

// printTable prints a campaign's totals.
func (a *app) printTable(r *report) {
	sum := r.sum
	which := "seeds " + r.seeds.String()
	if r.shard != (shard{}) {
		which += fmt.Sprintf(", part %d of %d", r.shard.index, r.shard.of)
	}
	if sum.Seeds < sum.Total {
		which += fmt.Sprintf("; stopped early, of %s", grouped(sum.Total))
	}
	t := tabwriter.NewWriter(a.stdout, 0, 0, 3, ' ', 0)
	row := func(label, value, note string) {
		line := a.style.quiet(label) + "\t" + value
		if note != "" {
			line += "\t" + note
		}
		fmt.Fprintln(t, line)
	}
	row("scenario", r.subject.scenario.Name, strings.Join(r.subject.options(), " "))
	row("seeds", grouped(sum.Seeds), which)
	if r.second > 0 {
		row("second judge", fmt.Sprintf("%s of %s seeds", grouped(r.second), grouped(sum.Seeds)), "")
	}
	row("passed", grouped(sum.Passed), failedNote(sum.Seeds, sum.Seeds-sum.Passed))
	rate := func(n uint64, what string) string {
		if r.wall == 0 {
			return ""
		}
		return perSecond(n, r.wall) + what
	}
	row("steps", grouped(sum.Steps), rate(sum.Steps, " steps/s"))
	row("turns", grouped(sum.Turns), rate(sum.Turns, " turns/s"))
	row("virtual time", pretty.Duration(sum.VirtualMs), "")
	if r.wall > 0 {
		row("wall time", fmt.Sprintf("%.2fs", r.wall.Seconds()), rate(sum.Seeds, " seeds/s"))
	}
	row("coverage", fmt.Sprintf("%d reached", r.reached()), coverageNote(r.unreached))
	row("digest", sum.Digest.String(), "")
	flushTable(t)
	a.printf("\n%s\n%s\n", r.contract(), r.sum.Plan())
	if len(sum.Properties) > 0 {
		a.printf("\n")
		t = tabwriter.NewWriter(a.stdout, 0, 0, 3, ' ', 0)
		fmt.Fprintln(t, "violated\tclass\tseeds\tviolations\tfirst seed")
		for _, p := range sum.Properties {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\n", ruleName(p.First.Violation), p.Class, grouped(p.Seeds), grouped(p.Violations), p.FirstSeed)
		}
		flushTable(t)
	}
}

// printUnreached prints the coverage points that the campaign did not reach.
func (a *app) printUnreached(r *report) {
	if len(r.unreached) > 0 {
		a.printf("\nnot reached%s:\n%s", required(r.missed), columns(r.unreached, a.width))
	}
}

func failedNote(seeds, n uint64) string {
	if seeds == 0 {
		return "no run was finished"
	}
	if n == 0 {
		return "everything held"
	}
	return grouped(n) + " failed"
}

func coverageNote(unreached []string) string {
	if len(unreached) == 0 {
		return "nothing left out"
	}
	return fmt.Sprintf("%d not", len(unreached))
}

func required(missed []string) string {
	if len(missed) == 0 {
		return ", and not required of this campaign"
	}
	return ""
}

// flushTable flushes a table to the buffered output, which reports write errors at the end.
func flushTable(t *tabwriter.Writer) { _ = t.Flush() }

// columns wraps words into indented lines of at most width bytes.
func columns(words []string, width int) string {
	var b strings.Builder
	line := " "
	for i, w := range words {
		if i < len(words)-1 {
			w += ","
		}
		if len(line)+1+len(w) > width && line != " " {
			b.WriteString(line + "\n")
			line = " "
		}
		line += " " + w
	}
	return b.String() + line + "\n"
}
