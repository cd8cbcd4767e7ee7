package properties_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/properties/internal/safety"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

var update = flag.Bool("update", false, "with DUROSIM_LONG=1, write the table of what only each checker finds into docs/checkers.md")

const (
	foundPage = "../docs/checkers.md"
	// foundSeeds is how many seeds of its scenario each planted bug runs in.
	foundSeeds  = 12
	secondJudge = "second judge"
)

// alsoJudges says which mistakes of a user a checker judges that finds no planted bug alone or first. A user's seeds do
// not have S24, which never judges released nodes.
var alsoJudges = map[string]string{
	"S03": "every filter, beside S01 and S02", "S04": "every attempt count",
	"S08": turnsOfReleased, "S09": turnsOfReleased, "S10": turnsOfReleased, "S12": turnsOfReleased, "S23": turnsOfReleased,
	"S16": "the sessions that released nodes take",
	"L01": "every poisoned message", "L03": "plans in which nobody admits some work", "L04": "plans in which rescue does not help",
	"L08": "nodes that hold work for too long", "L09": "plans that leave work to builds that are gone", "L10": "nodes that ignore a cancel",
	"L11": "plans in which nobody serves a tag", "L12": "nodes that do not act on poison",
}

const turnsOfReleased = "turns of released nodes"

type judgeFinds struct {
	names       int      // planted bugs that it names
	only, early []string // those that in some seed only it names, or that it names in an earlier step than any other
}

// TestWhatOnlyEachCheckerFinds checks that each checker has a line in docs/checkers.md, with a bug that it alone names
// or names first, or with the mistakes of users that it judges. A checker without either should go. With
// DUROSIM_LONG=1 and -update, it writes the table, which takes minutes.
func TestWhatOnlyEachCheckerFinds(t *testing.T) {
	page := sample.Must(os.ReadFile(foundPage))(t)
	if *update && sample.All() {
		before, rest, _ := strings.Cut(string(page), "<!-- checkers -->\n")
		_, after, _ := strings.Cut(rest, "<!-- end checkers -->")
		page = []byte(before + "<!-- checkers -->\n" + foundTable(foundIn(t)) + "<!-- end checkers -->" + after)
		sample.OK(t, os.WriteFile(foundPage, page, 0o666))
	}
	rows := map[string][]string{}
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(strings.Trim(line, "| \n"), " | "); strings.HasPrefix(line, "| ") && len(cells) >= 5 {
			rows[cells[0]] = cells
		}
	}
	for _, id := range judges() {
		row := rows[id]
		switch {
		case row == nil && namedRule(id):
			t.Errorf("%s has no line for %s: DUROSIM_LONG=1 go test ./properties -run WhatOnly -update", foundPage, id)
		case row != nil && row[2] == "0" && row[3] == "0" && alsoJudges[id] == "":
			t.Errorf("%s finds no bug alone or first, and judges no user's mistake: it should go", id)
		}
	}
	for _, bug := range regexp.MustCompile("`([a-z0-9.-]+/[a-z0-9-]+)`").FindAllStringSubmatch(string(page), -1) {
		if _, ok := faults.Lookup(faults.BugID(bug[1])); !ok {
			t.Errorf("%s names %s, which is no bug", foundPage, bug[1])
		}
	}
}

// judges returns the ids of the properties, and the second judge.
func judges() []string {
	ids := []string{secondJudge}
	for _, p := range properties.Catalogue() {
		ids = append(ids, p.ID)
	}
	slices.Sort(ids[1:])
	return ids
}

// namedRule reports whether a property has a rule of its own, and not only the second judge.
func namedRule(id string) bool { return id[0] != 'S' || slices.Contains(safety.IDs(), id) }

// foundIn runs each planted bug with every judge.
func foundIn(t *testing.T) map[string]*judgeFinds {
	var mu sync.Mutex
	all := map[string]*judgeFinds{}
	next := make(chan faults.Bug)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for bug := range next {
				first := make([]map[string]uint64, foundSeeds) // by seed and judge, the step of the first violation
				for i := range first {
					first[i] = firstSteps(t, bug, uint64(i+1))
				}
				mu.Lock()
				for _, id := range judges() {
					if all[id] == nil {
						all[id] = &judgeFinds{}
					}
					all[id].count(string(bug.ID), id, first)
				}
				mu.Unlock()
			}
		})
	}
	for _, bug := range faults.Catalogue() {
		if bug.Caught() {
			next <- bug
		}
	}
	close(next)
	workers.Wait()
	return all
}

func (f *judgeFinds) count(bug, id string, first []map[string]uint64) {
	names, only, early := false, false, false
	for _, steps := range first {
		mine, ok := steps[id]
		if !ok {
			continue
		}
		names = true
		other := ^uint64(0)
		for judge, step := range steps {
			if judge != id {
				other = min(other, step)
			}
		}
		only = only || len(steps) == 1
		early = early || len(steps) > 1 && mine < other
	}
	switch {
	case only:
		f.only = append(f.only, bug)
	case early:
		f.early = append(f.early, bug)
	}
	if names {
		f.names++
	}
}

func firstSteps(t *testing.T, bug faults.Bug, seed uint64) map[string]uint64 {
	s, err := scenario.Lookup(bug.Scenario)
	if err != nil {
		t.Error(err)
		return nil
	}
	plan, err := s.Expand(seed, scenario.Overrides{Bugs: []faults.BugID{bug.ID}})
	if err != nil {
		t.Error(err)
		return nil
	}
	r, err := cluster.Run(cluster.Config{Plan: plan, Seed: seed, Monitor: func(w *cluster.World) cluster.Monitor {
		return properties.New(w, properties.Options{Expectations: s.Expect})
	}})
	if err != nil {
		t.Error(err)
		return nil
	}
	steps := map[string]uint64{}
	for _, v := range r.Violations {
		first := func(id string) {
			if step, ok := steps[id]; !ok || v.Step < step {
				steps[id] = v.Step
			}
		}
		alone := strings.HasPrefix(v.Message, "second judge: ")
		if !alone {
			first(v.Property)
		}
		if alone || v.Clause != "" {
			first(secondJudge)
		}
	}
	return steps
}

// foundTable formats the table, with the mutants that each judge was the first to see.
func foundTable(all map[string]*judgeFinds) string {
	matrix, _ := os.ReadFile("../docs/kill-matrix.md")
	b := &strings.Builder{}
	b.WriteString("| judge | bugs | only | earlier | mutants | for example, or what else it judges |\n|---|---|---|---|---|---|\n")
	for _, id := range judges() {
		f := all[id]
		if !namedRule(id) {
			continue
		}
		mutants := 0
		for _, m := range regexp.MustCompile(`\| scenario \| (S\d+|L\d+|outcome) \| (\d+) \|`).FindAllSubmatch(matrix, -1) {
			seen := string(m[1])
			if _, known := properties.ByID(seen); seen == id || id == secondJudge && known && !namedRule(seen) {
				n, _ := strconv.Atoi(string(m[2]))
				mutants += n
			}
		}
		slices.Sort(f.only)
		slices.Sort(f.early)
		var shown []string
		for _, bug := range append(f.only, f.early...) {
			shown = append(shown, "`"+bug+"`")
		}
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d | %s |\n", id, f.names, len(f.only), len(f.early), mutants,
			cmp.Or(strings.Join(shown[:min(3, len(shown))], " "), alsoJudges[id]))
	}
	return b.String()
}
