// Command simdev holds what only durosim's own developers run:
//
//	go -C internal/dev run ./simdev mutants -sample 20 memprovider
//	go -C internal/dev run ./simdev relations rolling-upgrade -faults full
//	go -C internal/dev run ./simdev bugs engine/poll-stops
//	go -C internal/dev run ./simdev small -seeds 4
//	go -C internal/dev run ./simdev diff real-programs -seeds 100
//	go -C internal/dev run ./simdev diff duroxide 0.1.30 0.1.32 -seeds 200
//	go -C internal/dev run ./simdev facts duroxide
//	go -C internal/dev run ./simdev pairs -seeds 10
//	go -C internal/dev run ./simdev stray -faults full
//	go -C internal/dev run ./simdev cells -seeds 8
//
// Each of these verbs prints its flags with -h. Every other verb is simrun's, with the self-checks of package selfcheck
// in each run:
//
//	go -C internal/dev run ./simdev run sessions --bug engine/plain-fetch-waits
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/cmd/simrun/command"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/dev/matrix"
	"github.com/durosim/durosim/internal/dev/selfcheck"
	"github.com/durosim/durosim/sim/scenario"
)

func main() {
	verbs := map[string]func(args []string) int{
		"mutants":   matrix.Main,
		"relations": func(args []string) int { return status("relations", relations(args)) },
		"bugs":      func(args []string) int { return status("bugs", bugs(args)) },
		"small":     func(args []string) int { return status("small", small(args)) },
		"diff":      func(args []string) int { return status("diff", diff(args)) },
		"facts":     func(args []string) int { return status("facts", facts(args)) },
		"pairs":     func(args []string) int { return status("pairs", pairsOf(args)) },
		"cells":     func(args []string) int { return status("cells", cellsOf(args)) },
		"stray":     func(args []string) int { return status("stray", strays(args)) },
	}
	if len(os.Args) > 1 {
		if verb := verbs[os.Args[1]]; verb != nil {
			os.Exit(verb(os.Args[2:]))
		}
	}
	if len(os.Args) > 1 && os.Args[1] != "-h" && os.Args[1] != "--help" {
		command.Main(command.Program{Name: "simdev", EachRun: func() durosim.Run { return durosim.Run{Monitor: selfcheck.Watch} }})
	}
	fmt.Fprintln(os.Stderr, `usage: simdev mutants|relations|bugs|small|diff|facts|pairs|stray|cells [flags]
       simdev VERB ...

  mutants     try small changes of the sources, and list who notices them
  relations   compare runs with twins whose plans differ in ways that must not matter
  bugs        try every planted bug: which property catches it, after how many seeds
  small       compare runs with those of a build whose thresholds are as small as can be
  diff        compare what released runtimes commit with what their models commit, or
              what two releases commit
  facts       compare the facts that are written down about releases with what they do
  pairs       run plans in which each two parts of the language meet
  stray       run stored histories that no user has, such as those with which code disagrees
  cells       list the texts and the orders that no built-in scenario gives to the store
  VERB        a verb of simrun, with the self-checks in each run`)
	os.Exit(2)
}

// errFound is the error of a verb that found what it looks for, and has said so.
var errFound = errors.New("something is found")

// status returns the exit status of a verb: 4 if it found something, 2 for bad input.
func status(verb string, err error) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errFound):
		return 4
	}
	fmt.Fprintf(os.Stderr, "simdev %s: %v\n", verb, err)
	return 2
}

// scenarioFlags are the flags of a verb that runs seeds of a scenario, which it names first.
type scenarioFlags struct {
	*flag.FlagSet
	first, seeds *uint64
	level, bug   *string
}

func newScenarioFlags(verb string) scenarioFlags {
	f := flag.NewFlagSet("simdev "+verb, flag.ContinueOnError)
	return scenarioFlags{f, f.Uint64("first", 1, "the first `SEED`"), f.Uint64("seeds", 20, "how `MANY` seeds"),
		f.String("faults", "", "none, light, full or timing; the scenario's own if not given"), f.String("bug", "", "plant the bug `ID`")}
}

// parse parses args, and returns the scenario with what the flags change in it.
func (f scenarioFlags) parse(args []string) (*scenario.Scenario, scenario.Overrides, error) {
	var over scenario.Overrides
	name := scenario.Default
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		name, args = args[0], args[1:]
	}
	if err := f.Parse(args); err != nil {
		return nil, over, err
	}
	if f.NArg() > 0 {
		return nil, over, fmt.Errorf("%s: expected one scenario, before the flags", f.Arg(0))
	}
	s, _, err := scenario.Source{ReadFile: os.ReadFile}.Open(name)
	if err != nil {
		return nil, over, err
	}
	if s == nil {
		return nil, over, fmt.Errorf("%s is a stored run, not a scenario", name)
	}
	if *f.level != "" {
		plan, err := scenario.NamedFaults(*f.level)
		if err != nil {
			return nil, over, err
		}
		over.Faults = &plan
	}
	if *f.bug != "" {
		over.Bugs = []faults.BugID{faults.BugID(*f.bug)}
	}
	return s, over, nil
}
