package workload_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/workload"
)

// TestFuzzInputs in package properties covers every part of a plan that edits change. The tests here are about the
// limits of a space.
func TestBoundsHold(t *testing.T) {
	s := sample.Must(scenario.Parse("small.txt", []byte("nodes A B run 1.5.0\ninstance one runs Chain with 3\nat 2s upgrade A to 2.0.0\n")))(t)
	base := sample.Must(s.Expand(1, scenario.Overrides{}))(t)
	space := workload.EditSpace()
	space.Nodes, space.Instances, space.Steps, space.Statements = 3, 2, 4, 12
	space.Builds, space.Faults, space.Handlers = []string{"1.5.0"}, nil, nil
	grown := map[string]bool{}
	for kind := range plan.EditKinds() {
		for n := range 40 {
			var data []byte
			for i := range 10 {
				data = append(data, byte(kind), byte(n*7+i), byte(n*13+i*5))
			}
			p := space.Apply(base, data)
			within := map[string][2]int{
				"nodes": {len(p.Nodes), 3}, "instances": {len(p.Instances) + len(p.Histories), 2}, "steps": {len(p.Schedule), 4},
				"statements": {p.Programs.Statements(), 12}, "faults": {len(p.Faults.Rates), 0},
			}
			for what, v := range within {
				if v[0] > v[1] {
					t.Fatalf("edit %q gives %d %s, more than %d", plan.EditKinds()[kind], v[0], what, v[1])
				}
				grown[what] = grown[what] || v[0] == v[1]
			}
			for _, node := range p.Nodes {
				if node.Build != "1.5.0" {
					t.Fatalf("node %s runs %s", node.Name, node.Build)
				}
			}
			for _, step := range p.Schedule {
				if step.Verb == plan.VerbDeregister {
					t.Fatalf("a node forgets %s", step.Handler)
				}
			}
		}
	}
	for _, what := range []string{"nodes", "instances", "steps"} {
		if !grown[what] {
			t.Errorf("no plan has as many %s as it may", what)
		}
	}
	space = workload.EditSpace()
	space.NoPrograms = true
	for n := range 200 {
		if p := space.Apply(base, []byte(strings.Repeat(string(rune(n%128)), 30))); len(p.Programs) > 0 {
			t.Fatalf("a plan has programs: %v", p.Programs)
		}
	}
}

// In a fleet without standard semantics, rescue would start a shipped build for the pin 1.5.0.
func TestAddedHistoriesKeepTheSemantics(t *testing.T) {
	s := sample.Must(scenario.Parse("own.txt", []byte("build 0.2.0 like 2.0.0\n  semantics discard from 0.1.31\nnode A runs 0.1.32\nat 2s upgrade A to 0.2.0\n")))(t)
	base := sample.Must(s.Expand(1, scenario.Overrides{}))(t)
	space := workload.EditSpace()
	space.Builds = []string{"0.1.32", "0.2.0"}
	for place := range 40 {
		p := space.Apply(base, []byte{byte(slices.Index(plan.EditKinds(), "add a history")), byte(place), 7})
		if len(p.Histories) != 1 || p.Histories[0].Pin.String() != "0.1.32" {
			t.Fatalf("place %d: histories %+v: want one, pinned by the oldest build", place, p.Histories)
		}
	}
}

// TestEditedAgainReadsBack checks that a plan that a hunt has edited, and that a later one edits again, can be read from
// its text, in which a corpus keeps it.
func TestEditedAgainReadsBack(t *testing.T) {
	s := sample.Must(scenario.Parse("small.txt", []byte("nodes A B run 1.5.0\ninstance one runs Chain with 3\nat 2s upgrade A to 2.0.0\n")))(t)
	space := workload.EditSpace()
	for kind, name := range plan.EditKinds() {
		p, edited := sample.Must(s.Expand(1, scenario.Overrides{}))(t), 0
		for place := range 12 {
			next := space.Apply(p, []byte{byte(kind), byte(place), byte(place * 17)})
			text := string(scenario.Format(next))
			if text != string(scenario.Format(p)) {
				edited++
			}
			if _, err := scenario.Parse("plan.txt", []byte(text)); err != nil {
				t.Fatalf("edit %q, for the time %d: %v\n%s", name, edited, err, text)
			}
			p = next
		}
		if name == "add a probe" && edited < 12 {
			t.Errorf("edit %q: %d of 12 did something", name, edited)
		}
	}
}
