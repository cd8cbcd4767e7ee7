package safety

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// liesPlan returns a short run with the features that the stories leave out (queues, keys, a custom status, sessions,
// tags, children, cancels), with faults, or with work that its node cannot run, under a strategy.
func liesPlan(name string) *plan.Plan {
	p := &plan.Plan{Name: name, FaultPhase: 20 * time.Second, Faults: faults.None(), Nodes: []plan.Node{{
		Name: "A", Build: "1.5.0", Options: []plan.Setting{{Name: "worker_tag_filter", Value: "DefaultAnd(gpu)"}},
	}}}
	entries := []plan.Action{
		{At: time.Second, Verb: plan.ActionEnqueue, Name: "entries", Data: "one"}, {At: time.Second, Verb: plan.ActionEnqueue, Name: "entries", Data: "two"},
	}
	switch name {
	case "features":
		p.Instances = []plan.Instance{
			{ID: "ledger", Orchestration: "Ledger", Input: "2", Actions: entries},
			{ID: "studio", Orchestration: "Studio", Input: "1"},
			{ID: "clerk", Orchestration: "Clerk", Input: "ledger"},
			{ID: "parent", Orchestration: "Parent"},
			{ID: "cancelled", Orchestration: "Cancellable", Actions: []plan.Action{{At: 2 * time.Second, Verb: plan.ActionCancel}}},
		}
	case "faults":
		p.Faults = faults.Full()
		p.Nodes = append(p.Nodes, plan.Node{Name: "B", Build: "2.0.0"})
		p.Schedule = []plan.Step{{At: 5 * time.Second, Verb: plan.VerbUpgrade, Node: "A", Build: "2.0.0"}}
		p.Instances = []plan.Instance{
			{ID: "ledger", Orchestration: "Ledger", Input: "2", Actions: append(entries, plan.Action{At: 15 * time.Second, Verb: plan.ActionPrune})},
			{ID: "studio", Orchestration: "Studio", Input: "2"},
			{ID: "eternal", Orchestration: "Eternal", Actions: []plan.Action{{At: 10 * time.Second, Verb: plan.ActionDelete, Forced: true}}},
		}
	default:
		pin := engine.V(2, 0, 0)
		p.Strategy, p.Patience = plan.Strategy(name), plan.Patience{After: 6 * time.Second, Every: 2 * time.Second}
		p.Histories = []plan.History{{Instance: "blocked", Pin: &pin, Shape: plan.ShapeWaiting, KickAt: time.Second}}
		p.Instances = []plan.Instance{{ID: "leaf", Orchestration: "Leaf"}}
	}
	for i := range p.Instances {
		p.Instances[i].Expect = plan.EndAny
	}
	return p
}

func (tp *tape) busyOnly() {
	var idle = map[uint64]bool{}
	for _, e := range tp.entries {
		if o := e.observation; o != nil && o.Kind == observe.CallEnd && o.Outcome == observe.OutcomeNothing {
			idle[o.Call] = true
		}
	}
	of := map[uint64]bool{} // the numbers of these fetches in records
	for _, e := range tp.entries {
		if r := e.record; r != nil && r.Kind == record.CallExecuted && idle[r.StoreCall] {
			of[r.Call] = true
		}
	}
	tp.entries = slices.DeleteFunc(tp.entries, func(e tapeEntry) bool {
		if o := e.observation; o != nil {
			return o.Call != 0 && idle[o.Call]
		}
		return e.record.Kind == record.Parked || e.record.Kind == record.Woken || e.record.Call != 0 && of[e.record.Call]
	})
}

var index = regexp.MustCompile(`\[\d+\]`)

// TestEachLie falsifies what runs show to the checkers. It changes each field in turn, and leaves out or repeats each
// part. It prints what the checkers say about the first lie of each kind. Lies that no checker objects to are left out;
// DUROSIM_LONG tries them as well.
func TestEachLie(t *testing.T) {
	before, brief := map[string]bool{}, rig.Brief{}
	datadriven.RunTest(t, "testdata/lies.txt", func(t *testing.T, d *datadriven.TestData) string {
		tp := recordRun(t, liesPlan(d.Cmd))
		tp.busyOnly()
		if text, ok := tp.told(); text != "" || !ok {
			t.Fatalf("without a lie: %s", text)
		}
		known, said := map[string]bool{}, map[string]string{}
		for line := range strings.SplitSeq(d.Expected, "\n") {
			places, _, _ := strings.Cut(line, " =")
			for place := range strings.SplitSeq(places, ", ") {
				known[place] = true
			}
		}
		tp.lies(func(place string) bool { return !before[place] && (known[place] || sample.All()) }, func(place string) {
			if text, ok := tp.told(); ok && text != "" {
				said[place], before[place] = text, true
			}
		})
		var lines []string
		for _, place := range slices.Sorted(maps.Keys(said)) {
			lines = append(lines, place+"\n  "+said[place])
		}
		return brief.Of(strings.Join(lines, "\n"))
	})
}

// lies tells one lie for each place that wants selects.
func (tp *tape) lies(wants func(place string) bool, told func(place string)) {
	has, whole := tp.fields(), tp.entries
	seen := map[string]bool{}
	first := func(place string) bool {
		first := !seen[place]
		seen[place] = true
		return first && wants(place)
	}
	for i, e := range whole {
		place := placeOf(e)
		if first(place + " left out") {
			tp.entries = slices.Delete(slices.Clone(whole), i, i+1)
			told(place + " left out")
		}
		if first(place + " repeated") {
			tp.entries = slices.Insert(slices.Clone(whole), i, e)
			told(place + " repeated")
		}
		tp.entries = whole
		rig.Change(e.of(), func(path string) {
			field := path[:len(path)-len(strings.TrimLeftFunc(path, unicode.IsLetter))]
			if !has[place+" "+field] || strings.HasSuffix(path, " there") {
				return
			}
			if of := place + " " + index.ReplaceAllString(path, "[]"); first(of) {
				told(of)
			}
		})
	}
}

// told plays a tape and returns each property's first violation. ok is false if no store could have behaved as the tape
// says.
func (tp *tape) told() (text string, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	var lines []string
	found := tp.playUntil(20, IDs()...).Violations()
	for i, v := range found {
		if i == 0 || v.Property != found[i-1].Property {
			lines = append(lines, fmt.Sprintf("%s %s %s: %s", v.Property, v.Node, v.Instance, v.Message))
		}
	}
	return strings.Join(lines, "\n  "), true
}

// of returns what an entry shows to the checkers.
func (e tapeEntry) of() any {
	if e.observation != nil {
		return e.observation
	}
	return e.record
}

// fields returns the fields that entries of each kind have, in the form "KIND FIELD".
func (tp *tape) fields() map[string]bool {
	has := map[string]bool{}
	for _, e := range tp.entries {
		v := reflect.ValueOf(e.of()).Elem()
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				has[placeOf(e)+" "+v.Type().Field(i).Name] = true
			}
		}
	}
	return has
}

func placeOf(e tapeEntry) string {
	switch {
	case e.observation != nil && e.observation.CallKind != observe.CallNone:
		return fmt.Sprintf("%v of %v", e.observation.Kind, e.observation.CallKind)
	case e.observation != nil:
		return fmt.Sprint(e.observation.Kind)
	case e.record.Note != nil:
		return fmt.Sprintf("%v %v", e.record.Kind, e.record.Note.Decision)
	}
	return fmt.Sprint(e.record.Kind)
}
