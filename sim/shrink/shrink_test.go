package shrink_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/durosim/durosim"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
	"github.com/durosim/durosim/sim/shrink"
	"github.com/durosim/durosim/sim/workload"
)

func TestMain(m *testing.M) { sample.Main(m) }

// caughtWithin is how many seeds it may take to catch a bug in its scenario.
const caughtWithin = 200

// medianSize is the largest allowed median size of the shrunk plans for all planted bugs.
const medianSize = 6

// shrinkRuns limits the runs of a search, so that the test takes only a few seconds.
const shrinkRuns = 4000

// TestShrinkEveryBug shrinks one failure for each planted bug, checks that the result is 1-minimal, and prints the
// sizes.
func TestShrinkEveryBug(t *testing.T) {
	catalogue := slices.Clone(faults.Catalogue())
	slices.Reverse(catalogue) // the first takes longest
	catalogue = sample.Of(catalogue, 90)
	shrunk := make([]*durosim.Shrunk, len(catalogue))
	t.Run("bugs", func(t *testing.T) {
		for i, bug := range catalogue {
			t.Run(string(bug.ID), func(t *testing.T) {
				t.Parallel()
				shrunk[i] = shrinkBug(t, bug)
				checkMinimal(t, shrunk[i])
			})
		}
	})
	var table strings.Builder
	var sizes []int
	for i, s := range shrunk {
		if s == nil {
			continue // reported above, or not shrunk
		}
		size := s.Size()
		sizes = append(sizes, size.Total())
		fmt.Fprintf(&table, "%-40s %-4s %3d  steps %d  instances %d  faults %d  choices %d  from %5d  runs %d\n",
			catalogue[i].ID, s.First.Property, size.Total(), size.Steps, size.Instances, size.Faults, size.Choices, s.From.Total(), s.Runs)
	}
	slices.Sort(sizes)
	t.Logf("sizes of shrunk plans\n%smedian %d of %d", table.String(), sizes[len(sizes)/2], len(sizes))
	if sizes[len(sizes)/2] > medianSize {
		t.Errorf("the median size is %d, more than %d", sizes[len(sizes)/2], medianSize)
	}
}

// shrinkBug shrinks the first seed in which a bug causes a failure.
func shrinkBug(t *testing.T, bug faults.Bug) *durosim.Shrunk {
	t.Helper()
	s := sample.Must(scenario.Lookup(bug.Scenario))(t)
	for seed := uint64(1); seed <= caughtWithin; seed++ {
		c, property := recordRun(t, s, seed, bug)
		if property == "" {
			continue
		}
		return sample.Must(durosim.Shrink(c, durosim.ShrinkOptions{Property: property, MaxRuns: shrinkRuns}))(t)
	}
	t.Fatalf("no failing seed in %d", caughtWithin)
	return nil
}

// recordRun runs a seed with a bug. It returns the run as a concrete plan, and the first of the bug's properties that
// the run violates.
func recordRun(t *testing.T, s *scenario.Scenario, seed uint64, bug faults.Bug) (c shrink.Concrete, property string) {
	t.Helper()
	plan := sample.Must(s.Expand(seed, scenario.Overrides{Bugs: []faults.BugID{bug.ID}}))(t)
	c = shrink.Concrete{Plan: plan, Choices: &sim.Recording{}}
	for _, v := range runConcrete(t, c, sim.Random(seed)) {
		if slices.Contains(bug.Properties, v.Property) {
			property = v.Property
			break
		}
	}
	if property != "" {
		sample.Must(cluster.Run(cluster.Config{Plan: plan, Seed: seed, Recording: c.Choices, Monitor: everything}))(t)
	}
	return c, property
}

func everything(w *cluster.World) cluster.Monitor { return properties.New(w, properties.Options{}) }

func runConcrete(t *testing.T, c shrink.Concrete, chooser sim.Chooser) []cluster.Violation {
	t.Helper()
	r, err := cluster.Run(cluster.Config{Plan: c.Plan, Chooser: chooser, Monitor: everything})
	if err != nil {
		return nil // an invalid plan shows no violation
	}
	return r.Violations
}

// checkMinimal removes each part of a shrunk plan on its own and checks that the violation is then gone.
func checkMinimal(t *testing.T, s *durosim.Shrunk) {
	t.Helper()
	if !s.Minimal {
		t.Errorf("not minimal within the bound: %d runs", s.Runs)
		return
	}
	for _, smaller := range withoutEach(s.Concrete) {
		violates := func(c shrink.Concrete) bool {
			found := runConcrete(t, c, sim.Replay(c.Choices))
			return slices.ContainsFunc(found, func(v cluster.Violation) bool { return v.Property == s.First.Property })
		}
		right := *smaller.c.Plan
		right.Bugs = nil
		if violates(smaller.c) && !violates(shrink.Concrete{Plan: &right, Choices: smaller.c.Choices}) {
			t.Errorf("%s can be left out:\n%s", smaller.what, scenario.Format(s.Plan))
		}
	}
}

// smaller is a plan with one part removed.
type smaller struct {
	what string
	c    shrink.Concrete
}

// withoutEach returns all plans with one part removed. It deliberately shares no code with the shrinker.
func withoutEach(c shrink.Concrete) (all []smaller) {
	add := func(what string, change func(p *plan.Plan, r *sim.Recording)) {
		p, r := *c.Plan, *c.Choices
		p.Schedule, p.Nodes, p.Instances = slices.Clone(p.Schedule), slices.Clone(p.Nodes), slices.Clone(p.Instances)
		p.Histories, p.Probes, p.Faults.Rates = slices.Clone(p.Histories), slices.Clone(p.Probes), slices.Clone(p.Faults.Rates)
		r.Choices, r.Priorities = slices.Clone(r.Choices), slices.Clone(r.Priorities)
		change(&p, &r)
		all = append(all, smaller{what, shrink.Concrete{Plan: &p, Choices: &r, Expect: c.Expect}})
	}
	if c.Plan.Patience != (plan.Patience{}) {
		add("patience", func(p *plan.Plan, _ *sim.Recording) { p.Patience = plan.Patience{} })
	}
	for i, s := range c.Plan.Schedule {
		add("step "+string(s.Verb)+" "+s.Node, func(p *plan.Plan, _ *sim.Recording) { p.Schedule = slices.Delete(p.Schedule, i, i+1) })
	}
	for i, n := range c.Plan.Nodes {
		add("node "+n.Name, func(p *plan.Plan, _ *sim.Recording) {
			p.Nodes = slices.Delete(p.Nodes, i, i+1)
			p.Schedule = slices.DeleteFunc(p.Schedule, func(s plan.Step) bool { return s.Node == n.Name })
			p.Faults.Rates = slices.DeleteFunc(p.Faults.Rates, func(r faults.Rate) bool { return r.Node == n.Name })
		})
		if n.Absent {
			add("absent of node "+n.Name, func(p *plan.Plan, _ *sim.Recording) { p.Nodes[i].Absent = false })
		}
		for j, o := range n.Options {
			add("option "+o.Name, func(p *plan.Plan, _ *sim.Recording) {
				p.Nodes[i].Options = slices.Delete(slices.Clone(n.Options), j, j+1)
			})
		}
	}
	for i, in := range c.Plan.Instances {
		add("instance "+in.ID, func(p *plan.Plan, _ *sim.Recording) { p.Instances = slices.Delete(p.Instances, i, i+1) })
		for j, a := range in.Actions {
			if a.Verb == plan.ActionCancel && in.Expect != "" && in.Expect != plan.EndAny {
				continue // the plan's expectations make no sense without it
			}
			add("action on "+in.ID, func(p *plan.Plan, _ *sim.Recording) {
				p.Instances[i].Actions = slices.Delete(slices.Clone(in.Actions), j, j+1)
			})
		}
	}
	for i, h := range c.Plan.Histories {
		add("history "+h.Instance, func(p *plan.Plan, _ *sim.Recording) { p.Histories = slices.Delete(p.Histories, i, i+1) })
	}
	for i, b := range c.Plan.Probes {
		add("probe "+b.Name, func(p *plan.Plan, _ *sim.Recording) { p.Probes = slices.Delete(p.Probes, i, i+1) })
	}
	for i, r := range c.Plan.Faults.Rates {
		add("fault "+string(r.Kind), func(p *plan.Plan, _ *sim.Recording) { p.Faults.Rates = slices.Delete(p.Faults.Rates, i, i+1) })
	}
	for i, choice := range c.Choices.Choices {
		add("choice "+choice.Key.String(), func(_ *plan.Plan, r *sim.Recording) { r.Choices = slices.Delete(r.Choices, i, i+1) })
	}
	for i, choice := range c.Choices.Priorities {
		add("priority "+choice.Key.String(), func(_ *plan.Plan, r *sim.Recording) { r.Priorities = slices.Delete(r.Priorities, i, i+1) })
	}
	return all
}

func TestShrinkIsAlwaysTheSame(t *testing.T) {
	bug, _ := faults.Lookup("provider/expiry-not-checked")
	s := sample.Must(scenario.Lookup(bug.Scenario))(t)
	c, property := recordRun(t, s, 1, bug)
	var texts [2]string
	for i := range texts {
		got := sample.Must(durosim.Shrink(c, durosim.ShrinkOptions{Property: property}))(t)
		e := scenario.Entry{Plan: got.Plan, Recording: got.Choices, Mode: scenario.ModeRecorded, Verdict: scenario.Violates(property), Digest: got.Result.Digest.String()}
		texts[i] = string(e.Format())
	}
	if texts[0] != texts[1] {
		t.Errorf("two ways to shrink one failure:\n%s\n%s", texts[0], texts[1])
	}
}

// TestShrinkNamesPlainly checks that what is left of a load is numbered from 1, and nodes are lettered from A, where the
// plan still fails: of many instances and three nodes, the numbers and letters of the few that remain say nothing.
func TestShrinkNamesPlainly(t *testing.T) {
	for _, id := range sample.Of([]faults.BugID{"provider/delete-leaves-messages", "engine/stale-completion-accepted"}, 2) {
		bug, _ := faults.Lookup(id)
		got := shrinkBug(t, bug)
		for i, n := range got.Plan.Nodes {
			if want := string(rune('A' + i)); n.Name != want {
				t.Errorf("%s: node %s, want %s:\n%s", id, n.Name, want, got.Text())
			}
		}
		for i, in := range got.Plan.Instances {
			if want := fmt.Sprintf("%s-%d", in.Orchestration, i+1); in.ID != want {
				t.Errorf("%s: instance %s, want %s:\n%s", id, in.ID, want, got.Text())
			}
		}
	}
}

// TestShrinkRoundsTimes checks that a time that cannot be earlier is at least round, if the failure stays.
func TestShrinkRoundsTimes(t *testing.T) {
	for _, c := range []struct{ from, until, at, want time.Duration }{
		{1234 * time.Millisecond, time.Hour, 1717 * time.Millisecond, 2 * time.Second},
		{1234 * time.Millisecond, 1299 * time.Millisecond, 1234 * time.Millisecond, 1240 * time.Millisecond},
		{1234 * time.Millisecond, 1235 * time.Millisecond, 1234 * time.Millisecond, 1234 * time.Millisecond},
		{500 * time.Millisecond, time.Hour, 2 * time.Minute, time.Second},
	} {
		got, err := shrink.Minimize(shrink.Concrete{
			Plan:    &plan.Plan{Name: "late", Instances: []plan.Instance{{ID: "i", Orchestration: "Echo", StartAt: c.at}}},
			Choices: &sim.Recording{},
		}, shrink.Options{Fails: func(x shrink.Concrete, _ sim.Chooser, _ *sim.Recording) (bool, error) {
			return len(x.Plan.Instances) > 0 && x.Plan.Instances[0].StartAt >= c.from && x.Plan.Instances[0].StartAt <= c.until, nil
		}})
		sample.OK(t, err)
		if at := got.Plan.Instances[0].StartAt; at != c.want || !got.Minimal {
			t.Errorf("fails from %v to %v: a start at %v becomes %v, want %v (minimal: %v)", c.from, c.until, c.at, at, c.want, got.Minimal)
		}
	}
}

// TestShrinkRefuses checks that a run without the violation is not shrunk, and that the limit on runs is respected.
func TestShrinkRefuses(t *testing.T) {
	bug, _ := faults.Lookup("provider/filter-after-lock")
	s := sample.Must(scenario.Lookup(bug.Scenario))(t)
	c, property := recordRun(t, s, 1, bug)
	if _, err := durosim.Shrink(c, durosim.ShrinkOptions{Property: "S17"}); err == nil {
		t.Error("a plan was shrunk that does not violate the property")
	}
	if _, err := durosim.Shrink(shrink.Concrete{}, durosim.ShrinkOptions{Property: property}); err == nil {
		t.Error("nothing was shrunk")
	}
	got := sample.Must(durosim.Shrink(c, durosim.ShrinkOptions{Property: property, MaxRuns: 10}))(t)
	if got.Minimal || got.Runs > 14 || got.First.Property != property {
		t.Errorf("with a bound of 10 runs: %d runs, minimal %v, %s", got.Runs, got.Minimal, got.First.Property)
	}
}

// TestShrunkPlansReadBack checks that what is left of a plan without any one of its parts is in its text: a stored run
// and the plan that a report prints hold no more than that. Work goes first, so that the rest is soon tried.
func TestShrunkPlansReadBack(t *testing.T) {
	defaults := cmp.Comparer(func(a, b plan.Patience) bool { return a.Or() == b.Or() })
	for _, n := range sample.Of(scenario.Builtin(), 12) {
		s := sample.Must(scenario.Parse(n.File, n.Text))(t)
		p := sample.Must(s.Expand(1, scenario.Overrides{}))(t)
		candidates, least := 0, 1<<20
		_, err := shrink.Minimize(shrink.Concrete{Plan: p, Choices: &sim.Recording{}}, shrink.Options{
			MaxRuns: 400,
			Fails: func(x shrink.Concrete, _ sim.Chooser, _ *sim.Recording) (bool, error) {
				if err := x.Plan.Validate(workload.Known()); err != nil {
					return false, err
				}
				work := len(x.Plan.Instances) + len(x.Plan.Histories) + x.Plan.Programs.Statements()
				if work > 10 && candidates > 0 {
					less := work < least
					least = min(least, work)
					return less, nil
				}
				candidates++
				back, err := scenario.Parse("plan.txt", scenario.Format(x.Plan))
				if err != nil {
					t.Fatalf("%s: %v\n%s", n.Name, err, scenario.Format(x.Plan))
				}
				if diff := cmp.Diff(x.Plan, &back.Template, cmpopts.EquateEmpty(), defaults); diff != "" {
					t.Fatalf("%s: read back it is another plan (-was +is):\n%s\n%s", n.Name, diff, scenario.Format(x.Plan))
				}
				return candidates == 1, nil
			},
		})
		sample.OK(t, err)
		if candidates < 10 {
			t.Errorf("%s: %d candidates were tried", n.Name, candidates)
		}
	}
}
