package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// wrongStores lists bugs that a store which is not durosim's own has, and what a seed of the bug's scenario over such a
// store must violate. What the simulation's own store repeats there is not what it would choose itself.
var wrongStores = []struct {
	bug      faults.BugID
	seed     uint64
	violated string
}{
	{"provider/filter-ignored", 1, "L03 S01 S02 expect provider"},
	{"provider/empty-filter-admits-unpinned", 2, "S03 provider"},
	{"provider/text-comparison", 1, "L02 L03 S01 S02 S22 provider"},
	{"provider/head-of-line-block", 1, "L02 L03 L04 S03 S22 outcome"},
	{"provider/session-blocks-queue", 1, "S22"},
	{"provider/session-owner-ignored", 3, "provider"},
	{"provider/tags-ignored", 1, "provider"},
}

func wrongStoresJudge() (uint64, string, string) {
	for _, w := range wrongStores {
		got, err := violatedOver(w.bug, w.seed)
		switch {
		case err != nil:
			return 0, "", fmt.Sprintf("%s: %v", w.bug, err)
		case got != w.violated:
			return 0, "", fmt.Sprintf("%s: violates %q, expected %q", w.bug, got, w.violated)
		}
	}
	return uint64(len(wrongStores)), "", ""
}

// violatedOver returns the properties that a run over a store with the bug violates, sorted.
func violatedOver(id faults.BugID, seed uint64) (string, error) {
	planted, err := faults.Plant("", id)
	if err != nil {
		return "", err
	}
	bug, _ := faults.Lookup(id)
	s, err := scenario.Lookup(bug.Scenario)
	if err != nil {
		return "", err
	}
	p, err := s.Expand(seed, scenario.Overrides{})
	if err != nil {
		return "", err
	}
	cfg := cluster.Config{Plan: p, Seed: seed, Store: another(planted.For("", "").Provider)}
	durosim.Run{}.Configure(&cfg, properties.Options{Expectations: s.Expect})
	r, err := cluster.Run(cfg)
	if err != nil {
		return "", err
	}
	var ids []string
	for _, v := range r.Violations {
		ids = append(ids, v.Property)
	}
	slices.Sort(ids)
	return strings.Join(slices.Compact(ids), " "), nil
}
