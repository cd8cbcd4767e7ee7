package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/dev/mutate/active"
	"github.com/durosim/durosim/internal/dev/selfcheck"
	"github.com/durosim/durosim/internal/dev/stray"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/properties/conformance"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/properties/oracle/search"
	"github.com/durosim/durosim/properties/undertest"
	"github.com/durosim/durosim/sim/campaign"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
)

// most lists the scenarios that detect the most mutants and therefore run first, with the number of seeds for each. In
// each of them, the first seed runs twice, as in a campaign. They run over another store, too.
var most = map[string]uint64{"programs": 20, "features": 6, "rolling-upgrade": 3, "families": 4, "sessions": 4, "mischief": 3, "other-writers": 3, "kept-executions": 6}

func main() {
	all := flag.Bool("all", false, "go on after an objection")
	only := flag.String("only", "", "judges to ask, separated by commas; all if not given")
	times := flag.Uint64("times", 1, "multiplies the number of seeds")
	reach := flag.Bool("reach", false, "print the mutants whose places each judge executes")
	flag.Parse()
	go guard()
	for _, j := range judges(*times) {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), j.name) {
			continue
		}
		if *reach {
			active.Watch()
		}
		began := time.Now()
		seeds, digest, objection := j.ask()
		fmt.Printf("%s\t%s\t%d\t%.2f\t%s\t%s\n", j.name, digest, seeds, time.Since(began).Seconds(), strings.NewReplacer("\n", " ", "\t", " ").Replace(objection), strings.Trim(fmt.Sprint(active.Reached()), "[]"))
		if objection != "" && !*all {
			os.Exit(1)
		}
	}
}

// judge checks the behavior for a number of seeds.
type judge struct {
	name string
	ask  func() (seeds uint64, digest, objection string)
}

func judges(times uint64) []judge {
	list := []judge{{"conformance", conformanceJudge}, {"oracle", func() (uint64, string, string) { return oracleJudge(1000 * int(times)) }}, {"wrong-stores", wrongStoresJudge}, {"unsteady-handlers", unsteadyJudge}}
	all := scenario.Builtin()
	slices.SortStableFunc(all, func(a, b scenario.Named) int { return int(most[b.Name]) - int(most[a.Name]) })
	for _, n := range all {
		seeds := max(most[n.Name], 2) * times
		list = append(list, judge{n.Name, func() (uint64, string, string) { return scenarioJudge(n, seeds, "", nil) }})
	}
	for _, n := range all {
		seeds := min(max(most[n.Name], 2), 3) * times
		list = append(list, judge{n.Name + "+full", func() (uint64, string, string) { return scenarioJudge(n, seeds, "full", nil) }})
	}
	for _, n := range all[:len(most)] {
		list = append(list, judge{n.Name + "+over", func() (uint64, string, string) { return scenarioJudge(n, 2*times, "", another(nil)) }})
	}
	list = append(list, judge{selfcheck.StrayMessages, func() (uint64, string, string) {
		plans := func(seed uint64) (*plan.Plan, error) { return stray.Expand(seed, scenario.Overrides{}) }
		return campaignJudge(stray.Run(), stray.Options(), 3*times, 1, nil, true, plans)
	}})
	return append(list, judge{"misused-contexts", misusedJudge})
}

// guard exits the process before it exhausts the machine's memory, or if all else in it waits for ever, which Go does
// not notice as long as there is a timer.
func guard() {
	var m runtime.MemStats
	idle, before := 0, uint64(0)
	for range time.Tick(time.Second) {
		runtime.ReadMemStats(&m)
		if idle++; m.Mallocs-before > 100 {
			idle = 0
		}
		before = m.Mallocs
		switch {
		case m.Sys > 3<<30:
			fmt.Fprintln(os.Stderr, "judge: more than 3 GiB of memory")
			os.Exit(3)
		case idle >= 60:
			fmt.Fprintln(os.Stderr, "judge: nothing has happened for a minute")
			os.Exit(3)
		}
	}
}

// another makes stores that stand for one that is not durosim's own, with rules or, if there are none, the rules that
// ship. They store what callers of any build write.
func another(rules *memprovider.Rules) func(startMs int64) (*cluster.ForeignStore, error) {
	return func(startMs int64) (*cluster.ForeignStore, error) {
		s := memprovider.New(memprovider.Options{StartMs: startMs, Rules: rules})
		anyBuild := engine.Opaque(engine.NewJSONCodec("any", engine.Kinds2x().With("LegacyNote"), engine.WorkItemKinds2x()))
		return &cluster.ForeignStore{
			Provider: s.Handle(anyBuild, observe.Caller{}),
			SetNow:   func(ms int64) error { s.SetNow(ms); return nil },
		}, nil
	}
}

func scenarioJudge(n scenario.Named, seeds uint64, with string, store func(int64) (*cluster.ForeignStore, error)) (uint64, string, string) {
	s, err := scenario.Parse(n.File, n.Text)
	if err != nil {
		return 0, "", err.Error()
	}
	over := scenario.Overrides{}
	if with != "" {
		f, err := scenario.NamedFaults(with)
		if err != nil {
			return 0, "", err.Error()
		}
		over.Faults = &f
	}
	expect := s.Expect
	if with != "" {
		expect = nil
	}
	return campaignJudge(durosim.Run{}, properties.Options{Expectations: expect, SecondJudge: 1}, seeds, min(most[n.Name], 1), store, false, func(seed uint64) (*plan.Plan, error) { return s.Expand(seed, over) })
}

func campaignJudge(run durosim.Run, options properties.Options, seeds, twice uint64, store func(int64) (*cluster.ForeignStore, error), reachesAll bool, plans func(seed uint64) (*plan.Plan, error)) (uint64, string, string) {
	before := runtime.NumGoroutine()
	sum, err := campaign.Run(campaign.Options{
		Plan: plans, First: 1, Count: seeds, Workers: 1, Twice: twice,
		Config: func() cluster.Config {
			cfg := cluster.Config{Store: store, Stop: func(cluster.Violation) bool { return true }}
			run.Monitor = selfcheck.Watch
			run.Configure(&cfg, options)
			return cfg
		},
	})
	switch {
	case err != nil:
		return 0, "", err.Error()
	case len(sum.Internal) > 0:
		return sum.Seeds, sum.Digest.String(), fmt.Sprintf("panic: %v", sum.Internal[0])
	case len(sum.Violations) > 0:
		v := sum.Violations[0]
		return sum.Seeds, sum.Digest.String(), v.Property + ": " + v.Message
	case len(sum.Drifts) > 0:
		return sum.Seeds, sum.Digest.String(), fmt.Sprintf("drift: the two runs of seed %d differ", sum.Drifts[0].Seed)
	}
	for _, e := range options.Expectations {
		reached := slices.ContainsFunc(sum.Coverage, func(p cluster.Point) bool { return p.Name == e.PointName() && p.Count > 0 })
		if reachesAll && e.Mode == plan.ModeSometimes && !reached {
			return sum.Seeds, sum.Digest.String(), "expect: never: " + e.Text
		}
	}
	if n := left(before); n > 0 {
		return sum.Seeds, sum.Digest.String(), fmt.Sprintf("leak: %d goroutines are left behind", n)
	}
	return sum.Seeds, sum.Digest.String(), ""
}

// left waits for goroutines to end, and returns how many more there are than before.
func left(before int) int {
	n := 0
	for range 100 {
		if n = runtime.NumGoroutine() - before; n <= 0 {
			return 0
		}
		time.Sleep(time.Millisecond)
	}
	return n
}

var memory = undertest.InMemory{}.UnderTest()

func conformanceJudge() (uint64, string, string) {
	for _, r := range conformance.Ask(memory) {
		if r.Failure != "" {
			return 0, "", r.ID + ": " + r.Failure
		}
	}
	return 0, "", ""
}

func oracleJudge(sequences int) (uint64, string, string) {
	report, err := search.Search(memory, search.Options{Sequences: sequences, Oracle: oracle.Options{Deny: undertest.Chosen()}})
	switch {
	case err != nil:
		return 0, "", err.Error()
	case len(report.Findings) > 0:
		return uint64(report.Passed), "", fmt.Sprint(report.Findings[0])
	}
	return uint64(report.Passed), "", ""
}
