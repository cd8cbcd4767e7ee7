package secondjudge_test

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// anyBuild stores what callers write, no matter which build they run.
var anyBuild = engine.Opaque(engine.NewJSONCodec("any", engine.Kinds2x().With(eventdata.KindLegacyNote), engine.WorkItemKinds2x()))

// another makes in-memory stores, with or without bugs, that stand for a store that is not durosim's own.
func another(t *testing.T, ids ...faults.BugID) func(int64) (*cluster.ForeignStore, error) {
	t.Helper()
	planted := sample.Must(faults.Plant("", ids...))(t)
	return func(startMs int64) (*cluster.ForeignStore, error) {
		fail := -1
		s := memprovider.New(memprovider.Options{
			StartMs: startMs, Rules: planted.For("", "").Provider,
			BeforeAckStep: func(step memprovider.AckStep) error {
				if int(step) != fail {
					return nil
				}
				fail = -1
				return errors.New("storage failed")
			},
		})
		return &cluster.ForeignStore{
			Provider: s.Handle(anyBuild, observe.Caller{}),
			SetNow:   func(ms int64) error { s.SetNow(ms); return nil },
			CorruptEvent: func(instance string, execution, event uint64) error {
				return s.Damage(instance, execution, event, []byte("{"))
			},
			FailAckStep: func(step int) { fail = step % memprovider.AckSteps },
		}, nil
	}
}

// over runs a seed of a scenario over such a store.
func over(t *testing.T, name string, seed uint64, store func(int64) (*cluster.ForeignStore, error)) *cluster.Result {
	t.Helper()
	s := sample.Must(scenario.Lookup(name))(t)
	plan := sample.Must(s.Expand(seed, scenario.Overrides{}))(t)
	return sample.Must(cluster.Run(cluster.Config{Plan: plan, Seed: seed, Store: store, Monitor: func(w *cluster.World) cluster.Monitor {
		return monitor.New(w, monitor.Options{Expectations: s.Expect})
	}}))(t)
}

// plain reports no extension (docs/contract-decisions.md#row-2).
type plain struct{ engine.Provider }

func (p plain) FetchOrchestrationItem(ctx context.Context, lock, poll time.Duration, filter *engine.CapabilityFilter) (*engine.FetchedOrchestration, error) {
	f, err := p.Provider.FetchOrchestrationItem(ctx, lock, poll, filter)
	if f != nil {
		f.Item.CurrentStatus, f.Item.Parent, f.Item.Pin = "", nil, nil
	}
	return f, err
}

// TestOverAnotherStore checks that scenarios over a correct foreign store run without violations, and alike over one that
// reports no extensions.
func TestOverAnotherStore(t *testing.T) {
	for _, s := range sample.Of(scenario.Builtin(), 20) {
		if bytes.Contains(s.Text, []byte("store clock callers")) || bytes.Contains(s.Text, []byte("store plain")) {
			continue // stores like this are durosim's own
		}
		r := over(t, s.Name, 1, another(t))
		for _, v := range r.Violations {
			t.Errorf("%s: %s: %s", s.Name, v.Property, v.Message)
		}
		again := over(t, s.Name, 1, func(startMs int64) (*cluster.ForeignStore, error) {
			store, err := another(t)(startMs)
			store.Provider = plain{store.Provider}
			return store, err
		})
		if again.Digest != r.Digest {
			t.Errorf("%s: two runs of one seed differ, the second without extensions: %v", s.Name, again.Violations)
		}
	}
}

// overStore says, for each bug in a store, how it shows in a cluster over that store. Each line has the bug, the first
// seed of the bug's scenario that shows it, and the violated property; or the bug, a dash, and the reason why the bug
// does not show.
//
//go:embed testdata/over-store.txt
var overStore string

var update = flag.Bool("update", false, "write the table of bugs of a store")

// The search for a bug is bounded. The bound is tighter if the table says that the bug does not show.
const (
	overStoreSeeds = 60
	unseenSeeds    = 5
)

// TestStoreBugsOverAnotherStore checks that a planted bug in a store is caught as the table says. With -update, it
// writes the table.
func TestStoreBugsOverAnotherStore(t *testing.T) {
	table := map[string]string{} // never iterated over, so map order does not matter
	reasons := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(overStore), "\n") {
		id, shown, _ := strings.Cut(line, " ")
		table[id] = shown
		if why, ok := strings.CutPrefix(shown, "- "); ok {
			reasons[id] = why
		}
	}
	var bugs []faults.Bug
	for _, b := range faults.BugsOf("memprovider") {
		if b.Caught() {
			bugs = append(bugs, b)
		}
	}
	rows := bugs
	if !*update && !sample.All() {
		rows = sample.Of(slices.DeleteFunc(slices.Clone(bugs), func(b faults.Bug) bool {
			return !strings.HasPrefix(table[string(b.ID)], "1 ")
		}), 12)
	}
	var out []string
	for _, b := range rows {
		bound := uint64(overStoreSeeds)
		if reasons[string(b.ID)] != "" && !*update {
			bound = unseenSeeds
		}
		got := shownOver(t, b, bound)
		if got == "-" {
			got += " " + reasons[string(b.ID)]
		}
		out = append(out, fmt.Sprintf("%s %s\n", b.ID, got))
		if diff := cmp.Diff(table[string(b.ID)], got); diff != "" && !*update {
			t.Errorf("%s: -table +run\n%s", b.ID, diff)
		}
	}
	if *update {
		sample.OK(t, os.WriteFile("testdata/over-store.txt", []byte(strings.Join(out, "")), 0o644))
		return
	}
	if len(table) != len(bugs) {
		t.Errorf("%d bugs in the table, there are %d", len(table), len(bugs))
	}
}

// shownOver returns the first seed that shows a bug, and the property violated.
func shownOver(t *testing.T, b faults.Bug, bound uint64) string {
	for seed := uint64(1); seed <= bound; seed++ {
		r := over(t, b.Scenario, seed, another(t, append([]faults.BugID{b.ID}, b.With...)...))
		if len(r.Violations) == 0 {
			continue
		}
		var ids []string
		for _, v := range r.Violations {
			ids = append(ids, v.Property)
		}
		slices.Sort(ids)
		return fmt.Sprintf("%d %s", seed, strings.Join(slices.Compact(ids), " "))
	}
	return "-"
}

// TestNodeBugsOverAnotherStore checks that a bug in a node violates the same property over a foreign store as over
// durosim's own store.
func TestNodeBugsOverAnotherStore(t *testing.T) {
	bugs := slices.DeleteFunc(append(faults.BugsOf("engine/replay"), faults.BugsOf("engine/machine")...), func(b faults.Bug) bool { return !b.Caught() || b.InStore() })
	for _, b := range sample.Of(bugs, 30) {
		s := sample.Must(scenario.Lookup(b.Scenario))(t)
		caught := false
		for seed := uint64(1); seed <= 200 && !caught; seed++ {
			plan := sample.Must(s.Expand(seed, scenario.Overrides{Bugs: []faults.BugID{b.ID}}))(t)
			r := sample.Must(cluster.Run(cluster.Config{Plan: plan, Seed: seed, Store: another(t), Monitor: func(w *cluster.World) cluster.Monitor {
				return monitor.New(w, monitor.Options{Expectations: s.Expect})
			}}))(t)
			caught = slices.ContainsFunc(r.Violations, func(v cluster.Violation) bool { return slices.Contains(b.Properties, v.Property) })
		}
		if !caught {
			t.Errorf("%s: none of %v is violated", b.ID, b.Properties)
		}
	}
}
