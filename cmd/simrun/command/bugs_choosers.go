package command

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// chooserJSON reports how quickly a chooser finds a bug.
type chooserJSON struct {
	Chooser  string   `json:"chooser"`
	Property string   `json:"property"`
	Survives bool     `json:"survives"`
	Caught   int      `json:"caught"`
	Seeds    []uint64 `json:"seeds"`
	// MedianSeeds is 0 if at least half of the searches failed.
	MedianSeeds uint64 `json:"median_seeds"`
}

// comparedJSON compares the choosers for one bug. Soonest lists the choosers with the smallest median; it is empty if
// the bug survives.
type comparedJSON struct {
	ID       string        `json:"id"`
	Scenario string        `json:"scenario"`
	Choosers []chooserJSON `json:"choosers"`
	Soonest  []string      `json:"soonest"`
	Survives bool          `json:"survives"`
}

// comparisonJSON is the object printed by bugs --json with several choosers. For each chooser, Won counts the bugs that
// it found soonest, including ties, and Missed counts the bugs that it did not find.
type comparisonJSON struct {
	Schema      int            `json:"schema"`
	Verb        string         `json:"verb"`
	Bugs        []comparedJSON `json:"bugs"`
	Won         []int          `json:"won"`
	Missed      []int          `json:"missed"`
	Survivors   int            `json:"survivors"`
	Starts      int            `json:"starts"`
	Seeds       int            `json:"seeds"`
	WallSeconds float64        `json:"wall_seconds"`
	ExitStatus  int            `json:"exit_status"`
}

// compare reports the results for several choosers. trials must be grouped by bug.
func (c *bugsCmd) compare(a *app, trials []*bugTrial, wall time.Duration) (int, error) {
	n := len(c.Chooser)
	out := &comparisonJSON{Schema: schema, Verb: "bugs", Bugs: []comparedJSON{}, Won: make([]int, n), Missed: make([]int, n), Starts: c.Starts, Seeds: c.Seeds, WallSeconds: wall.Seconds()}
	for i := 0; i < len(trials); i += n {
		out.add(trials[i : i+n])
	}
	if out.Survivors > 0 {
		out.ExitStatus = exitVacuous
	}
	if c.JSON {
		return out.ExitStatus, a.writeJSON(out)
	}
	a.printComparison(c.Chooser, out)
	return out.ExitStatus, nil
}

func (o *comparisonJSON) add(trials []*bugTrial) {
	b := comparedJSON{ID: string(trials[0].bug.ID), Scenario: trials[0].bug.Scenario, Soonest: []string{}}
	best := uint64(notFound)
	for _, t := range trials {
		best = min(best, median(t.seeds))
	}
	b.Survives = best == notFound
	for i, t := range trials {
		row := chooserJSON{Chooser: t.chooser, Property: t.property, Survives: t.survives(), Caught: t.caught(), Seeds: t.seeds}
		if row.Survives {
			o.Missed[i]++
		} else {
			row.MedianSeeds = median(t.seeds)
		}
		if !b.Survives && median(t.seeds) == best {
			o.Won[i]++
			b.Soonest = append(b.Soonest, t.chooser)
		}
		b.Choosers = append(b.Choosers, row)
	}
	if b.Survives {
		o.Survivors++
	}
	o.Bugs = append(o.Bugs, b)
}

func (a *app) printComparison(choosers []string, out *comparisonJSON) {
	t := tabwriter.NewWriter(a.stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintf(t, "bug\t%s\tsoonest\tscenario\n", strings.Join(choosers, "\t"))
	for _, b := range out.Bugs {
		fmt.Fprint(t, b.ID)
		for _, c := range b.Choosers {
			if c.Survives {
				fmt.Fprint(t, "\t-")
			} else {
				fmt.Fprintf(t, "\t%s", grouped(c.MedianSeeds))
			}
		}
		soonest := strings.Join(b.Soonest, ", ")
		switch {
		case b.Survives:
			soonest = a.style.bad("SURVIVES")
		case len(b.Soonest) == len(choosers):
			soonest = "all"
		}
		fmt.Fprintf(t, "\t%s\t%s\n", soonest, b.Scenario)
	}
	flushTable(t)
	a.printf("\n")
	for i, name := range choosers {
		a.printf("%-12s soonest, alone or tied, for %s; does not find %d\n", name, plural(uint64(out.Won[i]), "bug", "bugs"), out.Missed[i])
	}
	a.printf("%s, %d survive, in %.1fs; seeds are medians of %s, with at most %s each\n", plural(uint64(len(out.Bugs)), "bug", "bugs"),
		out.Survivors, out.WallSeconds, plural(uint64(out.Starts), "start", "starts"), plural(uint64(out.Seeds), "seed", "seeds"))
}
