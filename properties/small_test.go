package properties_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
)

// deviation is a line `#! BUG...: EXPECTATION` or `#! BUG...: violates PROPERTY` in a small scenario. It says what must
// fail when the bugs are on. `line OLD -> NEW` in place of the bugs changes a line of the scenario instead.
type deviation struct {
	bugs     []faults.BugID
	old, new string
	expect   string // as the scenario writes it, without the word "expect"
	breaks   string // a property's id
}

func deviations(text string) (list []deviation, err error) {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "#! ")
		if !ok {
			continue
		}
		names, what, ok := strings.Cut(rest, ": ")
		if !ok {
			return nil, fmt.Errorf("%q: expected #! BUG: EXPECTATION", line)
		}
		d := deviation{expect: what}
		if change, ok := strings.CutPrefix(names, "line "); ok {
			if d.old, d.new, ok = strings.Cut(change, " -> "); !ok || strings.Count(text, "\n"+d.old+"\n") != 1 {
				return nil, fmt.Errorf("%q: expected #! line OLD -> NEW: EXPECTATION, and one such line", line)
			}
			names = ""
		}
		for _, name := range strings.Fields(names) {
			d.bugs = append(d.bugs, faults.BugID(name))
		}
		if id, ok := strings.CutPrefix(what, "violates "); ok {
			d.expect, d.breaks = "", id
		}
		list = append(list, d)
	}
	return list, nil
}

// smallScenario is a scenario with few seeds, and what must fail in it when bugs are on.
type smallScenario struct {
	*scenario.Scenario
	file, text string
	deviations []deviation
	builds     func() []*engine.Build
	// bugs are the scenario's own bugs, which are always on. If there are any, only the expectations are judged.
	bugs []faults.BugID
}

func parseSmall(t *testing.T, file, text string) *smallScenario {
	t.Helper()
	return parseSmallWith(t, file, text, engine.ShippedBuilds)
}

func parseSmallWith(t *testing.T, file, text string, builds func() []*engine.Build) *smallScenario {
	t.Helper()
	s := sample.Must(scenario.Parse(file, []byte(text), builds()...))(t)
	list, err := deviations(text)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return &smallScenario{Scenario: s, file: file, text: text, deviations: list, builds: builds, bugs: s.Template.Bugs}
}

// run runs one seed with the scenario's own bugs and the given ones.
func (s *smallScenario) run(t *testing.T, seed uint64, on []faults.BugID, o properties.Options) *cluster.Result {
	t.Helper()
	cfg := config(t, s.Scenario, seed, scenario.Overrides{Bugs: append(slices.Clone(s.bugs), on...)}, o)
	cfg.Builds = s.builds()
	return run(t, cfg)
}

// judged returns the scenario's expectations. Each always is also checked as a sometimes, because an event that never
// happens proves nothing.
func (s *smallScenario) judged() []plan.Expectation {
	list := slices.Clone(s.Expect)
	for _, e := range s.Expect {
		if e.Mode == plan.ModeAlways {
			e.Mode, e.Has = plan.ModeSometimes, nil
			list = append(list, e)
		}
	}
	return list
}

// check checks that everything holds, and that each deviation shows.
func (s *smallScenario) check(t *testing.T) {
	t.Helper()
	if s.Seeds.Count == 0 || s.Seeds.Count > 20 {
		t.Errorf("%s: %d seeds, expected 1 to 20", s.Name, s.Seeds.Count)
	}
	if len(s.Expect) == 0 || len(s.deviations) == 0 {
		t.Errorf("%s: %d expectations and %d deviations, expected some of both", s.Name, len(s.Expect), len(s.deviations))
	}
	o := properties.Options{Expectations: s.judged()}
	if len(s.bugs) > 0 {
		o.Properties = []string{}
	}
	seen := map[string]bool{}
	for seed := uint64(1); seed <= uint64(s.Seeds.Count); seed++ {
		r := s.run(t, seed, nil, o)
		for _, v := range r.Violations {
			t.Errorf("seed %d of %s: %s at %dms, node %q, instance %q: %s", seed, s.Name, v.Property, v.VirtualMs, v.Node, v.Instance, v.Message)
		}
		for _, p := range r.Coverage {
			seen[p.Name] = true
		}
		if len(r.Violations) > 0 {
			return
		}
	}
	for _, e := range o.Expectations {
		if e.Mode == plan.ModeSometimes && !seen[e.PointName()] {
			t.Errorf("%s, line %d: no seed shows what %q is about", s.Name, e.Line, e.Text)
		}
	}
	for _, point := range s.Require {
		if !seen[point] {
			t.Errorf("%s: no seed reaches %s", s.Name, point)
		}
	}
	for _, d := range s.deviations {
		s.deviates(t, d)
	}
}

// deviates checks that what the deviation names fails in at least one of the scenario's seeds when the bugs are on, and in
// that seed because of them.
func (s *smallScenario) deviates(t *testing.T, d deviation) {
	t.Helper()
	o := properties.Options{Properties: []string{d.breaks}}
	sometimes := false
	if d.breaks == "" {
		i := slices.IndexFunc(s.Expect, func(e plan.Expectation) bool {
			return strings.ReplaceAll(e.Text, `"`, "") == strings.ReplaceAll(d.expect, `"`, "")
		})
		if i < 0 {
			t.Errorf("%s: %v is to break %q, which it does not expect", s.Name, d.bugs, d.expect)
			return
		}
		o = properties.Options{Properties: []string{}, Expectations: s.Expect[i : i+1]}
		sometimes = s.Expect[i].Mode == plan.ModeSometimes
	}
	changed, what := s, fmt.Sprint(d.bugs)
	if d.old != "" {
		what = fmt.Sprintf("%q", d.new)
		if !strings.Contains(s.text, "\n"+d.old+"\n") {
			t.Errorf("%s has no line %q", s.Name, d.old)
		}
		other, err := scenario.Parse(s.file, []byte(strings.Replace(s.text, "\n"+d.old+"\n", "\n"+d.new+"\n", 1)), s.builds()...)
		if err != nil {
			t.Errorf("%s with %s: %v", s.Name, what, err)
			return
		}
		changed = &smallScenario{Scenario: other, builds: s.builds, bugs: s.bugs}
	}
	shown, sound := false, false
	shows := func(r *cluster.Result) bool {
		return sometimes && slices.ContainsFunc(r.Coverage, func(p cluster.Point) bool { return p.Name == o.Expectations[0].PointName() })
	}
	for seed := uint64(1); seed <= uint64(s.Seeds.Count); seed++ {
		r := changed.run(t, seed, d.bugs, o)
		if !sometimes && len(r.Violations) > 0 {
			if v := s.run(t, seed, nil, o).Violations; len(v) > 0 {
				t.Errorf("%s: seed %d fails without %s, too: %s", s.Name, seed, what, v[0].Message)
			}
			return
		}
		shown = shown || shows(r)
		sound = sound || sometimes && shows(s.run(t, seed, nil, o))
	}
	switch {
	case sometimes && !sound:
		t.Errorf("no seed of %s shows %q", s.Name, d.expect)
	case !sometimes:
		t.Errorf("%s: with %s, %s%s holds in every seed; what breaks: %v", s.Name, what, d.expect, d.breaks, changed.broken(t, d.bugs))
	case shown:
		t.Errorf("%s: with %s, a seed shows %q all the same; what breaks: %v", s.Name, what, d.expect, changed.broken(t, d.bugs))
	}
}

// broken returns the properties that are violated in any seed with these bugs.
func (s *smallScenario) broken(t *testing.T, on []faults.BugID) (list []string) {
	t.Helper()
	for seed := uint64(1); seed <= uint64(s.Seeds.Count); seed++ {
		for _, v := range s.run(t, seed, on, properties.Options{}).Violations {
			if !slices.Contains(list, v.Property) {
				list = append(list, v.Property)
			}
		}
	}
	slices.Sort(list)
	return list
}
