package conformance

import (
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"
)

// Outcome is how a case ended.
type Outcome string

// The outcomes. Known is a failure that was expected.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Known   Outcome = "known"
	Skipped Outcome = "skipped"
)

// Outcome returns how the case ended, without regard to what is known.
func (r Result) Outcome() Outcome { return verdict{failure: r.Failure, missing: r.Skipped}.outcome() }

func (v verdict) outcome() Outcome {
	switch {
	case v.failure != "":
		return Failed
	case v.missing != "":
		return Skipped
	}
	return Passed
}

// Summary counts outcomes by group, in the order in which the groups were first counted.
type Summary []GroupSummary

// GroupSummary counts the outcomes of one group.
type GroupSummary struct {
	Group   string `json:"group"`
	Passed  int    `json:"passed"`
	Failed  int    `json:"failed"`
	Known   int    `json:"known"`
	Skipped int    `json:"skipped"`
}

// Count counts the outcome of a case of a group.
func (s *Summary) Count(group string, o Outcome) {
	at := -1
	for i := range *s {
		if (*s)[i].Group == group {
			at = i
		}
	}
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

// String returns a table with a line for each group.
func (s Summary) String() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintf(t, "group\t%s\t%s\t%s\t%s\n", Passed, Failed, Known, Skipped)
	for _, g := range s {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\n", g.Group, g.Passed, g.Failed, g.Known, g.Skipped)
	}
	_ = t.Flush() // the builder takes everything
	return b.String()
}

// tally is a summary that parallel subtests count in. It lists the groups in the order of the catalogue.
type tally struct {
	mu       sync.Mutex
	outcomes map[string]Outcome // by case
}

func (y *tally) count(id string, o Outcome) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.outcomes[id] = o
}

func (y *tally) summary() Summary {
	y.mu.Lock()
	defer y.mu.Unlock()
	var s Summary
	for _, c := range catalogue {
		if o, asked := y.outcomes[c.id]; asked {
			s.Count(c.describe().Group, o)
		}
	}
	return s
}
