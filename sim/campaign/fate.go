package campaign

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// Fate describes how a campaign's work ended.
type Fate struct {
	// Work counts the instances in all plans. Expected counts those that ended as their plans expect.
	Work     uint64 `json:"work"`
	Expected uint64 `json:"as_expected"`
	// Known counts those that did not, and whose violations are ignored.
	Known uint64 `json:"known,omitempty"`
	// Early counts the runs that ended before their work could be judged.
	Early uint64 `json:"ended_early,omitempty"`
	// Ends groups the instances by their end and its cause. Unexpected ends come first; within the unexpected and the
	// expected ends, larger groups come first.
	Ends []End `json:"ends"`
	// Stored groups the plan's stored histories in the same way. They are not judged, so they are no part of Work;
	// unexpected are those that were poisoned, or waited for a build until rescue or the end.
	Stored []End `json:"stored,omitempty"`
	// Helped counts the instances that received help beyond the plan from recovery or rescue. Help lists all such help,
	// in seed order.
	Helped uint64      `json:"helped"`
	Help   []HelpGroup `json:"help"`
	// Waits groups the waits for a build by the schedule step before them. The group with the longest wait comes first.
	Waits []WaitGroup `json:"waits"`
	// Remarks groups what authors should know of the work, in the order of kinds; the largest group of a kind comes
	// first.
	Remarks []RemarkGroup `json:"remarks,omitempty"`
}

// RemarkGroup groups remarks about the same. The remark itself is the first, of the run of Seed.
type RemarkGroup struct {
	Count uint64 `json:"count"`
	Seed  uint64 `json:"seed,string"`
	cluster.Remark
}

// First says where the first remark of the group is from.
func (g *RemarkGroup) First() string {
	where := fmt.Sprintf("seed %d%s", g.Seed, g.Detail)
	if g.Instance != "" {
		where = g.Instance + ", " + where
	}
	return where
}

var remarkTitles = []struct {
	kind  cluster.RemarkKind
	title string
}{
	{cluster.RemarkChild, "children that ended otherwise than their code said"},
	{cluster.RemarkUntaken, "messages that nobody took"},
	{cluster.RemarkOperator, "deletes and prunes that the store refused"},
	{cluster.RemarkGrowth, "what grows"},
	{cluster.RemarkWithdrawn, "work that never runs, since the code ends as soon as it is scheduled"},
	{cluster.RemarkStart, "independent starts that were dropped, since their id was taken"},
	{cluster.RemarkActivation, "activations that never took place"},
	{cluster.RemarkRefused, "nodes that did not start"},
}

// End groups the instances that share an end and its cause.
type End struct {
	End        cluster.Ending `json:"end"`
	Cause      string         `json:"cause"` // that of the first; others are alike (Fate.Alike)
	AsExpected bool           `json:"as_expected"`
	Known      bool           `json:"known,omitempty"`
	Expect     plan.End       `json:"expected"` // the end that the plan expected, if it was a different one
	Owes       string         `json:"owes"`     // help that these instances received from recovery and rescue
	Count      uint64         `json:"count"`
	// Instances lists up to maxMet of the group's instances, in seed order. Instances that completed as expected are
	// listed only if Options.AllInstances is set.
	Instances []Met `json:"instances"`

	alike string // the cause without what differs between instances
}

// Met is an instance in one run.
type Met struct {
	Seed     uint64 `json:"seed,string"`
	Instance string `json:"instance"`
	Cause    string `json:"cause,omitempty"` // if it is not that of the End
	cluster.Place
}

// WaitGroup totals the waits that began after the same schedule step. P99Ms and MaxMs are of those that Ended counts: the
// others are open.
type WaitGroup struct {
	Count uint64 `json:"count"`
	Ended uint64 `json:"ended"`
	P99Ms int64  `json:"p99_ms"`
	MaxMs int64  `json:"max_ms"`
	// Wait is the longest wait of the group, an open one if there is any. It occurred in the run of Seed.
	cluster.Wait
	Seed uint64 `json:"seed,string"`

	all []int64
}

// Longest describes the longest wait.
func (g *WaitGroup) Longest() string {
	open := ""
	if g.Open {
		open = " " + g.Until()
	}
	return fmt.Sprintf("%s (pin %s) from %s%s, seed %d", g.Instance, g.Pin, pretty.Duration(g.FromMs), open, g.Seed)
}

// maxMet is the maximum number of instances listed for one End.
const maxMet = 10_000

// fates adds the fates of the instances in seed's run.
func (m *merge) fates(seed uint64, r *cluster.Result) {
	f := &m.sum.Fate
	if r.Early {
		f.Early++
	}
	for i := range r.Fates {
		one := &r.Fates[i]
		f.Work++
		if one.AsExpected {
			f.Expected++
		}
		if one.Known {
			f.Known++
		}
		if one.Owes != "" && (one.Expect != plan.EndEternal || one.Rescued) { // the plan itself requires that eternal work be cancelled
			f.Helped++
		}
		expect := plan.End("")
		if !one.AsExpected {
			expect = cmp.Or(one.Expect, plan.EndCompleted)
		}
		m.end(&f.Ends, seed, one, expect)
	}
	for i := range r.Stored {
		m.end(&f.Stored, seed, &r.Stored[i], "")
	}
	m.help(seed, r)
	for _, one := range r.Remarks {
		same := func(g *RemarkGroup) bool { return g.Kind == one.Kind && g.About == one.About }
		group(&f.Remarks, same, RemarkGroup{Seed: seed, Remark: one}).Count++
	}
	for _, w := range r.Waits {
		g := group(&f.Waits, func(g *WaitGroup) bool { return g.After == w.After }, WaitGroup{Wait: w, Seed: seed})
		if g.Count++; !w.Open {
			g.all = append(g.all, w.ForMs)
		}
		if w.Compare(&g.Wait) > 0 {
			g.Wait, g.Seed = w, seed
		}
	}
}

// markKnown marks the fates with known violations, and those that are alike and have none: a run keeps a few of each cause.
func markKnown(r *cluster.Result, known []cluster.Violation) {
	in := func(list []cluster.Violation, of *cluster.Fate) bool {
		return slices.ContainsFunc(list, func(v cluster.Violation) bool { return v.Property == ofEnds && v.Instance == of.Instance })
	}
	for i := range r.Fates {
		one := &r.Fates[i]
		if len(known) == 0 || one.AsExpected {
			continue
		}
		like := func(list []cluster.Violation) bool {
			return in(list, one) || slices.ContainsFunc(r.Fates, func(f cluster.Fate) bool {
				return in(list, &f) && f.End == one.End && f.Expect == one.Expect && f.Alike() == one.Alike()
			})
		}
		one.Known = in(known, one) || like(known) && !like(r.Violations)
	}
}

// end adds the fate of an instance to its group.
func (m *merge) end(ends *[]End, seed uint64, one *cluster.Fate, expect plan.End) {
	cause := one.Alike()
	e := group(ends, func(e *End) bool {
		return e.End == one.End && e.alike == cause && e.AsExpected == one.AsExpected && e.Known == one.Known && e.Expect == expect && e.Owes == one.Owes
	}, End{End: one.End, Cause: one.Cause, AsExpected: one.AsExpected, Known: one.Known, Expect: expect, Owes: one.Owes, Instances: []Met{}, alike: cause})
	e.Count++
	if (!one.AsExpected || one.End != cluster.EndedCompleted || m.o.AllInstances) && len(e.Instances) < maxMet {
		met := Met{Seed: seed, Instance: one.Instance, Place: one.Place}
		if one.Cause != e.Cause {
			met.Cause = one.Cause
		}
		e.Instances = append(e.Instances, met)
	}
}

// group returns the element of a list that is the same, adding one if there is none.
func group[T any](list *[]T, same func(*T) bool, one T) *T {
	for i := range *list {
		if same(&(*list)[i]) {
			return &(*list)[i]
		}
	}
	*list = append(*list, one)
	return &(*list)[len(*list)-1]
}

// finish sorts the ends and the waits, and computes the figures for each wait group.
func (f *Fate) finish() {
	for _, ends := range [][]End{f.Ends, f.Stored} {
		slices.SortStableFunc(ends, func(a, b End) int {
			return cmp.Or(last(a.AsExpected, b.AsExpected), last(a.Known, b.Known), cmp.Compare(b.Count, a.Count), strings.Compare(string(a.End), string(b.End)), strings.Compare(a.Cause, b.Cause))
		})
	}
	slices.SortStableFunc(f.Remarks, func(a, b RemarkGroup) int { return cmp.Compare(b.Count, a.Count) })
	for i := range f.Waits {
		g := &f.Waits[i]
		slices.Sort(g.all)
		if g.Ended = uint64(len(g.all)); g.Ended > 0 {
			g.MaxMs, g.P99Ms = g.all[len(g.all)-1], g.all[(len(g.all)*99+99)/100-1]
		}
		g.all = nil
	}
	slices.SortStableFunc(f.Waits, func(a, b WaitGroup) int {
		return cmp.Or(b.Compare(&a.Wait), strings.Compare(a.After, b.After))
	})
}

// lost returns the instance of the first violation, or else the first instance that did not end as expected, which is
// not known, and how it ended, with its own cause.
func lost(ends []End, first *Violation) (m Met, e End, ok bool) {
	for _, end := range ends {
		if end.AsExpected || end.Known {
			continue
		}
		for _, met := range end.Instances {
			own := end
			own.Cause = cmp.Or(met.Cause, end.Cause)
			if met.Seed == first.Seed && met.Instance == first.Instance {
				return met, own, true
			}
			if !ok || met.Seed < m.Seed {
				m, e, ok = met, own, true
			}
		}
	}
	return m, e, ok
}

// verdict says in one sentence whether the work ended as the plan expects. first is the violation that is told of its
// ends, if there is one.
func (f *Fate) verdict(first *Violation) string {
	m, e, lost := lost(f.Ends, first)
	switch {
	case f.Work == 0:
		return "plan: nothing to judge, since it starts no instances"
	case !lost && f.Known > 0:
		return fmt.Sprintf("plan: %d of %s did not end as expected, all of which are known", f.Known, pieces(f.Work))
	case !lost:
		helped := ""
		if f.Helped > 0 {
			helped = fmt.Sprintf(", %d of them with help beyond the plan", f.Helped)
		}
		return fmt.Sprintf("plan: all %s ended as expected%s", pieces(f.Work), helped)
	}
	wanted := " instead of " + e.Expect.Text()
	switch {
	case string(e.End) != e.Expect.Text():
	case e.Cause == "":
		wanted += " by itself"
	default:
		wanted = "" // the cause says what is wrong
	}
	known := ""
	if f.Known > 0 {
		known = fmt.Sprintf(", and %d more that are known", f.Known)
	}
	return fmt.Sprintf("plan: %d of %s did not end as expected%s; the first is %s%s", f.Work-f.Expected-f.Known, pieces(f.Work), known, e.first(m), wanted)
}

// stranded says which stored histories were poisoned, or waited for a build for ever, as the end of a verdict.
func (f *Fate) stranded() string {
	m, e, any := lost(f.Stored, &Violation{})
	if !any {
		return ""
	}
	n := uint64(0)
	for i := range f.Stored {
		if !f.Stored[i].AsExpected {
			n += f.Stored[i].Count
		}
	}
	return fmt.Sprintf("; not judged, and stranded or poisoned: %s; the first is %s", pretty.Plural(n, "stored history", "stored histories"), e.first(m))
}

func pieces(n uint64) string {
	if n == 1 {
		return "1 piece of work"
	}
	return fmt.Sprintf("%d pieces of work", n)
}

func (e *End) text() string {
	if e.Cause == "" {
		return string(e.End)
	}
	return string(e.End) + ", " + e.Cause
}

// first names an instance of the End, and says how it ended.
func (e *End) first(m Met) string {
	return fmt.Sprintf("%s in seed %d: %s%s", m.Instance, m.Seed, e.text(), e.owes())
}

func (e *End) owes() string {
	if e.Owes == "" {
		return ""
	}
	return " [" + e.Owes + "]"
}

// Limits on what Text shows unless all is set: groups of expected ends, instances of an end, and steps with waits after
// them.
const (
	maxEnds  = 6
	maxNamed = 3
	maxSteps = 3
)

// Text describes how the work ended, line by line: first the ends with their causes, then the waits for a build. If all
// is set, it lists every instance in Ends.
func (f *Fate) Text(all bool) string {
	var b strings.Builder
	if f.Work > 0 {
		b.WriteString("fate of the work:\n")
	}
	endsText(&b, f.Ends, all)
	stored := f.Stored
	if good := slices.IndexFunc(stored, func(e End) bool { return e.AsExpected }); good >= 0 && !all {
		stored = stored[:good]
	}
	if len(stored) > 0 {
		b.WriteString("stored histories, which are not judged:\n")
	}
	endsText(&b, stored, all)
	f.helpText(&b, all)
	f.remarksText(&b, all)
	if len(f.Waits) > 0 {
		b.WriteString("waits for a build, from when no live node admitted the work:\n")
	}
	for i := range f.Waits {
		g := &f.Waits[i]
		if i == maxSteps && !all {
			fmt.Fprintf(&b, "  ... more steps: %d\n", len(f.Waits)-i)
			break
		}
		after := "before the first step"
		if g.After != "" {
			after = "after " + g.After
		}
		lasted, of := "none ended", ""
		if g.Ended < g.Count {
			of = fmt.Sprintf(" of the %d that ended", g.Ended)
		}
		if g.Ended > 0 {
			lasted = fmt.Sprintf("max %s, p99 %s%s", pretty.Duration(g.MaxMs), pretty.Duration(g.P99Ms), of)
		}
		fmt.Fprintf(&b, "  %7d  %s: %s; the longest is %s\n", g.Count, after, lasted, g.Longest())
	}
	return b.String()
}

func endsText(b *strings.Builder, ends []End, all bool) {
	shown := 0
	for i := range ends {
		e := &ends[i]
		mark, expected := "! ", ""
		if e.AsExpected {
			if shown++; shown > maxEnds && !all {
				fmt.Fprintf(b, "  ... more kinds of ends as expected: %d\n", len(ends)-i)
				break
			}
			mark = "  "
		} else if e.Expect != "" {
			expected = fmt.Sprintf(" (expected: %s)", e.Expect.Text())
		}
		if e.Known {
			mark, expected = "  ", expected+" (known)"
		}
		fmt.Fprintf(b, "%s%7d  %s%s%s\n", mark, e.Count, e.text(), expected, e.owes())
		e.named(b, all)
	}
}

// remarksText writes what authors should know of the work.
func (f *Fate) remarksText(b *strings.Builder, all bool) {
	for _, t := range remarkTitles {
		shown := 0
		for i := range f.Remarks {
			g := &f.Remarks[i]
			if g.Kind != t.kind {
				continue
			}
			if shown == 0 {
				b.WriteString(t.title + ":\n")
			}
			if shown++; shown <= maxEnds || all {
				fmt.Fprintf(b, "  %7d  %s; first %s\n", g.Count, g.About, g.First())
			}
		}
		if shown > maxEnds && !all {
			fmt.Fprintf(b, "  ... more: %d\n", shown-maxEnds)
		}
	}
}

// named writes the names of the instances in an End.
func (e *End) named(b *strings.Builder, all bool) {
	names := e.Instances
	if !all {
		if e.AsExpected && e.End != cluster.EndedPoisoned {
			return
		}
		names = names[:min(len(names), maxNamed)]
	}
	for _, m := range names {
		fmt.Fprintf(b, "             %s, seed %d", m.Instance, m.Seed)
		if m.EndedMs != 0 {
			fmt.Fprintf(b, ", at %s", pretty.Duration(m.EndedMs))
		}
		if m.Node != "" {
			fmt.Fprintf(b, " by %s (%s)", m.Node, m.Build)
		}
		if m.Step != "" {
			fmt.Fprintf(b, " after %q", m.Step)
		}
		if m.Cause != "" && all {
			fmt.Fprintf(b, ": %s", m.Cause)
		}
		b.WriteString("\n")
	}
	if more := e.Count - uint64(len(names)); more > 0 && len(names) > 0 {
		fmt.Fprintf(b, "             and %d more\n", more)
	}
}
