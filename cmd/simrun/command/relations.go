package command

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/durosim/durosim/cmd/simrun/internal/relation"
	"github.com/durosim/durosim/internal/campaign"
	"github.com/durosim/durosim/internal/near"
	"github.com/durosim/durosim/sim/cluster"
)

// relationsCmd implements `simrun relations`, which compares runs with twins whose plans differ in ways that must not
// matter.
type relationsCmd struct {
	planFlags `embed:""`

	Scenario string `arg:"" optional:"" help:"Built-in scenario or file; rolling-upgrade if none is named."`

	Seed    *seed     `help:"Compare this one seed, decimal or 0x-hex." placeholder:"N" xor:"seeds"`
	Seeds   seedRange `help:"The number of seeds to compare, or a range; 20 if not given." placeholder:"N|A..B" xor:"seeds"`
	Only    []string  `help:"Compare only this relation; may be repeated. See below." placeholder:"NAME"`
	Workers int       `help:"The number of seeds to compare at once; the number of cores if not given." placeholder:"N"`
	JSON    bool      `name:"json" help:"Print one JSON object on standard output and nothing else."`
}

// Help returns the text printed below the flags.
func (relationsCmd) Help() string {
	var list strings.Builder
	for _, r := range relation.All() {
		fmt.Fprintf(&list, "    %-12s  %s\n", r.Name, r.Summary)
	}
	return `Runs each seed, and for each relation a twin with a difference that must not matter:

` + list.String() + `
Every instance that both have must end the same way in both: status, output, pin, custom status, keys, and each event of its history to the byte, once old ids and times after the start are put back. This holds under any faults, and of your handlers if they go by none of that.

Examples:

    simrun relations rolling-upgrade --faults full
    simrun relations my-upgrade.txt --seeds 100 --only renamed

Exit status: 0 nothing differs, 2 bad input, 4 something differs, 130 interrupted.`
}

const relationsSeeds = 20

// relationJSON summarizes the comparisons for one relation.
type relationJSON struct {
	Name      string      `json:"name"`
	Summary   string      `json:"summary"`
	Skipped   string      `json:"skipped,omitempty"`
	Compared  uint64      `json:"seeds_compared"`
	Instances uint64      `json:"instances"`
	Differing uint64      `json:"seeds_differing"`
	First     *unlikeJSON `json:"first,omitempty"`
}

// unlikeJSON describes the first difference in the first differing seed.
type unlikeJSON struct {
	Seed     string `json:"seed"`
	Instance string `json:"instance"`
	What     string `json:"what"`
	Was      string `json:"was"`
	Is       string `json:"is"`
	Repro    string `json:"repro"`
}

func (c *relationsCmd) run(a *app) (int, error) {
	if c.Chooser != "" {
		return 0, fmt.Errorf("--chooser %s: relations has its own chooser; run takes a chooser", c.Chooser)
	}
	if c.Workers < 0 {
		return 0, fmt.Errorf("--workers %d: expected 0 for all cores, or more", c.Workers)
	}
	relations, err := c.relations()
	if err != nil {
		return 0, err
	}
	s, err := c.subject(a.program, c.Scenario)
	if err != nil {
		return 0, err
	}
	a.warn(s)
	seeds := c.Seeds
	switch {
	case c.Seed != nil:
		seeds = seedRange{first: uint64(*c.Seed), count: 1}
	case seeds.count == 0:
		seeds = seedRange{first: 1, count: relationsSeeds}
	}
	rows, done, err := c.compare(a, s, relations, seeds)
	if err != nil {
		return 0, err
	}
	status := exitOK
	switch {
	case slices.ContainsFunc(rows, func(r relationJSON) bool { return r.First != nil }):
		status = exitDrift
	case done < seeds.count:
		status = exitStopped
	}
	if c.JSON {
		return status, a.writeJSON(struct {
			Schema     int            `json:"schema"`
			Verb       string         `json:"verb"`
			Scenario   string         `json:"scenario"`
			Relations  []relationJSON `json:"relations"`
			ExitStatus int            `json:"exit_status"`
		}{schema, "relations", s.scenario.Name, rows, status})
	}
	a.printRelations(s, seeds, rows)
	return status, nil
}

// relations returns the relations selected with --only, or all of them by default.
func (c *relationsCmd) relations() ([]relation.Relation, error) {
	all := relation.All()
	if len(c.Only) == 0 {
		return all, nil
	}
	var names []string
	for _, r := range all {
		names = append(names, r.Name)
	}
	for _, name := range c.Only {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("--only %q: there is no such relation%s; expected one of %s", name, near.Hint(name, names), strings.Join(names, ", "))
		}
	}
	return slices.DeleteFunc(all, func(r relation.Relation) bool { return !slices.Contains(c.Only, r.Name) }), nil
}

// compare compares each seed's run with its twins. It returns the number of seeds compared, which is less than
// seeds.count if the comparison is interrupted.
func (c *relationsCmd) compare(a *app, s *subject, relations []relation.Relation, seeds seedRange) ([]relationJSON, uint64, error) {
	rows := make([]relationJSON, len(relations))
	for i, r := range relations {
		rows[i] = relationJSON{Name: r.Name, Summary: r.Summary}
	}
	type result struct {
		comparisons []relation.Comparison
		err         error
	}
	job := func(i uint64) (out result) {
		p, err := s.plan(seeds.first + i)
		if err != nil {
			return result{err: err}
		}
		run := relation.Run{Plan: p, Seed: seeds.first + i, Config: func() cluster.Config { return s.configOf(nil, 0) }}
		for _, r := range relations {
			o, err := r.Compare(run)
			if err != nil {
				return result{err: fmt.Errorf("seed %d, relation %s: %w", seeds.first+i, r.Name, err)}
			}
			out.comparisons = append(out.comparisons, o)
		}
		return out
	}
	ctx, stop := interruptible()
	defer stop()
	bar := newProgress(a.stderr, s.scenario.Name, seeds.count)
	workers := c.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	done, differing, err := uint64(0), uint64(0), error(nil)
	campaign.InOrder(ctx, seeds.count, workers, job, func(i uint64, r result) bool {
		if err = r.err; err != nil {
			return false
		}
		for j, o := range r.comparisons {
			row := &rows[j]
			if row.Skipped = o.Skipped; o.Skipped != "" {
				continue
			}
			row.Compared++
			row.Instances += uint64(o.Instances)
			if d := o.Difference; d != nil {
				row.Differing++
				differing++
				if row.First == nil {
					row.First = &unlikeJSON{decimal(seeds.first + i), d.Instance, d.What, d.Was, d.Is, s.line("relations", seeds.first+i, "--only", row.Name)}
				}
			}
		}
		done++
		bar.show(done, differing)
		return true
	})
	bar.clear()
	return rows, done, err
}

// relationWidth is the maximum length, in bytes, of each value shown for a difference.
const relationWidth = 400

func (a *app) printRelations(s *subject, seeds seedRange, rows []relationJSON) {
	a.printf("%s  %s\n\n", a.style.title("relations of "+s.scenario.Name), strings.Join(append([]string{"seeds " + seeds.String()}, s.options()...), " "))
	t := tabwriter.NewWriter(a.stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "relation\tseeds\tinstances\tdiffering\twhat must not matter")
	for _, r := range rows {
		if r.Compared == 0 {
			fmt.Fprintf(t, "%s\t-\t-\t-\tnot compared: %s\n", r.Name, r.Skipped)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.Name, grouped(r.Compared), grouped(r.Instances), grouped(r.Differing), r.Summary)
	}
	flushTable(t)
	for _, r := range rows {
		if r.First == nil {
			continue
		}
		d := r.First
		a.printf("\n%s  %s: %s\n", a.style.bad("DIFFERS"), a.style.title(r.Name), r.Summary)
		a.printf("  where     seed %s, instance %s, %s\n", d.Seed, d.Instance, d.What)
		a.printf("  without   %s\n  with      %s\n", cut(d.Was), cut(d.Is))
		a.printf("\nTo see it again:\n%s\n", d.Repro)
	}
}

// cut shortens text to relationWidth bytes.
func cut(text string) string {
	if len(text) <= relationWidth {
		return text
	}
	return strings.ToValidUTF8(text[:relationWidth], "") + "..."
}
