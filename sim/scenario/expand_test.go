package scenario

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/plan"
)

const story = `nodes A B run 1.5.0
instance order-1 runs ProcessOrder at 1s..3s
  raise approval after 2s..5s
  raise approval after 2s..5s
  cancel at 20s..30s
instance order-2 runs ProcessOrder at 1s..3s
history old runs ProcessOrder@1.0.0 unpinned shape waiting kick at 1s..9s
probe P reads 2.0.0 filter any from 1s..9s
load 10 instances from 1s over 20s
  mix 2 Chain with 2..60
  mix 1 Approval with 1s..8s
    raise approval after 1s..9s
at 5s..9s mark "one"
then upgrade A to 2.0.0
after 1s..3s crash B
after 2s start B
at 15s..20s pause A for 1s..4s
`

func mustParse(t *testing.T, text string) *Scenario {
	t.Helper()
	return sample.Must(Parse("x.txt", []byte(text)))(t)
}

func mustExpand(t *testing.T, s *Scenario, seed uint64, o Overrides) *plan.Plan {
	t.Helper()
	return sample.Must(s.Expand(seed, o))(t)
}

// TestExpandPinned: the draws of a seed are part of the format; a change alters the meaning of every seed.
func TestExpandPinned(t *testing.T) {
	const want = `scenario x

node A runs 1.5.0
node B runs 1.5.0

history old runs ProcessOrder@1.0.0 unpinned shape waiting kick at 5.624s

instance order-1 runs ProcessOrder at 2.535s
  raise approval at 6.977s
  raise approval at 6.187s
  cancel at 27.52s
instance order-2 runs ProcessOrder at 2.096s
instance Chain-1 runs Chain with 51 at 8.856s
instance Chain-2 runs Chain with 10 at 19.08s
instance Approval-3 runs Approval with 1.8s at 7.519s
  raise approval at 10.295s

probe P reads 2.0.0 filter any from 8.853s

at 7.12s mark "one"
at 7.12s upgrade A to 2.0.0
at 9.686s crash B
at 11.686s start B
at 19.715s pause A for 2.681s
`
	p := mustExpand(t, mustParse(t, story), 1, Overrides{Instances: 3})
	if diff := cmp.Diff(want, string(Format(p))); diff != "" {
		t.Errorf("(-want +have)\n%s", diff)
	}
}

// TestExpandDraws checks that one seed always gives the same plan, that seeds differ, and that draws lie in their ranges
// and vary.
func TestExpandDraws(t *testing.T) {
	s := mustParse(t, story)
	starts := map[time.Duration]bool{}
	mixed := map[string]bool{}
	for seed := range uint64(200) {
		p := mustExpand(t, s, seed, Overrides{})
		if diff := cmp.Diff(p, mustExpand(t, mustParse(t, story), seed, Overrides{})); diff != "" {
			t.Fatalf("seed %d gives two plans:\n%s", seed, diff)
		}
		in := func(what string, have, lo, hi time.Duration) {
			t.Helper()
			if have < lo || have > hi {
				t.Errorf("seed %d: %s is at %v, not in %v..%v", seed, what, have, lo, hi)
			}
		}
		order := p.Instances[0]
		in("order-1", order.StartAt, 1*time.Second, 3*time.Second)
		in("first raise", order.Actions[0].At, order.StartAt+2*time.Second, order.StartAt+5*time.Second)
		in("second raise", order.Actions[1].At, order.StartAt+2*time.Second, order.StartAt+5*time.Second)
		in("cancel", order.Actions[2].At, 20*time.Second, 30*time.Second)
		in("kick", p.Histories[0].KickAt, 1*time.Second, 9*time.Second)
		in("probe", p.Probes[0].From, 1*time.Second, 9*time.Second)
		in("mark", p.Schedule[0].At, 5*time.Second, 9*time.Second)
		in("upgrade", p.Schedule[1].At, p.Schedule[0].At, p.Schedule[0].At)
		in("crash", p.Schedule[2].At, p.Schedule[1].At+time.Second, p.Schedule[1].At+3*time.Second)
		in("start", p.Schedule[3].At, p.Schedule[2].At+2*time.Second, p.Schedule[2].At+2*time.Second)
		in("pause", p.Schedule[4].For, 1*time.Second, 4*time.Second)
		starts[order.StartAt] = true
		if len(p.Instances) != 12 {
			t.Fatalf("seed %d: %d instances", seed, len(p.Instances))
		}
		for i, l := range p.Instances[2:] {
			in(l.ID, l.StartAt, 1*time.Second, 21*time.Second)
			mixed[l.Orchestration] = true
			if want := fmt.Sprintf("%s-%d", l.Orchestration, i+1); l.ID != want {
				t.Errorf("seed %d: instance %s, want %s", seed, l.ID, want)
			}
			if l.Orchestration == "Approval" {
				in(l.ID, l.Actions[0].At, l.StartAt+time.Second, l.StartAt+9*time.Second)
				in("input of "+l.ID, sample.Must(time.ParseDuration(l.Input))(t), 1*time.Second, 8*time.Second)
			}
		}
	}
	if len(starts) < 150 || len(mixed) != 2 {
		t.Errorf("200 seeds gave %d starts of order-1 and %d orchestrations", len(starts), len(mixed))
	}
}

// TestExpandIndependent checks that an addition changes nothing else.
func TestExpandIndependent(t *testing.T) {
	base := mustParse(t, story)
	for _, more := range []struct{ name, before, insert string }{
		{"node", "instance order-1", "node C runs 2.0.0\n"},
		{"instance", "instance order-1", "instance order-0 runs Chain at 1s..9s\n  cancel after 1s..3s\n"},
		{"action", "instance order-2", "  raise other after 2s..5s\n"},
		{"step", "at 15s..20s", "at 10s..12s crash A\n"},
		{"mark", "at 15s..20s", "at 10s..12s mark \"two\"\n"},
		{"probe", "probe P", "probe Q reads 1.5.0 filter none from 1s..5s\n"},
		{"history", "history old", "history older runs Leaf unpinned shape corrupt kick at 1s..5s\n"},
	} {
		longer := mustParse(t, strings.Replace(story, more.before, more.insert+more.before, 1))
		for seed := range uint64(20) {
			lines := map[string]int{}
			for line := range strings.Lines(string(Format(mustExpand(t, longer, seed, Overrides{Instances: 11})))) {
				lines[line]++
			}
			for line := range strings.Lines(string(Format(mustExpand(t, base, seed, Overrides{})))) {
				if lines[line]--; lines[line] < 0 {
					t.Errorf("one more %s, seed %d: this line is gone or has changed: %s", more.name, seed, line)
				}
			}
		}
	}
}

func TestExpandOverrides(t *testing.T) {
	s := mustParse(t, story+"faults light\nbug provider/any-range\nbudget 100 steps")
	before := string(s.Format())
	full := faults.Full()
	o := Overrides{
		Faults: &full, Profile: plan.ProfileDuroxide, Strategy: plan.StrategyBounce, Bugs: []faults.BugID{"provider/ack-partial"}, Instances: 2, StepBudget: 9,
	}
	p := mustExpand(t, s, 1, o)
	if !cmp.Equal(p.Faults, full) || p.Profile != o.Profile || p.Strategy != o.Strategy || !cmp.Equal(p.Bugs, o.Bugs) || p.StepBudget != 9 {
		t.Errorf("the overrides are not in the plan:\n%s", Format(p))
	}
	if len(p.Instances) != 4 {
		t.Errorf("%d instances, want two and two of the load", len(p.Instances))
	}
	if p = mustExpand(t, s, 1, Overrides{Bugs: []faults.BugID{}}); len(p.Bugs) != 0 {
		t.Errorf("an empty list of bugs leaves %v", p.Bugs)
	}
	p = mustExpand(t, s, 1, Overrides{})
	if !cmp.Equal(p.Faults, faults.Light()) || p.Profile != plan.ProfileContract || len(p.Bugs) != 1 || p.StepBudget != 100 {
		t.Errorf("without overrides the plan is not the scenario's own:\n%s", Format(p))
	}
	// A plan shares nothing with the scenario.
	p.Nodes[0].Build, p.Schedule[0].Mark, p.Instances[0].Actions[0].Name, p.Faults.Rates[0].Num, p.Bugs[0] = "", "", "", 99, ""
	if string(s.Format()) != before {
		t.Error("changing a plan changed the scenario")
	}
}

func TestExpandErrors(t *testing.T) {
	plain := &Scenario{Name: "s"}
	for _, c := range []struct {
		s    *Scenario
		o    Overrides
		want string
	}{
		{plain, Overrides{Profile: "p"}, `scenario s: unknown profile "p": expected contract, duroxide-0.1.26 or duroxide-0.1.32`},
		{plain, Overrides{Strategy: "p"}, `scenario s: unknown strategy "p": expected filter, exact, stall, bounce, sweeper or deadletter`},
		{plain, Overrides{Instances: -1}, `scenario s: -1 instances: expected at most 100000`},
		{plain, Overrides{Instances: 3}, `scenario s: 3 instances: expected none, since there is no load`},
		{&Scenario{Name: "s", Load: &Load{Count: 1}}, Overrides{}, `scenario s: the load has no mix`},
		{&Scenario{Name: "s", open: []openTime{{Of: openStep}}}, Overrides{}, `scenario s: draw {Of:0 Index:0 Action:0 Lo:0s Hi:0s Relative:false}: expected a time of the template, and a range that does not end before it begins`},
	} {
		if _, err := c.s.Expand(1, c.o); err == nil || err.Error() != c.want {
			t.Errorf(" got: %v\nwant: %s", err, c.want)
		}
	}
}

func TestExpandActionNotBeforeStart(t *testing.T) {
	s := mustParse(t, "instance a runs Leaf at 1s..9s\n  cancel at 2s\nload 5 instances over 10s\nmix 1 Leaf\n  cancel at 3s..4s")
	moved := 0
	for seed := range uint64(50) {
		for _, in := range mustExpand(t, s, seed, Overrides{}).Instances {
			switch at := in.Actions[0].At; {
			case at < in.StartAt:
				t.Errorf("seed %d: %s starts at %v and is cancelled at %v", seed, in.ID, in.StartAt, at)
			case at == in.StartAt:
				moved++
			}
		}
	}
	if moved == 0 {
		t.Error("no action was moved in 50 seeds")
	}
}

// Of several inputs of a mix one is drawn for each instance, and a number if that is a range.
func TestInputsOfMix(t *testing.T) {
	s := sample.Must(Parse("x.txt", []byte("node A runs 1.5.0\nload 200 instances over 1s\n  mix 1 Leaf with \"red pen\" or 7..8\n")))(t)
	p := sample.Must(s.Expand(1, Overrides{}))(t)
	count := map[string]int{}
	for _, in := range p.Instances {
		count[in.Input]++
	}
	if len(count) != 3 || count["red pen"] < 50 || count["7"] < 20 || count["8"] < 20 {
		t.Errorf("drawn %v", count)
	}
}
