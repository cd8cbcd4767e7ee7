package answers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/call"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/sim/cluster"
)

// promised lists the freedoms that memprovider's documentation says it does not use. The second judge holds the simulation's
// store to these promises, which also reduces how many states are possible.
var promised = []oracle.Freedom{
	"F1", "F4", "F5", "F6", "F7", "F8",
	"F9", "F15", "F18", "F19", "F20", "F21",
	"F22", "F23", "F25", "F26", "F27", "F28",
	"X1", "X6",
}

// followed lists the freedoms that no other store may use. Their effects show only later, in other answers, so the
// second judge could not follow the run.
var followed = []oracle.Freedom{
	"F4", "F9", "F20", "F23", "F26", "F27", "F28",
	"X1", "X6",
}

// Judge checks every answer of the store against the executable specification of a provider. It learns about answers
// from the handles, and about changes that no call makes (preloaded histories, damage) from the observations.
type Judge struct {
	check.Base
	oracle *oracle.Oracle // nil after the first rejected answer, because a wrong state would misjudge the answers that follow
	items  []engine.WorkItem
	ended  ended
	rows   rows
	// watches is set if the judge sees calls. Without them it has no view of the store.
	watches bool
	// begun is set from the first call on, after which all rows have been compared once.
	begun, whole bool
}

// ended is what the store's observations say of the last call that ended.
type ended struct {
	call     uint64
	caller   observe.Caller
	instance observe.InstanceNo
	atMs     int64
}

// clauses says which property has a clause of docs/contract/provider.md: the section, and an invariant or a word of the
// objection, or "" for all others. The first line that fits counts.
var clauses = []struct{ section, about, property string }{
	{"2", "I1", "S05"},
	{"3.2", "", "S17"}, {"3.3", "", "S06"}, {"4.2", "", "S06"},
	{"5.1", "", "S12"}, {"5.7", "", "S12"},
	{"5.2", "I1", "S05"}, {"5.2", "I2", "S05"}, {"5.2", "I19", "S01"}, {"5.2", "I4", "S12"}, {"5.2", "I3", "S15"}, {"5.2", "history_error", "S18"},
	{"5.2", "I7", "S07"}, {"5.2", "I9", "S06"}, {"5.2", "I20", "S12"}, {"5.2", "eligible", "S22"}, {"5.2", "older", "S22"},
	{"5.3", "I1", "S05"}, {"5.3", "I7", "S07"}, {"5.3", "", "S06"},
	{"5.4", "I1", "S05"}, {"5.4", "", "S06"}, {"5.11", "I1", "S05"}, {"5.11", "", "S06"},
	{"5.5", "", "S05"}, {"5.9", "", "S05"}, {"5.10", "", "S05"},
	{"5.6", "", "S26"}, {"5.14", "", "S17"}, {"5.15", "", "S26"}, {"5.16", "", "S26"},
	{"5.8", "I1", "S05"}, {"5.8", "visible", "S15"}, {"5.8", "I12", "S12"}, {"5.8", "ready", "S22"},
	{"5.12", "", "S16"}, {"5.13", "", "S16"},
	{"6.3", "", "S04"}, {"6.4", "", "S01"}, {"6.5", "", "S09"}, {"6.6", "", "S16"}, {"6.7", "", "S16"}, {"6.8", "", "S17"}, {"6.9", "", "S17"},
	{"7", "", "S26"}, {"7.1", "", "S26"}, {"7.2", "", "S14"}, {"7.3", "", "S14"}, {"7.4", "", "S14"},
}

// property returns the property that has the clause that an answer violates, or cluster.PropertyProvider if none has it.
func property(r *oracle.Refusal) string {
	for _, objection := range r.Objections {
		for _, c := range clauses {
			if c.section == objection.Section && (c.about == "" || slices.Contains(objection.Invariants, c.about) || strings.Contains(objection.Text, c.about)) {
				return c.property
			}
		}
	}
	return cluster.PropertyProvider
}

func New(m *check.Run) *Judge {
	var codecs []engine.Codec
	for _, b := range m.World.Builds() {
		codecs = append(codecs, b.Codec)
	}
	deny := promised
	if m.World.Foreign() {
		deny = followed
	}
	return &Judge{Base: check.Base{Run: m}, oracle: oracle.New(oracle.Options{Deny: deny, StorageErrors: true, CallersClocks: m.World.Plan().Store.CallersClock, Codecs: codecs})}
}

// Watch returns a handle that shows every call to the judge.
func (r *Judge) Watch(p engine.Provider, codec engine.Codec) engine.Provider {
	r.watches = true
	return oracle.Watch(p, codec.Name(), r.Run.World.NowMs, func(e oracle.Exchange) {
		if !r.Run.World.Foreign() {
			e.At = oracle.At(r.ended.atMs) // a call takes effect when it ends, at its caller's time if the store has none
		}
		r.judge(e)
	})
}

func (r *Judge) judge(e oracle.Exchange) {
	if r.oracle == nil {
		return
	}
	if !r.begun && !r.Run.World.Foreign() && call.Kind(e.Call) != observe.CallNone {
		r.begun = true
		r.begins(e.At)
	}
	if refusal := r.oracle.Apply(e); refusal != nil {
		r.oracle = nil
		f := check.Breach{Property: cluster.PropertyProvider, Class: cluster.ClassSafety, Message: refusal.Error()}
		if !r.Run.World.Foreign() {
			f.Property, f.Node, f.Instance = property(refusal), r.ended.caller.Node, r.ended.instance
			f.Message = fmt.Sprintf("second judge: the contract does not allow the answer to %s at %s:\n%s", r.Run.Who(r.ended.caller), r.Run.At(r.ended.atMs), f.Message)
		}
		r.Run.Violate(f)
		return
	}
	if !r.Run.World.Foreign() && call.Kind(e.Call) != observe.CallNone {
		r.compare(&e)
	}
}

func (r *Judge) Observes() check.Set[observe.Kind] {
	return check.SetOf(
		observe.InstanceCreated, observe.ParentSet, observe.CustomStatusSet, observe.KVSet, observe.ExecutionCreated, observe.PinSet, observe.StatusSet, observe.EventAppended,
		observe.RowInserted, observe.Damaged, observe.CallEnd,
	)
}

// Observe tells the specification about changes to the store that no call makes.
func (r *Judge) Observe(o *observe.Observation) {
	switch o.Kind {
	case observe.CallEnd:
		r.ended = ended{o.Call, o.Caller, o.Instance, o.AtMs}
		if c := r.Run.Model.Call(o.Call); c != nil && o.Instance == 0 && len(c.Instances) > 0 {
			r.ended.instance = c.Instances[0].No
		}
		return
	case observe.RowInserted:
		for len(r.items) <= int(o.Message) {
			r.items = append(r.items, nil)
		}
		r.items[o.Message] = o.Item
		return
	}
	at := oracle.At(r.Run.World.NowMs())
	if o.Kind == observe.Damaged {
		if o.Message != 0 {
			r.judge(oracle.Exchange{Call: call.CorruptMessage{Item: r.items[o.Message]}, At: at})
			return
		}
		r.judge(oracle.Exchange{Call: call.CorruptEvent{Instance: r.Run.Model.Name(o.Instance), ExecutionID: o.Execution, EventID: o.EventID}, At: at})
		return
	}
	if o.Call != 0 {
		return
	}
	p := call.Plant{Instance: r.Run.Model.Name(o.Instance), ExecutionID: o.Execution}
	switch o.Kind {
	case observe.InstanceCreated, observe.ParentSet, observe.CustomStatusSet, observe.KVSet:
		if !r.Run.World.Foreign() {
			return // the plan says what the store should hold
		}
	}
	switch o.Kind {
	case observe.InstanceCreated:
		p.Orchestration, p.Version = o.Name, o.Token
	case observe.ParentSet:
		p.Parent = &engine.ParentLink{Instance: o.Name, ExecutionID: o.Execution, EventID: o.EventID}
	case observe.CustomStatusSet:
		p.CustomStatus = o.Value
	case observe.KVSet:
		p.Key = &engine.KVEntry{Key: o.Name, Value: *o.Value, LastUpdatedAtMs: uint64(o.UntilMs)}
	case observe.PinSet:
		p.Pin = o.Pin
	case observe.StatusSet:
		p.Status = o.Status
	case observe.EventAppended:
		p.EventID = o.EventID
		for _, b := range r.Run.World.Builds() {
			if e, err := b.Codec.DecodeEvent(o.Bytes); err == nil {
				p.Event = &e
				break
			}
		}
	}
	r.judge(oracle.Exchange{Call: p, At: at})
}

// begins tells the specification what the plan puts into the store at the start of the run, whatever the store has made
// of it. It is called before the first call. The events, and what the executions of a history have, are those that the
// store observes.
func (r *Judge) begins(at oracle.Span) {
	p := r.Run.World.Plan()
	for i := range p.Histories {
		h := &p.Histories[i]
		name, version := h.Handler()
		r.holds(&memprovider.PreloadedInstance{
			Instance: h.Instance, Orchestration: name, Version: version, Parent: h.Parent(), CustomStatus: h.CustomStatus(),
			Executions: []memprovider.PreloadedExecution{{ID: engine.InitialExecutionID}},
		}, at)
	}
	if p.Contents != nil {
		for i := range p.Contents.Instances {
			r.holds(&p.Contents.Instances[i], at)
		}
	}
}

func (r *Judge) holds(in *memprovider.PreloadedInstance, at oracle.Span) {
	plant := func(p call.Plant) {
		p.Instance = in.Instance
		r.judge(oracle.Exchange{Call: p, At: at})
	}
	if in.Orchestration != "" && len(in.Executions) > 0 {
		current := cmp.Or(in.Current, in.Executions[len(in.Executions)-1].ID)
		plant(call.Plant{Orchestration: in.Orchestration, Version: in.Version, ExecutionID: current})
	}
	if in.Parent != nil {
		plant(call.Plant{Parent: in.Parent})
	}
	if in.CustomStatus != nil {
		plant(call.Plant{CustomStatus: in.CustomStatus})
	}
	for i := range in.KV {
		plant(call.Plant{Key: &in.KV[i]})
	}
	for _, x := range in.Executions {
		if x.Pin != nil || x.Status != "" {
			plant(call.Plant{ExecutionID: x.ID, Pin: x.Pin, Status: x.Status, Output: x.Output})
		}
	}
}
