package conformance

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
)

// Verdict says how a case ended.
type Verdict string

// The possible verdicts. Known is a failure that was expected.
const (
	Passed  Verdict = "passed"
	Failed  Verdict = "failed"
	Known   Verdict = "known"
	Skipped Verdict = "skipped"
)

// Verdict says how the case ended. It never returns Known.
func (r Result) Verdict() Verdict {
	switch {
	case r.Failure != "":
		return Failed
	case r.Skipped != "":
		return Skipped
	}
	return Passed
}

// Summary counts verdicts by group. The groups are in the order in which they first occurred.
type Summary []GroupSummary

// GroupSummary counts the verdicts of one group.
type GroupSummary struct {
	Group   string `json:"group"`
	Passed  int    `json:"passed"`
	Failed  int    `json:"failed"`
	Known   int    `json:"known"`
	Skipped int    `json:"skipped"`
}

// Count adds a case's verdict to its group.
func (s *Summary) Count(group string, o Verdict) {
	at := slices.IndexFunc(*s, func(g GroupSummary) bool { return g.Group == group })
	if at < 0 {
		at = len(*s)
		*s = append(*s, GroupSummary{Group: group})
	}
	g := &(*s)[at]
	switch o {
	case Failed:
		g.Failed++
	case Known:
		g.Known++
	case Skipped:
		g.Skipped++
	default:
		g.Passed++
	}
}

// Total returns the sums over all groups.
func (s Summary) Total() GroupSummary {
	var sum GroupSummary
	for _, g := range s {
		sum.Passed += g.Passed
		sum.Failed += g.Failed
		sum.Known += g.Known
		sum.Skipped += g.Skipped
	}
	return sum
}

// String returns a table with one line per group.
func (s Summary) String() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintf(t, "group\t%s\t%s\t%s\t%s\n", Passed, Failed, Known, Skipped)
	for _, g := range s {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\n", g.Group, g.Passed, g.Failed, g.Known, g.Skipped)
	}
	_ = t.Flush() // writing to a strings.Builder never fails
	return b.String()
}

// tally is a summary shared by parallel subtests. It lists groups in catalogue order.
type tally struct {
	mu       sync.Mutex
	verdicts map[string]Verdict // by case
}

func (y *tally) count(id string, o Verdict) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.verdicts[id] = o
}

func (y *tally) summary() Summary {
	y.mu.Lock()
	defer y.mu.Unlock()
	var s Summary
	for _, c := range catalogue {
		if o, asked := y.verdicts[c.id]; asked {
			s.Count(c.describe().Group, o)
		}
	}
	return s
}
