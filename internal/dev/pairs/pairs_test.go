package pairs

import (
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// TestNothingIsLeftOut checks that each statement, each word of its form, each step, option and feature is in a part, or
// that parts.txt says why it is in none.
func TestNothingIsLeftOut(t *testing.T) {
	parts, excluded := Parts()
	has := func(word, begins string) bool {
		return slices.ContainsFunc(parts, func(p Part) bool {
			return slices.ContainsFunc(p.lines, func(l string) bool {
				return strings.HasPrefix(l+" ", begins+" ") && slices.Contains(strings.Fields(l), word)
			})
		})
	}
	want := func(word, begins, name string) {
		t.Helper()
		if i := slices.IndexFunc(excluded, func(e Exclusion) bool { return e.Two == "" && e.One == name }); (i >= 0) == has(word, begins) {
			t.Errorf("%s: expected a part with it in parts.txt, or a line \"never %s: WHY\", and not both", name, name)
		}
	}
	for _, s := range scenario.Statements() {
		begins := s.Name
		if s.Name == "node" {
			begins = "node D"
		}
		if s.Corpus || s.Name == "require" || s.Name == "fuzz" || s.Name == "expect" {
			continue
		}
		want(s.Name, s.Name, s.Name)
		if slices.ContainsFunc(excluded, func(e Exclusion) bool { return e.Two == "" && e.One == s.Name }) {
			continue
		}
		for _, word := range strings.FieldsFunc(s.Form, func(r rune) bool { return strings.ContainsRune(" []|", r) }) {
			if word[0] >= 'a' && word[0] <= 'z' && word != s.Name && word != "end" {
				want(word, strings.Fields(begins)[0], s.Name+" "+word)
			}
		}
	}
	for _, s := range scenario.Steps() {
		if !has(s.Name, "at") && !has(s.Name, "after") {
			t.Errorf("step %s: expected a part with it in parts.txt", s.Name)
		}
	}
	for _, name := range node.OptionNames() {
		want(name, "option", "option "+name)
	}
	for _, f := range properties.Features() {
		want(f.Name, "feature", "feature "+f.Name)
	}
}

// TestFeatures checks that the part of a feature shows that feature.
func TestFeatures(t *testing.T) {
	parts, _ := Parts()
	var faults []Part
	for _, p := range parts {
		if slices.Contains([]string{"fault slow-turn 1 in 6", "fault late-activity 1 in 6", "fault activity-panic 1 in 6"}, p.Name) {
			faults = append(faults, p)
		}
	}
	for _, p := range parts {
		feature, ok := strings.CutPrefix(p.Name, "feature ")
		if !ok {
			continue
		}
		shown := false
		for seed := uint64(1); seed <= 40 && !shown; seed++ {
			_, points, err := Run(append([]Part{p}, faults...), seed, true)
			if err != nil {
				t.Fatal(err)
			}
			shown = slices.ContainsFunc(points, func(c cluster.Point) bool {
				return c.Name == properties.Met("slow-turn", feature) || c.Name == properties.Met("activity-panic", feature)
			})
		}
		if !shown {
			t.Errorf("%s is not used in 40 runs", p.Name)
		}
	}
}

// TestExclusions checks that each exclusion is about parts that the language lets meet, and that plans have all others.
func TestExclusions(t *testing.T) {
	parts, excluded := Parts()
	for _, e := range excluded {
		found := e.Two == ""
		for i := range parts {
			for j := range parts {
				found = found || e.of(parts[i], parts[j]) && Refused([]Part{parts[i], parts[j]}) == nil
			}
		}
		if !found || e.Why == "" {
			t.Errorf("never %s + %s: expected two parts that could meet, and a reason", e.One, e.Two)
		}
	}
	apart, err := Apart(parts, excluded)
	if err != nil {
		t.Fatal(err)
	}
	met := map[string]bool{}
	plans := Cover(parts, apart, 10)
	for _, p := range plans {
		if err := Refused(p); err != nil || len(p) > 10 {
			t.Fatalf("%d parts: %v\n%s", len(p), err, Text(p))
		}
		for _, one := range p {
			for _, two := range p {
				met[one.Name+"\n"+two.Name] = true
			}
		}
	}
	for j := range parts {
		for i := range j {
			if is, never := met[parts[i].Name+"\n"+parts[j].Name], apart[[2]int{i, j}] != ""; is == never {
				t.Errorf("%s + %s: they meet: %t, and they cannot: %t", parts[i].Name, parts[j].Name, is, never)
			}
		}
	}
}
