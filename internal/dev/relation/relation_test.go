package relation_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/dev/relation"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// compare compares one seed of a scenario with its twins and returns the first difference under each relation that has
// one.
func compare(t *testing.T, s *scenario.Scenario, seed uint64, over scenario.Overrides, handlers func(*node.Registry, *engine.Build) error) map[string]relation.Comparison {
	t.Helper()
	p, err := s.Expand(seed, over)
	if err != nil {
		t.Fatal(err)
	}
	run := relation.Run{Plan: p, Seed: seed, Config: func() cluster.Config {
		return cluster.Config{Handlers: handlers, Monitor: func(w *cluster.World) cluster.Monitor {
			return properties.New(w, properties.Options{Properties: []string{"L02"}})
		}}
	}}
	all := map[string]relation.Comparison{}
	for _, r := range relation.All() {
		if all[r.Name], err = r.Compare(run); err != nil {
			t.Fatalf("%s, seed %d, %s: %v", s.Name, seed, r.Name, err)
		}
	}
	return all
}

func parse(t *testing.T, text string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("story.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestNothingMatters checks that the relations hold in the shipped scenarios, both under the scenarios' own faults and
// under all faults.
func TestNothingMatters(t *testing.T) {
	full := faults.Full()
	for _, named := range sample.Of(scenario.Builtin(), 8) {
		s, err := scenario.Parse(named.File, named.Text)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Template.Releases()) > 0 {
			continue // needs a host program
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			for _, over := range []scenario.Overrides{{}, {Faults: &full}} {
				for name, o := range compare(t, s, 7, over, nil) {
					if d := o.Difference; d != nil {
						t.Errorf("%s: %s, %s:\nwithout %s\nwith    %s", name, d.Instance, d.What, d.Was, d.Is)
					}
				}
			}
		})
	}
}

// odd contains handlers that depend on something that must not matter, each with the relation that detects it.
var odd = map[string]struct {
	handler  func(*orch.Context, string) (string, error)
	relation string
}{
	"ById": {func(c *orch.Context, _ string) (string, error) {
		return strconv.FormatBool(c.InstanceID() > "p"), nil
	}, "renamed"},
	"ByTime": {func(c *orch.Context, _ string) (string, error) {
		now, err := c.UTCNowMs()
		return strconv.FormatInt(now/(24*60*60*1000), 10), err
	}, "epoch"},
}

func TestHandlersThatGoByIt(t *testing.T) {
	for name, test := range odd {
		register := func(r *node.Registry, _ *engine.Build) error {
			return r.Register(name, engine.V(1, 0, 0), test.handler)
		}
		s := parse(t, "node A runs 1.5.0\ninstance order-1 runs "+name+" at 1s\ninstance zoo runs "+name+" at 1s")
		for relation, o := range compare(t, s, 1, scenario.Overrides{}, register) {
			if differs := o.Difference != nil; differs != (relation == test.relation) {
				t.Errorf("%s, %s: differs %v: %+v", name, relation, differs, o.Difference)
			}
		}
	}
}

// TestWrongProviders plants a provider bug that lets an instance that no node admits block other instances.
func TestWrongProviders(t *testing.T) {
	s := parse(t, "node A runs 1.5.0\nbug provider/head-of-line-block\ninstance order-1 runs Leaf at 1s")
	d := compare(t, s, 1, scenario.Overrides{}, nil)["unadmitted"].Difference
	if d == nil || d.Instance != "order-1" {
		t.Errorf("difference %+v", d)
	}
}

func TestNoTwin(t *testing.T) {
	tests := []struct{ story, relation, want string }{
		{"strategy bounce", "unadmitted", "with strategy bounce "},
		{"history old-1 pinned 1.5.0 shape respelled", "renamed", "history old-1 spells its id with escapes"},
		{"strategy sweeper", "idle-twin", "with strategy sweeper "},
		{"build 1.5.0+2.0.0 like 2.0.0\n  awaits activation\nat 5s activate 2.0.0", "idle-twin", "an activation waits"},
		{"store clock callers", "unadmitted", "by the clocks of callers"},
		{"store clock callers", "idle-twin", "by the clocks of callers"},
		{"rescue widen", "unadmitted", "rescue has the nodes admit every pin"},
		{"at 2s widen A to >=0.0.0,<=999.999.999", "unadmitted", `"widen A to >=0.0.0, <=999.999.999" admits every pin`},
		{"probe P reads 1.5.0 filter any", "unadmitted", "probe P admits every pin"},
	}
	for _, test := range tests {
		s := parse(t, "node A runs 1.5.0\ninstance order-1 runs Leaf at 1s\n"+test.story)
		if o := compare(t, s, 1, scenario.Overrides{}, nil)[test.relation]; !strings.HasPrefix(o.Skipped, test.want) || test.want == "" {
			t.Errorf("%q: skipped %q, want %q", test.story, o.Skipped, test.want)
		}
	}
}
