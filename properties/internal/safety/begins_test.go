package safety

import (
	"fmt"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/internal/planterm"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/sim/plan"
)

// held is an instance that a store reports at the start of a run.
type held struct {
	name, orchestration, version string
	parent                       engine.ParentLink
	status, key, value           string
	keyMs                        uint64
}

func (h held) tell(m *check.Monitor, no observe.InstanceNo) {
	say := func(o observe.Observation) {
		o.Instance = no
		m.Observe(&o)
	}
	say(observe.Observation{Kind: observe.InstanceNamed, Name: h.name})
	if h.orchestration != "" {
		say(observe.Observation{Kind: observe.InstanceCreated, Name: h.orchestration, Token: h.version, Execution: 1})
	}
	if p := h.parent; p.Instance != "" {
		say(observe.Observation{Kind: observe.ParentSet, Name: p.Instance, Execution: p.ExecutionID, EventID: p.EventID})
	}
	if h.status != "" {
		say(observe.Observation{Kind: observe.CustomStatusSet, Value: &h.status, Version: 1})
	}
	if h.key != "" {
		say(observe.Observation{Kind: observe.KVSet, Table: observe.KVStore, Name: h.key, Value: &h.value, UntilMs: int64(h.keyMs)})
	}
}

// TestBeginnings compares what a store holds at the start of a run with what the plan says.
func TestBeginnings(t *testing.T) {
	status, parent := "half", engine.ParentLink{Instance: "shop", ExecutionID: 2, EventID: 3}
	stored := memprovider.PreloadedInstance{Instance: "kept", Orchestration: "Order", Version: "1.0.0", Parent: &parent, CustomStatus: &status, KV: []engine.KVEntry{{Key: "k", Value: "v", LastUpdatedAtMs: 7}}}
	right := held{"kept", "Order", "1.0.0", parent, "half", "k", "v", 7}
	with := func(change func(h *held)) held {
		h := right
		change(&h)
		return h
	}
	child := plan.History{Instance: "child", Shape: planterm.ShapeDisagreeing, Variant: planterm.ChildVariant}
	rightChild := held{name: "child", orchestration: "Revised", version: "1.0.0", parent: *child.Parent()}
	link := "{Instance:shop ExecutionID:2 EventID:3}"
	for _, row := range []struct {
		name      string
		contents  []memprovider.PreloadedInstance
		histories []plan.History
		have      []held
		foreign   bool
		want      string // "INSTANCE: MESSAGE"
	}{
		{"as planned", []memprovider.PreloadedInstance{stored}, []plan.History{child}, []held{rightChild, right}, false, ""},
		{"nothing planned", nil, nil, nil, false, ""},
		{"no row", []memprovider.PreloadedInstance{{Instance: "bare"}}, nil, []held{{name: "bare"}}, false, ""},
		{"nothing there", []memprovider.PreloadedInstance{stored}, nil, nil, false, ": the store knows nothing of kept: expected what the plan says that it holds at the start"},
		{"no history there", nil, []plan.History{child}, nil, false, ": the store knows nothing of child: expected what the plan says that it holds at the start"},
		{"a row too many", []memprovider.PreloadedInstance{{Instance: "bare"}}, nil, []held{{name: "bare", orchestration: "Order", version: "1.0.0"}}, false,
			"bare: at the start of the run the store holds bare as Order@1.0.0 with the parent {Instance: ExecutionID:0 EventID:0}: expected @ with {Instance: ExecutionID:0 EventID:0}, as the plan says"},
		{"another orchestration", []memprovider.PreloadedInstance{stored}, nil, []held{with(func(h *held) { h.orchestration = "Refund" })}, false,
			"kept: at the start of the run the store holds kept as Refund@1.0.0 with the parent " + link + ": expected Order@1.0.0 with " + link + ", as the plan says"},
		{"another version", []memprovider.PreloadedInstance{stored}, nil, []held{with(func(h *held) { h.version = "2.0.0" })}, false,
			"kept: at the start of the run the store holds kept as Order@2.0.0 with the parent " + link + ": expected Order@1.0.0 with " + link + ", as the plan says"},
		{"another parent", []memprovider.PreloadedInstance{stored}, nil, []held{with(func(h *held) { h.parent.EventID = 4 })}, false,
			"kept: at the start of the run the store holds kept as Order@1.0.0 with the parent {Instance:shop ExecutionID:2 EventID:4}: expected Order@1.0.0 with " + link + ", as the plan says"},
		{"no parent of a history", nil, []plan.History{child}, []held{{name: "child", orchestration: "Revised", version: "1.0.0"}}, false,
			"child: at the start of the run the store holds child as Revised@1.0.0 with the parent {Instance: ExecutionID:0 EventID:0}: expected Revised@1.0.0 with " + fmt.Sprintf("%+v", rightChild.parent) + ", as the plan says"},
		{"another status", []memprovider.PreloadedInstance{stored}, nil, []held{with(func(h *held) { h.status = "done" })}, false,
			`kept: at the start of the run the store holds kept otherwise than the plan says: custom status "done", version 1, expected "half", version 1`},
		{"no status", []memprovider.PreloadedInstance{stored}, nil, []held{with(func(h *held) { h.status = "" })}, false,
			`kept: at the start of the run the store holds kept otherwise than the plan says: custom status none, version 0, expected "half", version 1`},
		{"another value", []memprovider.PreloadedInstance{stored}, nil, []held{with(func(h *held) { h.value = "w" })}, false,
			`kept: at the start of the run the store holds kept otherwise than the plan says: the key-value state of the last execution boundary wrong: key "k" is "w", expected "v"`},
		{"another store's rows are not known", []memprovider.PreloadedInstance{stored}, nil, []held{with(func(h *held) { h.version = "2.0.0" })}, true, ""},
		{"another store knows of nothing yet", []memprovider.PreloadedInstance{stored}, nil, nil, true, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := &plan.Plan{Histories: row.histories}
			if row.contents != nil {
				p.Contents = &plan.Contents{Instances: row.contents}
			}
			w := &fakeWorld{plan: p, builds: engine.ShippedBuilds(), foreign: row.foreign}
			m := check.New(w, func(string) bool { return true })
			m.Add(newStateChecker(m.Run))
			for i, h := range row.have {
				h.tell(m, observe.InstanceNo(i+1))
			}
			for call := range uint64(2) {
				m.Observe(&observe.Observation{Kind: observe.CallBegin, Call: call + 1, CallKind: observe.CallAdmin, Request: &observe.CallRequest{}})
				m.Observe(&observe.Observation{Kind: observe.CallEnd, Call: call + 1, CallKind: observe.CallAdmin, Outcome: observe.OutcomeOK})
			}
			var lines []string
			for _, v := range m.Violations() {
				lines = append(lines, v.Instance+": "+v.Message)
			}
			if got := strings.Join(lines, "\n"); got != row.want {
				t.Errorf("found %s\nwant  %s", got, row.want)
			}
		})
	}
}
