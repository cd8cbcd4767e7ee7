package plan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/scenario"
)

// TestStartsLater checks that what a node's first step in time does counts, not its first in the plan.
func TestStartsLater(t *testing.T) {
	p := &plan.Plan{Schedule: []plan.Step{
		{At: 2 * time.Second, Verb: plan.VerbUpgrade, Node: "A"}, {At: time.Second, Verb: plan.VerbStart, Node: "A"},
		{At: time.Second, Verb: plan.VerbAdd, Node: "B"}, {Verb: plan.VerbStop, Node: "C"}, {At: time.Second, Verb: plan.VerbStart, Node: "C"},
	}}
	for node, want := range map[string]bool{"A": true, "B": true, "C": false, "D": false} {
		if got := p.StartsLater(node); got != want {
			t.Errorf("%s starts later: %v, want %v", node, got, want)
		}
	}
}

// TestClock checks that a clock drifts away from its offset, within bounds.
func TestClock(t *testing.T) {
	for _, c := range []struct {
		clock plan.Clock
		since time.Duration
		want  time.Duration
	}{
		{plan.Clock{}, time.Hour, 0},
		{plan.Clock{Offset: 300 * time.Millisecond}, time.Hour, 300 * time.Millisecond},
		{plan.Clock{Offset: -time.Second, DriftPPM: 50}, 1000 * time.Second, -950 * time.Millisecond},
		{plan.Clock{DriftPPM: -50}, 100 * time.Hour, -plan.MaxDrift},
	} {
		if got := c.clock.Ahead(c.since); got != c.want {
			t.Errorf("%v is %v ahead after %v, want %v", c.clock, got, c.since, c.want)
		}
	}
}

// TestSkew: how far clocks differ matters where the store goes by them; and what no clock does is refused.
func TestSkew(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"node A runs 1.5.0\n  clock +3s\n", "0s"},
		{"store clock callers\nnode A runs 1.5.0\n", "0s"},
		{"store clock callers\nnode A runs 1.5.0\n  clock +3s\n", "3s"},
		{"store clock callers\nnode A runs 1.5.0\n  clock +3s\nnode B runs 1.5.0\n  clock -1s drift -50ppm\n", "4.2s"},
		{"store clock callers\nfault clock-skew 1 in 2\nnode A runs 1.5.0\n", "1s"},
		{"node A runs 1.5.0\n  clock +2h\n", "node A: clock 2h0m0s: want whole milliseconds, at most 1h0m0s ahead or behind"},
		{"node A runs 1.5.0\n  clock +1us\n", "node A: clock 1µs: want whole milliseconds"},
		{"node A runs 1.5.0\n  clock +1s drift 10001ppm\n", "node A: drift 10001ppm: want at most 10000ppm"},
		{"store serial 11s\nnode A runs 1.5.0\n", "store serial 11s: want whole milliseconds, at most 10s"},
	} {
		s, err := scenario.Parse("x.txt", []byte(c.text))
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		p := sample.Must(s.Expand(1, scenario.Overrides{}))(t)
		got := p.Skew().String()
		if err := p.Validate(plan.Known{Builds: engine.ShippedBuilds()}); err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
		if back, err := scenario.Parse("x.txt", s.Format()); err != nil || string(back.Format()) != string(s.Format()) {
			t.Errorf("%q is written as\n%s: %v", c.text, s.Format(), err)
		}
	}
}
