package selfcheck_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/dev/selfcheck"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
	"github.com/durosim/durosim/sim/scenario"
)

// liar passes falsified records of a run to the checker, as if a node had done or logged something else.
type liar struct {
	*selfcheck.Monitor
	lie  func(r *cluster.Record) bool // changes a record and reports whether it did so; to drop the record, it sets Kind to record.None
	told int
}

func (l *liar) Record(r *cluster.Record) {
	copied := *r
	if r.Note != nil {
		note := *r.Note
		if note.Turn != nil {
			turn := *note.Turn
			note.Turn = &turn
		}
		copied.Note = &note
	}
	if r.Log != nil {
		log := *r.Log
		log.Fields = append([]machine.Field(nil), log.Fields...)
		copied.Log = &log
	}
	if l.lie != nil && l.lie(&copied) {
		l.told++
		if copied.Kind == record.None {
			return
		}
	}
	l.Monitor.Record(&copied)
}

// world falsifies nodes' counters.
type world struct {
	*cluster.World
	count func(*cluster.Counters)
}

func (w world) Counters(node uint32) (cluster.Counters, bool) {
	c, ok := w.World.Counters(node)
	if w.count != nil {
		w.count(&c)
	}
	return c, ok
}

func watch(t *testing.T, name string, seed uint64, lie func(r *cluster.Record) bool, count func(*cluster.Counters)) ([]cluster.Violation, int) {
	t.Helper()
	s, err := scenario.Lookup(name)
	if strings.Contains(name, "\n") {
		s, err = scenario.Parse("lie.txt", []byte(name))
	}
	if err != nil {
		t.Fatal(err)
	}
	over := scenario.Overrides{}
	if name == "code-changed" { // the one whose turns fail by nondeterminism
		over.Bugs = []faults.BugID{"engine/code-input-changed"}
	}
	plan, err := s.Expand(seed, over)
	if err != nil {
		t.Fatal(err)
	}
	l := &liar{lie: lie}
	result, err := cluster.Run(cluster.Config{Plan: plan, Seed: seed, Monitor: func(w *cluster.World) cluster.Monitor {
		l.Monitor = selfcheck.New(world{w, count})
		return l
	}})
	if err != nil {
		t.Fatal(err)
	}
	return result.Violations, l.told
}

// TestLiesAreSeen falsifies one record of a correct run, which the checker must report.
func TestLiesAreSeen(t *testing.T) {
	for _, row := range sample.Of(lies(), 4) {
		t.Run(row.name, func(t *testing.T) {
			found, told := watch(t, row.scenario, 1, row.change, row.count)
			if row.change != nil && told == 0 {
				t.Fatalf("scenario %s has nothing to lie about", row.scenario)
			}
			for _, v := range found {
				if v.Property == selfcheck.NodeByItsRules && strings.Contains(v.Message, row.seen) {
					return
				}
			}
			t.Errorf("found %v; want %q", texts(found), row.seen)
		})
	}
}

// TestTruthIsQuiet runs each scenario of TestLiesAreSeen without falsifying anything.
func TestTruthIsQuiet(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range lies() {
		if !seen[row.scenario] {
			seen[row.scenario] = true
			found, _ := watch(t, row.scenario, 1, nil, nil)
			if row.scenario == "code-changed" { // its planted bug is one of turns
				found = slices.DeleteFunc(found, func(v cluster.Violation) bool { return v.Property == selfcheck.TurnAllowed })
			}
			if len(found) > 0 {
				t.Errorf("%s: %v", row.scenario, texts(found))
			}
		}
	}
}

func texts(found []cluster.Violation) []string {
	var all []string
	for _, v := range found {
		all = append(all, v.Message)
	}
	return all
}

// onNote changes the notes of a decision. If change is nil, it drops them.
func onNote(d machine.Decision, change func(n *machine.Note)) func(*cluster.Record) bool {
	return func(r *cluster.Record) bool {
		if r.Kind != record.Note || r.Note.Decision != d {
			return false
		}
		if change == nil {
			r.Kind = record.None
			return true
		}
		change(r.Note)
		return true
	}
}

func onCall(kind observe.CallKind, change func(r *cluster.Record)) func(*cluster.Record) bool {
	return func(r *cluster.Record) bool {
		if r.Kind != record.CallSent || r.CallKind != kind || r.Node == 0 || r.Slot.Index > 5 {
			return false
		}
		change(r)
		return true
	}
}

func onLog(text string, change func(l *machine.Log)) func(*cluster.Record) bool {
	return func(r *cluster.Record) bool {
		if r.Kind != record.Log || !strings.Contains(r.Log.Text, text) {
			return false
		}
		change(r.Log)
		return true
	}
}

func without(text string) func(*cluster.Record) bool {
	return func(r *cluster.Record) bool {
		if r.Kind != record.Log || !strings.Contains(r.Log.Text, text) {
			return false
		}
		r.Kind = record.None
		return true
	}
}

func setField(name string) func(l *machine.Log) {
	return func(l *machine.Log) {
		for i := range l.Fields {
			if l.Fields[i].Name == name {
				l.Fields[i].Value += "!"
			}
		}
	}
}

func abandon(change func(*call.AbandonOrchestrationItem)) func(r *cluster.Record) {
	return func(r *cluster.Record) {
		q := r.Request.(call.AbandonOrchestrationItem)
		change(&q)
		r.Request = q
	}
}

func later(r *cluster.Record) { r.At += 100_000 }

// lie is a falsified record, and the violation that the checker must report for it.
type lie struct {
	name, scenario string
	change         func(*cluster.Record) bool
	count          func(*cluster.Counters)
	seen           string
}
