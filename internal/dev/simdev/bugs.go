package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/dev/selfcheck"
	"github.com/durosim/durosim/internal/dev/stray"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
)

// bugs implements `simdev bugs`: it switches each planted bug on in the scenario that shows it, and runs seeds until one
// of the properties or self-checks that it is expected to break is violated, from several starting seeds. It prints that property, and
// the medians of the number of seeds and of the time that this took: survivors first, then the bugs that are hardest to
// find. A bug that most starting seeds do not find, with no chooser, survives, and the exit status is 4.
func bugs(args []string) error {
	f := flag.NewFlagSet("simdev bugs", flag.ContinueOnError)
	starts := f.Uint64("starts", 10, "from how `MANY` starting seeds, a million apart, to look for each bug")
	seeds := f.Uint64("seeds", 200, "how `MANY` seeds to run at most from each of them")
	choosers := f.String("choosers", "random", "which choosers to try and compare, such as random,pct:3,delay:3 (`NAMES`)")
	workers := f.Int("workers", runtime.GOMAXPROCS(0), "how `MANY` searches at once")
	detection := f.String("detection", "", "write the number of seeds that each bug took to `FILE`, for run --confidence")
	if err := f.Parse(args); err != nil {
		return err
	}
	names := strings.Split(*choosers, ",")
	if *starts < 1 || *seeds < 1 || *workers < 1 || *detection != "" && len(names) > 1 {
		return fmt.Errorf("-starts %d -seeds %d -workers %d -choosers %s: expected at least 1 of each, and one chooser with -detection", *starts, *seeds, *workers, *choosers)
	}
	list, err := tried(f.Args())
	if err != nil {
		return err
	}
	if *detection != "" { // simrun has no self-checks
		list = slices.DeleteFunc(list, byItself)
	}
	var trials []*trial
	for _, b := range list {
		for _, name := range names {
			chooser, err := sim.NamedChooser(name)
			if err != nil {
				return err
			}
			trials = append(trials, &trial{bug: b, name: name, chooser: chooser})
		}
	}
	campaign.CollectLess() // the runs go on until the process exits
	began := time.Now()
	todo := make(chan *trial)
	var all sync.WaitGroup
	for range *workers {
		all.Go(func() {
			for t := range todo {
				t.err = t.search(*starts, *seeds)
			}
		})
	}
	for _, t := range trials {
		todo <- t
	}
	close(todo)
	all.Wait()
	for _, t := range trials {
		if t.err != nil {
			return fmt.Errorf("%s: %w", t.bug.ID, t.err)
		}
	}
	survivors := report(trials, len(names))
	fmt.Printf("%d bugs, %d survive, in %.1fs; seeds and time are medians of %d starts, with at most %d seeds each\n", len(list), survivors, time.Since(began).Seconds(), *starts, *seeds)
	if *detection != "" {
		var others []byte
		if len(f.Args()) > 0 {
			if others, err = os.ReadFile(*detection); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if err := os.WriteFile(*detection, detected(trials, *starts, *seeds, others), 0o644); err != nil {
			return err
		}
	}
	if survivors > 0 {
		return errFound
	}
	return nil
}

// tried returns the bugs with those ids, or all that some property or self-check catches.
func tried(ids []string) (list []faults.Bug, err error) {
	all := selfcheck.Catalogue()
	if len(ids) == 0 {
		return all, nil
	}
	for _, id := range ids {
		bug, ok := selfcheck.Lookup(faults.BugID(id))
		if !ok {
			var known []string
			for _, b := range all {
				known = append(known, string(b.ID))
			}
			return nil, fmt.Errorf("no property catches a bug named %q%s", id, pretty.Hint(id, known))
		}
		list = append(list, bug)
	}
	return list, nil
}

// byItself reports whether only a check of durosim itself catches a bug of selfcheck.Catalogue.
func byItself(b faults.Bug) bool {
	row, _ := faults.Lookup(b.ID)
	return !row.Caught()
}

// trial is the search for one bug with one chooser.
type trial struct {
	bug      faults.Bug
	name     string // of the chooser
	chooser  func(seed uint64) sim.Chooser
	seeds    []uint64 // how many each starting seed took; 0 if it did not lead to the bug
	times    []time.Duration
	property string // that caught the bug first
	err      error
}

// farApart is the distance between two starting seeds.
const farApart = 1_000_000

func (t *trial) search(starts, seeds uint64) error {
	s, run, expand := stray.Scenario(), stray.Run(), stray.Expand
	if t.bug.Scenario != selfcheck.StrayMessages {
		var err error
		if s, err = scenario.Lookup(t.bug.Scenario); err != nil {
			return err
		}
		run, expand = durosim.Run{}, s.Expand
	}
	if byItself(t.bug) {
		run.Monitor = selfcheck.Watch
	}
	expected := func(v cluster.Violation) bool { return slices.Contains(t.bug.Properties, v.Property) }
	for start := range starts {
		property := ""
		began := time.Now()
		sum, err := campaign.Run(campaign.Options{
			First: 1 + start*farApart, Count: seeds, Workers: 1, KeepGoing: true, Chooser: t.chooser,
			Plan: func(seed uint64) (*plan.Plan, error) {
				return expand(seed, scenario.Overrides{Bugs: []faults.BugID{t.bug.ID}})
			},
			Config: func() cluster.Config {
				cfg := cluster.Config{Stop: expected}
				run.Configure(&cfg, properties.Options{Expectations: s.Expect})
				return cfg
			},
			Until: func(r *cluster.Result) bool {
				if i := slices.IndexFunc(r.Violations, expected); i >= 0 {
					property = r.Violations[i].Property
				}
				return property != ""
			},
		})
		if err != nil {
			return err
		}
		took := sum.Seeds
		if property == "" {
			took = 0
		}
		t.seeds, t.times, t.property = append(t.seeds, took), append(t.times, time.Since(began)), cmp.Or(t.property, property)
	}
	return nil
}

// notFound is the median of a trial in which half of the starting seeds or more do not lead to the bug.
const notFound = ^uint64(0)

// median returns the median number of seeds, the larger of the middle two, and how many starting seeds led to the bug.
func (t *trial) median() (n uint64, found int) {
	var sorted []uint64
	for _, n := range t.seeds {
		if n > 0 {
			sorted = append(sorted, n)
		}
	}
	slices.Sort(sorted)
	if len(t.seeds)/2 >= len(sorted) {
		return notFound, len(sorted)
	}
	return sorted[len(t.seeds)/2], len(sorted)
}

// report prints the trials, of which those of one bug follow one another, and returns how many bugs survive.
func report(trials []*trial, choosers int) (survivors int) {
	var groups [][]*trial
	best := map[faults.BugID]uint64{} // with the chooser that is soonest
	soonest, missed := make([]int, choosers), make([]int, choosers)
	for group := range slices.Chunk(trials, choosers) {
		groups = append(groups, group)
		least := uint64(notFound)
		for _, t := range group {
			n, _ := t.median()
			least = min(least, n)
		}
		best[group[0].bug.ID] = least
		for i, t := range group {
			if n, _ := t.median(); n == notFound {
				missed[i]++
			} else if n == least {
				soonest[i]++
			}
		}
		if least == notFound {
			survivors++
		}
	}
	slices.SortStableFunc(groups, func(a, b []*trial) int { return cmp.Compare(best[b[0].bug.ID], best[a[0].bug.ID]) })
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "bug\tchooser\tcaught by\tseeds\ttime\tstarts\tscenario")
	for _, one := range slices.Concat(groups...) {
		n, found := one.median()
		by, took := one.property, fmt.Sprint(n)
		if n == notFound {
			by, took = "-", "-"
		}
		if best[one.bug.ID] == notFound {
			by = "SURVIVES"
		}
		slices.Sort(one.times)
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.2fs\t%d of %d\t%s\n", one.bug.ID, one.name, by, took, one.times[len(one.times)/2].Seconds(), found, len(one.seeds), one.bug.Scenario)
	}
	t.Flush()
	fmt.Println()
	for i := range choosers {
		if choosers > 1 {
			fmt.Printf("%-12s soonest, alone or tied, for %d bugs; does not find %d\n", trials[i].name, soonest[i], missed[i])
		}
	}
	return survivors
}

// detected returns the file for run --confidence, a line for each bug. The lines of others, the file as it was, stay for
// the bugs that were not tried.
func detected(trials []*trial, starts, seeds uint64, others []byte) []byte {
	tried := map[string]bool{} // never iterated over
	var lines []string
	for _, t := range trials {
		tried[string(t.bug.ID)] = true
		lines = append(lines, fmt.Sprintf(`{"id":%q,"seeds":[%s]}`, t.bug.ID, strings.Join(strings.Fields(strings.Trim(fmt.Sprint(t.seeds), "[]")), ",")))
	}
	for line := range strings.Lines(string(others)) {
		line = strings.TrimRight(line, ",\n")
		if id, ok := strings.CutPrefix(line, `{"id":"`); ok {
			if id, _, _ = strings.Cut(id, `"`); !tried[id] {
				lines = append(lines, line)
			}
		}
	}
	slices.Sort(lines)
	return fmt.Appendf(nil, "{\"starts\": %d, \"seeds\": %d, \"bugs\": [\n%s\n]}\n", starts, seeds, strings.Join(lines, ",\n"))
}
