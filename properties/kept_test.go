package properties_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
	"github.com/durosim/durosim/sim/scenario"
)

// resumptions counts the turns that did not replay their history.
type resumptions struct {
	cluster.Monitor
	turns, resumed int
}

func (r *resumptions) Record(rec *cluster.Record) {
	if rec.Kind == record.Note && rec.Note.Turn != nil {
		if r.turns++; rec.Note.Turn.Resumed {
			r.resumed++
		}
	}
	r.Monitor.Record(rec)
}

// TestKeptExecutionsChangeNothing runs every built-in scenario twice: with nodes that replay a history in each turn, and
// with nodes that keep a few or many executions, for a few turns or until they lose them. Traces and verdicts must be the
// same, because the code of these scenarios is deterministic. By default, one setting is tried with every third scenario.
func TestKeptExecutionsChangeNothing(t *testing.T) {
	settings := [][2]int{{1000, 0}, {2, 0}, {1000, 1}}
	turns, resumed := 0, 0
	var memory cluster.Arena
	for n, b := range scenario.Builtin() {
		if b.Name == "mischief" { // code of it strays when it is torn down, which is after each turn only of those that replay
			continue
		}
		s := lookup(t, b.Name)
		for i, kept := range settings {
			if !sample.All() && n%9 != 3*i {
				continue
			}
			seed := uint64(i + 1)
			var digest [2]string
			for with := range 2 {
				cfg := config(t, s, seed, scenario.Overrides{}, properties.Options{})
				p, judge, m := cfg.Plan, cfg.Monitor, &resumptions{}
				if with == 1 {
					for j := range p.Nodes {
						p.Nodes[j].Options = append(slices.Clone(p.Nodes[j].Options),
							plan.Setting{Name: "kept_executions", Value: fmt.Sprint(kept[0])}, plan.Setting{Name: "kept_turns", Value: fmt.Sprint(kept[1])})
					}
				}
				p.Faults.Rates = slices.DeleteFunc(p.Faults.Rates, func(r faults.Rate) bool { return r.Kind == faults.ExecutionForgotten })
				cfg.Arena, cfg.Monitor = &memory, func(w *cluster.World) cluster.Monitor {
					m.Monitor = judge(w)
					return m
				}
				r := run(t, cfg)
				digest[with] = fmt.Sprint(r.Digest, r.Violations)
				turns, resumed = turns+m.turns, resumed+m.resumed
			}
			if d := cmp.Diff(digest[0], digest[1]); d != "" {
				t.Errorf("%s, seed %d: kept executions %v change the run (-replayed +kept):\n%s", b.Name, seed, kept, d)
			}
		}
	}
	if resumed < turns/10 {
		t.Errorf("only %d of %d turns were resumed", resumed, turns)
	}
	t.Log(turns, resumed)
}
