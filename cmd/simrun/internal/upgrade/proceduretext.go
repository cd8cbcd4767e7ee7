package upgrade

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/timeline"
)

// Text returns the table of the procedures, the instances and seeds behind its numbers, and the sentence.
func (out *Procedures) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "to %s: %s\n", out.To, strings.Join(out.Nodes, ", "))
	list := func(what string, steps []string) {
		if len(steps) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", what, names(steps, len(steps)))
		}
	}
	list("first, in all of them", out.Before)
	list("in none of them", out.LeftOut)
	fmt.Fprintf(&b, "\nthe most in one run of %d (\"in all\": its waits added up); what waits includes starts that are held back, and what\nis in flight while no node is up:\n\n", out.Seeds)
	t := out.Table()
	b.WriteString(t.Text("  ", len(t.Head), 2))
	for i := range out.Rows {
		row := &out.Rows[i]
		fmt.Fprintf(&b, "\n%s: ", row.Name)
		if row.Lacks != "" {
			fmt.Fprintf(&b, "not tried: %s\n", row.Lacks)
			continue
		}
		fmt.Fprint(&b, row.schedule())
		if row.varies {
			fmt.Fprintf(&b, "; the times are of seed %d, and differ by seed", out.First)
		}
		b.WriteString("\n")
		for _, line := range row.behind() {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	var later []string
	for _, row := range out.Rows {
		if n := len(row.Steps); n > 0 && row.Steps[n-1].AtMs > out.LastMs {
			later = append(later, row.Name)
		}
	}
	if len(later) > 0 {
		fmt.Fprintf(&b, "\nsteps after %s, when nothing starts any more: %s; under a longer load a way back from there leaves more behind\n", pretty.Duration(out.LastMs), strings.Join(later, ", "))
	}
	return b.String() + "\n" + out.Sentence + "\n"
}

// Table returns the table of the procedures.
func (out *Procedures) Table() timeline.Table {
	t := timeline.Table{Title: "Procedures", Open: true, Head: []string{"", "procedure", "violated", "lost", "stranded", "no build takes", "waits", "longest", "in all", "no way back from", "takes", "in flight ends"}}
	cells := func(e *Effect) []string {
		violated := "-"
		if len(e.Violated) > 0 {
			violated = strings.Join(e.Violated, " ")
		}
		return []string{violated, e.Lost.String(), e.Stranded.String(), e.Untaken.String(), e.Waited.String(), span(e.LongestMs), span(e.MostWaitedMs)}
	}
	t.Row(false, append(append([]string{"", "no step"}, cells(&out.Stay)...), "", "", "")...)
	for i := range out.Rows {
		row := &out.Rows[i]
		if row.Lacks != "" {
			t.Row(false, "", row.Name, "not tried")
			continue
		}
		back, ends := "-", span(row.Took.LongestMs)
		if n := row.NoReturn.Step; n > 0 {
			back = fmt.Sprintf("step %d of %d", n, len(row.Steps))
		}
		if row.Took.Left > 0 {
			ends = "never"
		}
		t.Row(row.Lost.Total+row.Stranded.Total > 0, append(append([]string{fmt.Sprint(i + 1), row.Name}, cells(&row.Effect)...), back, pretty.Duration(row.TakesMs), ends)...)
	}
	if len(out.Rows) > 0 {
		t.Rows[1].Best = true
	}
	return t
}

func span(ms int64) string {
	if ms == 0 {
		return "-"
	}
	return pretty.Duration(ms)
}

func (row *Procedure) schedule() string {
	var words []string
	for i, s := range row.Steps {
		if i > 0 && s.AtMs == row.Steps[i-1].AtMs {
			words = append(words, s.Step)
			continue
		}
		words = append(words, fmt.Sprintf("at %s %s", pretty.Duration(s.AtMs), s.Step))
	}
	return strings.Join(words, ", ")
}

func (row *Procedure) behind() (lines []string) {
	add := func(what string, c *Count, why string) {
		if c.Total > 0 {
			lines = append(lines, fmt.Sprintf("%s %s in %d of %s, such as %s (pin %s, seed %d)%s", what, instances(c.Total), c.Seeds, pretty.Plural(row.Seeds, "seed", "seeds"), c.Example, c.Pin, c.ExampleSeed, why))
		}
	}
	add("loses", &row.Lost, ": "+row.Lost.Why)
	add("strands", &row.Stranded, "")
	add("no build takes", &row.Untaken, ": "+row.Untaken.Why)
	add("lets wait", &row.Waited, ": "+row.Waited.Why)
	if n := &row.NoReturn; n.Step > 0 {
		at := fmt.Sprintf("back from step %d, %s,", n.Step, row.Steps[n.Step-1].Step)
		if n.Barred != "" {
			lines = append(lines, at+" there is no way: "+n.Barred)
		}
		add(at+" loses", &n.Back.fresh.Lost, ": "+n.Back.fresh.Lost.Why)
		add(at+" strands", &n.Back.fresh.Stranded, "")
	}
	t, parts := &row.Took, []string{}
	if t.Left > 0 {
		parts = append(parts, instances(t.Left)+" did not end")
	}
	if t.LongestMs > 0 {
		parts = append(parts, fmt.Sprintf("%s ended last, after %s, seed %d", t.Example, pretty.Duration(t.LongestMs), t.ExampleSeed))
	}
	if len(parts) > 0 {
		lines = append(lines, "of what was in flight, "+strings.Join(parts, "; of the rest, "))
	}
	return lines
}

// does says what the best procedure comes to.
func (row *Procedure) does() string {
	parts := []string{}
	if len(row.Violated) > 0 {
		parts = append(parts, "violates "+strings.Join(row.Violated, " "))
	}
	switch {
	case row.Lost.Total+row.Stranded.Total == 0:
		parts = append(parts, "loses and strands nothing")
	case row.Lost.Total > 0:
		parts = append(parts, "loses "+instances(row.Lost.Total))
	}
	if row.Stranded.Total > 0 {
		parts = append(parts, "strands "+instances(row.Stranded.Total))
	}
	wait := "lets no work wait"
	if row.MostWaitedMs > 0 {
		wait = "lets work wait for up to " + pretty.Duration(row.MostWaitedMs) + " in all"
	}
	if parts = append(parts, wait); row.TriedMs != 0 {
		parts = append(parts, row.wayBack())
	}
	return pretty.And(parts)
}

func (row *Procedure) wayBack() string {
	n, late := row.NoReturn.Step, ""
	if i := cmp.Or(n, len(row.Steps)+1) - 2; i >= 0 && row.Steps[i].AtMs > row.lastMs {
		late = " (the later ones tried only when nothing starts any more: under a longer load that leaves more behind)"
	}
	switch {
	case n == 0:
		return "can be taken back from each step" + late
	case row.TriedMs == 0:
		return "leaves no way back once a new build runs"
	default:
		return fmt.Sprintf("can be taken back before step %d%s, when a new build has run for %s", n, late, pretty.Duration(row.TriedMs))
	}
}

// against says how a procedure is worse than the best.
func (row *Procedure) against(best *Procedure) string {
	var parts []string
	if len(row.Violated) > len(best.Violated) {
		parts = append(parts, "violates "+strings.Join(row.Violated, " "))
	}
	more := func(what string, a, b *Count) {
		if a.Total > b.Total {
			parts = append(parts, fmt.Sprintf("%s %s (%s, seed %d)", what, instances(a.Total), a.Example, a.ExampleSeed))
		}
	}
	more("loses", &row.Lost, &best.Lost)
	more("strands", &row.Stranded, &best.Stranded)
	if row.MostWaitedMs > best.MostWaitedMs+best.MostWaitedMs/10 {
		parts = append(parts, "lets work wait for up to "+pretty.Duration(row.MostWaitedMs)+" in all")
	}
	if uint64(row.TriedMs) < uint64(best.TriedMs) {
		parts = append(parts, row.wayBack())
	}
	if row.Took.Left+best.Took.Left == 0 && row.Took.LongestMs > best.Took.LongestMs+best.Took.LongestMs/10 {
		parts = append(parts, fmt.Sprintf("ends what was in flight after %s instead of %s", pretty.Duration(row.Took.LongestMs), pretty.Duration(best.Took.LongestMs)))
	}
	if len(parts) == 0 {
		return "comes to about the same"
	}
	return pretty.And(parts)
}
