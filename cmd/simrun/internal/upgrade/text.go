package upgrade

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/timeline"
)

// The maximum number of entries of each kind in the text.
const (
	maxHazards = 12
	maxWaits   = 5
	maxOrders  = 5
	maxNames   = 4
)

// Text describes the blocked work in the store, the waits and their causes, and the rollback map. It does not include
// the verdicts on the whole plan, which the caller prints.
func (r *Report) Text() string {
	var b strings.Builder
	r.waits(&b)
	r.rollbackMap(&b)
	r.noReturn(&b)
	if len(r.Orders) > 0 {
		fmt.Fprintf(&b, "\norders of the steps, the best of %d first (sums over %d seeds each):\n\n", len(r.Orders), r.Orders[0].Seeds)
		t := r.OrderTable(maxOrders)
		b.WriteString(t.Text("  ", len(t.Head), 2))
	}
	if t := r.ActionTable(); len(t.Rows) > 0 {
		b.WriteString("\nwhat to do:\n")
		for _, row := range t.Rows {
			fmt.Fprintf(&b, "  %s\n", strings.Join(row.Cells, ": "))
		}
	}
	return b.String()
}

// Preflight describes the hazards, one per line, or says that there are none.
func (r *Report) Preflight() string {
	var b strings.Builder
	b.WriteString("\npreflight, by what the store holds:\n")
	lines := r.HazardTable().Rows
	if len(lines) == 0 {
		b.WriteString("  after each step, some node takes and reads each instance\n")
	}
	for i, l := range lines {
		if i == maxHazards {
			fmt.Fprintf(&b, "  ... more kinds: %d\n", len(lines)-i)
			break
		}
		mark := " "
		if l.Bad {
			mark = "!"
		}
		fmt.Fprintf(&b, "%s %s\n", mark, l.Cells[0])
	}
	return b.String()
}

// HazardTable describes the hazards. Those that are equal except for their instance share a line, which is bad if they are
// permanent or poison the instances.
func (r *Report) HazardTable() timeline.Table {
	t := timeline.Table{Title: "Stored work that the nodes cannot take", Open: true}
	for _, g := range grouped(r.Hazards) {
		t.Row(g[0].Poisoned || g[0].Until < 0, g[0].text(who(g)))
	}
	return t
}

// grouped groups the hazards that are equal except for their instance.
func grouped(all []Hazard) [][]Hazard {
	var groups [][]Hazard
	for _, h := range all {
		g := entry(&groups, func(g []Hazard) bool { return g[0].same(&h) }, nil)
		*g = append(*g, h)
	}
	return groups
}

func who(g []Hazard) string {
	var ids []string
	n := 0 // instances of the store
	for i := range g {
		ids = append(ids, g[i].Instance)
		n += g[i].Alike
	}
	return fmt.Sprintf("%s (pin %s)", names(ids, n), g[0].Pin)
}

// names lists the first of n instances.
func names(ids []string, n int) string {
	shown := slices.Clone(ids[:min(len(ids), maxNames)])
	if n > len(shown) {
		shown = append(shown, fmt.Sprintf("and %d more", n-len(shown)))
	}
	return strings.Join(shown, ", ")
}

func (r *Report) waits(b *strings.Builder) {
	if len(r.Waits) == 0 {
		return
	}
	b.WriteString("\nlongest waits for a build:\n")
	for i, w := range r.Waits {
		if i == maxWaits {
			fmt.Fprintf(b, "  ... shorter ones: %d\n", len(r.Waits)-i)
			break
		}
		lasted, after := "", ""
		if !w.Open {
			lasted = ", " + pretty.Duration(w.ForMs)
		}
		if w.After != "" {
			after = ", after " + w.After
		}
		fmt.Fprintf(b, "  %s (pin %s) from %s %s%s%s, seed %d\n", w.Instance, w.Pin, pretty.Duration(w.FromMs), w.Until(), lasted, after, w.Seed)
	}
}

// Work describes what the runs begin with: how the work in the store is expected to end, and whether more is to start.
func (r *Report) Work() string {
	var b strings.Builder
	for i := range r.Expected {
		b.WriteString("  " + r.Expected[i].String() + "\n")
	}
	if !r.Load {
		fmt.Fprintf(&b, "no load: only %s; what starts meanwhile is not modelled\n", r.only("what the store holds goes on", "the instances of the plan run"))
	}
	return b.String()
}

// String describes the count in one line.
func (e *Expected) String() string {
	how, example := cmp.Or(map[plan.End]string{
		plan.EndCompleted: "to complete", plan.EndEternal: "to go on until the plan is over", EndCancelled: "to complete or to fail", plan.EndAny: "to end in any way",
	}[e.End], "to end as "+e.End.Text()), ""
	if e.Why != "" {
		how, example = how+", "+e.Why, ", such as "+e.Example
	}
	return fmt.Sprintf("expected %s: %d%s", how, e.Count, example)
}

// only returns the text for a plan with a store, or that for a plan without one.
func (r *Report) only(stored, without string) string {
	if r.Store != nil {
		return stored
	}
	return without
}

// limit says of which work a plan without a load speaks.
func (r *Report) limit() string {
	return r.only("the work in the store", "the instances of the plan") + "; this plan has no load: what starts on the new build meanwhile is not modelled"
}

// Plan returns the verdict on the whole plan. Eternal work ends as expected when recovery cancels it, even if only
// rescue frees it for that.
func (r *Report) Plan() string {
	text := r.Whole.Plan()
	if n := r.End.Stranded.Total; n > 0 && r.Whole.Fate.Expected == r.Whole.Fate.Work {
		text += fmt.Sprintf("; but rescue had to free %s", instances(n))
	}
	return text
}

// Map returns the rollback map, or nil if there are no steps. It has one row for each number of steps taken. show, if
// not nil, adds to a cell what shows the run of its example.
func (r *Report) Map(show func(cell *timeline.Cell, variant string, c *Count)) *timeline.Map {
	if len(r.Stops) == 0 || len(r.Steps) == 0 {
		return nil
	}
	m := &timeline.Map{NoReturn: r.NoReturn, Summary: r.NoReturnText()}
	cell := func(weight int, variant string, c *Count) timeline.Cell {
		out := c.cell(weight)
		if out.Title != "" && show != nil {
			show(&out, variant, c)
		}
		return out
	}
	for k := range r.Stops {
		stop, stopped, backed := &r.Stops[k], fmt.Sprintf("stop-%d", k), fmt.Sprintf("back-%d", k)
		row := timeline.MapStep{Name: "0 as it is"}
		longest, back := (&Count{}).cell(0), &r.Backs[k]
		if k == 0 {
			back = &Effect{}
		} else {
			row.Name = fmt.Sprintf("%d %s", k, r.Steps[k-1].String())
		}
		if stop.Waited.Total > 0 {
			longest.Text = pretty.Duration(stop.LongestMs)
		}
		row.Stop = []timeline.Cell{cell(1, stopped, &stop.Waited), longest, cell(2, stopped, &stop.Stranded), cell(3, stopped, &stop.Lost)}
		row.Back = []timeline.Cell{cell(2, backed, &back.Stranded), cell(3, backed, &back.Untaken), cell(3, backed, &back.Lost)}
		m.Steps = append(m.Steps, row)
	}
	return m
}

func (c *Count) cell(weight int) timeline.Cell {
	if c.Total == 0 {
		return timeline.Cell{Text: "-"}
	}
	out := timeline.Cell{Text: c.String(), Weight: weight}
	if c.Example != "" {
		out.Title = fmt.Sprintf("%d in all seeds; %s: %s", c.Total, c.such(), c.Why)
	}
	return out
}

func (r *Report) rollbackMap(b *strings.Builder) {
	m := r.Map(nil)
	if m == nil {
		return
	}
	fmt.Fprintf(b, "\nrollback map: the most instances in one run of %d. Stranded work waits for a build that is not there; what no build\ntakes can only be deleted; lost is work that ended otherwise than the plan expects.\n\n", r.End.Seeds)
	t := timeline.Table{Head: []string{"", "stop here", "", "", "", "back from here"}}
	t.Row(false, "after", "waits", "longest", "stranded", "lost", "stranded", "no build takes", "lost")
	for _, s := range m.Steps {
		cells := []string{s.Name}
		for _, c := range append(s.Stop, s.Back...) {
			cells = append(cells, c.Text)
		}
		t.Row(false, cells...)
	}
	b.WriteString(t.Text("  ", len(t.Rows[0].Cells), 2))
}

func (r *Report) noReturn(b *strings.Builder) {
	if len(r.Steps) == 0 {
		return
	}
	if c := r.End.fresh.Lost; c.Total > 0 {
		fmt.Fprintf(b, "\n! the whole plan loses up to %s in a run, %s: %s\n", instances(c.Most), c.such(), c.Why)
	}
	if c := r.End.Stranded; c.Total > 0 {
		fmt.Fprintf(b, "\n! the whole plan strands up to %s in a run, %s\n", instances(c.Most), c.such())
	}
	if c := r.End.Open; c.Total > 0 {
		fmt.Fprintf(b, "\nup to %s still running at the end of a run, because nothing in this plan brings what it waits for; for example %s: %s\n", pretty.Plural(c.Most, "instance of the store is", "instances of the store are"), c.Example, c.Why)
	}
	fmt.Fprintf(b, "\n%s\n", r.NoReturnText())
}

// NoReturnText names the point of no return and describes the effect of rolling back from there.
func (r *Report) NoReturnText() string {
	limit, late := "", slices.IndexFunc(r.Steps, func(s plan.Step) bool { return s.At.Milliseconds() > r.LastMs })+1
	switch {
	case !r.Load:
		limit = "That is for " + r.limit() + "."
	case late > 0 && (r.NoReturn == 0 || late < r.NoReturn):
		limit = fmt.Sprintf("The last work starts before step %d, %s: under a longer load a way back from there can leave more behind.", late, r.Steps[late-1].String())
	}
	var b strings.Builder
	switch {
	case r.NoReturn > 0:
		s := r.Steps[r.NoReturn-1]
		fmt.Fprintf(&b, "point of no return: step %d, %s at %v", r.NoReturn, s.String(), s.At)
		if r.Drawn {
			b.WriteString(" in the first seed")
		}
		if b.WriteString("."); r.NoReturn > 1 && r.Barred == "" {
			fmt.Fprintf(&b, "\n  That is in %s; more seeds can show an earlier step.", pretty.Plural(r.End.Seeds, "seed", "seeds"))
		}
	case !r.Tried():
		return fmt.Sprintf("the point of no return is not known: interrupted when %d of %d steps were tried", max(len(r.Stops)-1, 0), len(r.Steps))
	case len(r.Stops[0].left) > 0:
		fmt.Fprintf(&b, "no point of no return in %s: rolling back strands and loses nothing but what is stranded or lost before any step.", pretty.Plural(r.End.Seeds, "seed", "seeds"))
	default:
		return strings.TrimSpace(fmt.Sprintf("no point of no return in %s: rolling back strands and loses nothing, from any step. %s", pretty.Plural(r.End.Seeds, "seed", "seeds"), limit))
	}
	e := &r.Backs[r.NoReturn].fresh
	if r.Barred != "" {
		fmt.Fprintf(&b, "\n  There is no rolling back from there: %s. The way out is a node of the new build.", r.Barred)
	}
	if c := e.Stranded; c.Total > 0 {
		fmt.Fprintf(&b, "\n  Rolling back from there strands %s, until a node admits that pin again.", c.upTo())
		if c := e.Untaken; c.Total > 0 {
			fmt.Fprintf(&b, "\n  No build of the plan takes up to %d of them, %s: %s.", c.Most, c.such(), c.Why)
		}
		if c.Total > e.Untaken.Total && r.Barred == "" {
			b.WriteString("\n  The way out is a node of the pinned build, or of a newer one, whose range holds the pin; never an older one with a wider range.")
		}
	}
	if c := e.Lost; c.Total > 0 {
		fmt.Fprintf(&b, "\n  Rolling back from there loses %s: %s.", c.upTo(), c.Why)
	}
	if r.Kept > 0 {
		fmt.Fprintf(&b, "\n  Rolling back no further than to %s strands and loses nothing.", r.keptText())
	}
	if s := r.Sooner; s != nil {
		c, what := s.Back.fresh.worst()
		fmt.Fprintf(&b, "\n  It is time that leads there: %s after step %d, %s, the way back %s up to %s, too, such as %s (pin %s, back-%d+%s, seed %d).", pretty.Duration(s.StayMs), s.Step, r.Steps[s.Step-1].String(), what, instances(c.Most), c.Example, c.Pin, s.Step, pretty.Duration(s.StayMs), c.ExampleSeed)
	}
	before := func(c Count, what string) {
		if c.Total > 0 {
			fmt.Fprintf(&b, "\n  Before any step, up to %s already %s, %s; no step is to blame for that, and it is not counted here.", pretty.Plural(c.Most, "instance is", "instances are"), what, c.such())
		}
	}
	before(r.Stops[0].Stranded, "stranded")
	before(r.Stops[0].Lost, "lost")
	if limit != "" {
		b.WriteString("\n  " + limit)
	}
	return b.String()
}

// keptText names the step before the point of no return, and the steps from which the way back to it was found to hold.
func (r *Report) keptText() string {
	text := fmt.Sprintf("%d %s", r.NoReturn-1, r.Steps[r.NoReturn-2].String())
	if r.Kept < len(r.Steps) {
		text += fmt.Sprintf(", and that only until %d %s,", r.Kept, r.Steps[r.Kept-1].String())
	}
	return text
}

func instances(n uint64) string { return pretty.Plural(n, "instance", "instances") }

// OrderTable returns the table of the step orders: the best, the worst and the plan's own.
func (r *Report) OrderTable(best int) timeline.Table {
	t := timeline.Table{Title: "Orders of the steps, the best first", Head: []string{"place", "lost", "stranded", "waits", "waited", "longest", "variant", "order"}}
	left := false
	for i, o := range r.Orders {
		own := slices.IsSorted(o.Steps)
		if i >= best && !own && i != len(r.Orders)-1 {
			if !left {
				t.Row(false, slices.Repeat([]string{"..."}, len(t.Head))...)
			}
			left = true
			continue
		}
		left = false
		text := o.Text
		if own {
			text += " (the plan's own)"
		}
		t.Row(o.Lost.Total+o.Stranded.Total > 0, fmt.Sprint(i+1), fmt.Sprint(o.Lost.Total), fmt.Sprint(o.Stranded.Total), fmt.Sprint(o.Waited.Total),
			pretty.Duration(o.WaitedMs), pretty.Duration(o.LongestMs), o.Variant(), text)
	}
	return t
}

// Holds reports whether the plan satisfies the contract without losing or stranding work.
func (r *Report) Holds() bool {
	return r.End.Lost.Total == 0 && r.End.Stranded.Total == 0 && len(r.End.Violated) == 0
}
