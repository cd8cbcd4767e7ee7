package compare

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/timeline"
)

// Table returns the rows as a table.
func (r *Result) Table() timeline.Table {
	t := timeline.Table{Title: "Strategies", Open: true, Head: []string{"strategy", "fetches", "wasted", "abandons", "lock", "finish: median", "p99", "healthy poisoned", "stuck", "violated", "unmet"}}
	for i := range r.Rows {
		row := &r.Rows[i]
		t.Row(row.Healthy+row.Stuck > 0 || row.broken() > 0, string(row.Strategy), fmt.Sprint(row.Fetches), fmt.Sprint(row.Wasted), fmt.Sprint(row.Abandons), pretty.Duration((row.LockMs+50)/100*100),
			took(row.MedianMs), took(row.P99Ms), dash(row.Healthy), dash(row.Stuck), cmp.Or(strings.Join(row.Violated, " "), "-"), dash(uint64(len(row.Unmet))))
		t.Rows[i].Best = row.Strategy == r.Best()
	}
	return t
}

func took(ms int64) string {
	if ms < 0 {
		return "-"
	}
	return pretty.Duration(ms)
}

func dash(n uint64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// Text returns the table, followed by the sentence.
func (r *Result) Text() string {
	t := r.Table()
	return t.Text("", len(t.Head), 2) + "\n" + r.Sentence + "\n"
}

// best returns the rows from best to worst. The rows are sorted by the number of violated properties, then by lost
// instances, stuck instances, and the magnitudes of the 99th-percentile duration and of the wasted fetches.
func (r *Result) best() []Row {
	rows := slices.Clone(r.Rows)
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.broken(), b.broken()), cmp.Compare(a.Healthy, b.Healthy), cmp.Compare(a.Stuck, b.Stuck),
			cmp.Compare(magnitude(a.P99Ms), magnitude(b.P99Ms)), cmp.Compare(magnitude(int64(a.Wasted)), magnitude(int64(b.Wasted))))
	})
	return rows
}

// magnitude returns the exponent of the smallest power of two greater than n. Figures of the same magnitude count as equal
// when sorting.
func magnitude(n int64) int { return bits.Len64(uint64(max(n, 0))) }

// Best returns the best strategy.
func (r *Result) Best() plan.Strategy { return r.best()[0].Strategy }

// broken counts the violated properties, except for the outcome property, which depends on the plan rather than the
// contract.
func (row *Row) broken() int {
	n := len(row.Violated)
	if slices.Contains(row.Violated, "outcome") {
		n--
	}
	return n
}

// sentence names the best strategy and explains how each other strategy is worse.
func (r *Result) sentence() string {
	rows := r.best()
	first := &rows[0]
	var others []string
	for _, row := range rows[1:] {
		others = append(others, string(row.Strategy)+" "+row.against(first))
	}
	text := fmt.Sprintf("Here %s is best: it %s.", first.Strategy, first.does())
	if len(others) > 0 {
		text += " " + pretty.Capital(strings.Join(others, "; ")) + "."
	}
	return text
}

// does describes the strategy's effect on the work.
func (row *Row) does() string {
	var parts []string
	if row.broken() > 0 {
		parts = append(parts, "breaks "+strings.Join(row.Violated, " "))
	}
	switch {
	case row.Healthy > 0:
		parts = append(parts, fmt.Sprintf("poisons %s that could run (%s, seed %d)", instances(row.Healthy), row.Example, row.ExampleSeed))
	case row.Poisoned > 0:
		parts = append(parts, "poisons only what nobody can run")
	default:
		parts = append(parts, "poisons nothing")
	}
	if row.Stuck > 0 {
		parts = append(parts, fmt.Sprintf("leaves %s waiting for a build", instances(row.Stuck)))
	}
	if row.Wasted > 0 {
		parts = append(parts, "fetches "+pretty.Times(int(row.Wasted))+" in vain")
	}
	return pretty.And(parts)
}

// against explains how a strategy is worse than the best one.
func (row *Row) against(first *Row) string {
	var parts []string
	if row.broken() > first.broken() {
		parts = append(parts, "breaks "+strings.Join(row.Violated, " "))
	}
	if row.Healthy > first.Healthy {
		parts = append(parts, fmt.Sprintf("poisons %s that could run (%s, seed %d)", instances(row.Healthy), row.Example, row.ExampleSeed))
	}
	if row.Stuck > first.Stuck {
		parts = append(parts, fmt.Sprintf("leaves %s waiting for a build", instances(row.Stuck)))
	}
	if row.P99Ms > first.P99Ms+first.P99Ms/10 {
		parts = append(parts, fmt.Sprintf("lets the slowest take %s instead of %s", took(row.P99Ms), took(first.P99Ms)))
	}
	if row.Wasted > first.Wasted+first.Wasted/10 {
		parts = append(parts, fmt.Sprintf("fetches %s in vain instead of %d", pretty.Times(int(row.Wasted)), first.Wasted))
	}
	if len(parts) == 0 {
		return "costs about the same"
	}
	return pretty.And(parts)
}

func instances(n uint64) string { return pretty.Plural(n, "instance", "instances") }
