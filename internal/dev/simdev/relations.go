package main

import (
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/internal/dev/relation"
	"github.com/durosim/durosim/internal/dev/selfcheck"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// relations implements `simdev relations`: it runs each seed of a scenario and, for each relation, a twin whose plan
// differs in a way that must not matter. Every instance that both have must end the same way. The exit status is 4 if
// one does not.
func relations(args []string) error {
	f := newScenarioFlags("relations")
	only := f.String("only", "", "compare this relation only, `NAME`")
	s, over, err := f.parse(args)
	if err != nil {
		return err
	}
	return compare(s, over, *only, *f.first, *f.seeds)
}

// watched returns the configuration of a run, whose monitor says when all work has ended.
func watched() cluster.Config {
	var cfg cluster.Config
	durosim.Run{Monitor: selfcheck.Watch}.Configure(&cfg, properties.Options{})
	return cfg
}

func compare(s *scenario.Scenario, over scenario.Overrides, only string, first, seeds uint64) error {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "relation\tseeds\tinstances\tdiffering\twhat must not matter")
	found, differs := only == "", ""
	for _, r := range relation.All() {
		if only != "" && r.Name != only {
			continue
		}
		found = true
		compared, instances, differing, skipped := 0, 0, 0, ""
		for seed := first; seed < first+seeds; seed++ {
			p, err := s.Expand(seed, over)
			if err != nil {
				return err
			}
			c, err := r.Compare(relation.Run{Plan: p, Seed: seed, Config: watched})
			if err != nil {
				return fmt.Errorf("seed %d, relation %s: %w", seed, r.Name, err)
			}
			if skipped = c.Skipped; skipped != "" {
				break
			}
			compared, instances = compared+1, instances+c.Instances
			if d := c.Difference; d != nil {
				if differing++; differing == 1 {
					differs += fmt.Sprintf("\n%s: seed %d, instance %s, %s\n  without   %s\n  with      %s\n", r.Name, seed, d.Instance, d.What, d.Was, d.Is)
				}
			}
		}
		if compared == 0 {
			fmt.Fprintf(t, "%s\t-\t-\t-\tnot compared: %s\n", r.Name, skipped)
			continue
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\n", r.Name, compared, instances, differing, r.Summary)
	}
	if !found {
		return fmt.Errorf("-only %q: there is no such relation", only)
	}
	t.Flush()
	if fmt.Print(differs); differs != "" {
		return errFound
	}
	return nil
}
