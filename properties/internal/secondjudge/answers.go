package secondjudge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
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
// from the handles, and about changes that no call makes (preloaded instances, damage) from the world.
type Judge struct {
	check.Base
	oracle *oracle.Oracle // nil after the first rejected answer, because a wrong state would misjudge the answers that follow
	ended  ended
	// change is what is compared after a call, in memory for the next call, as ids and keys are.
	change   oracle.Change
	exchange oracle.Exchange
	ids      []uint64
	keys     []oracle.KeyRow
	// watches is set if the judge sees calls. Without them it has no view of the store.
	watches bool
	// compared is set once rows have been compared.
	compared bool
	// failing is set if a fault makes the ack fail that is about to be made.
	failing bool
	held    int // how many instances from before the run the specification has
	// earlier has, by token, the calls that gave and used it, of a store that is not the run's own: which of them was
	// wrong shows only in a later answer.
	earlier map[string]string
	// found is what it has found in this step, and clause what it adds to another finding. due is set if there is one.
	found  check.Breach
	clause string
	due    bool
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
			if c.section == objection.Section && (slices.Contains(objection.Invariants, c.about) || strings.Contains(objection.Text, c.about)) {
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
	r := &Judge{earlier: map[string]string{}, oracle: oracle.New(oracle.Options{Deny: deny, StorageErrors: m.World.Foreign(), CallersClocks: m.World.Plan().Store.CallersClock, Codecs: codecs})}
	r.Base = check.Base{Run: m, OnObserve: check.SetOf(observe.Damaged, observe.CallEnd), OnRecord: check.SetOf(record.Fault), Due: &r.due}
	return r
}

// Watch returns a handle that shows every call to the judge.
func (r *Judge) Watch(p engine.Provider, codec engine.Codec) engine.Provider {
	r.watches = true
	build := codec.Name()
	if r.Run.World.Foreign() {
		return oracle.Watch(p, build, r.Run.World.NowMs, func(e oracle.Exchange) {
			r.holds(e.At)
			r.judge(&e)
		})
	}
	return call.Through(p.Name(), p.Version(), p.Admin() != nil, func(ctx context.Context, c call.Call) call.Answer {
		e := &r.exchange
		e.Build, e.Call, e.Answer = build, c, call.Pass(ctx, p, c)
		r.called(e)
		return e.Answer
	})
}

// called judges a call of the run's own store, which takes effect when it ends, at its caller's time if the store has
// none, and compares what it has left behind.
func (r *Judge) called(e *oracle.Exchange) {
	e.At, e.Failing, r.failing = oracle.At(r.ended.atMs), r.failing, false
	r.holds(e.At)
	if r.judge(e) {
		r.compare(e)
	}
}

// judge reports whether the contract allows the answer.
func (r *Judge) judge(e *oracle.Exchange) bool {
	if r.oracle == nil {
		return false
	}
	refusal := r.oracle.Judge(e)
	token := cmp.Or(oracle.Token(e.Answer), call.LockToken(e.Call))
	if refusal == nil {
		if token != "" && r.Run.World.Foreign() {
			r.earlier[token] += fmt.Sprintf("\n  earlier    with %s at %s ms: %s answered %s", token, e.At, pretty.Cut(call.CallText(e.Call), mostText), pretty.Cut(e.AnswerText(), mostText))
		}
		return true
	}
	f := check.Breach{Property: cluster.PropertyProvider, Class: cluster.ClassSafety, Message: refusal.Error()}
	if r.Run.World.Foreign() {
		r.oracle = nil
		f.Message += r.earlier[token]
		r.Run.Violate(f)
		return false
	}
	f.Property, f.Node, f.Instance = property(refusal), r.ended.caller.Node, r.ended.instance
	before := model.Lock{}
	if c := r.Run.Model.Call(r.ended.call); c != nil {
		if len(c.Instances) == 1 {
			before = c.Instances[0].Was.Lock
		}
		if len(c.Rows) == 1 {
			row := c.Rows[0]
			f.Item, before = model.ItemText(row), cmp.Or(before, row.Was.Lock)
			if f.Instance == 0 && row.Instance != nil {
				f.Instance = row.Instance.No
			}
		}
	}
	clause := "an answer that the contract does not allow"
	if len(refusal.Objections) > 0 {
		clause = r.virtual(refusal.Objections[0].String())
	}
	f.Message = r.after(e, true, f.Item) + clause
	if before.Token != "" && call.LockToken(e.Call) == before.Token {
		f.Message += "; the lock was " + r.Run.LockText(before)
	}
	for _, c := range refusal.Objections[min(1, len(refusal.Objections)):] {
		f.Message += "\n  and        " + r.virtual(c.String())
	}
	f.Message += r.evidence(e)
	for _, c := range refusal.Allowed {
		if strings.HasPrefix(c.Text, "{") && strings.Contains(clause, r.virtual(c.Text)) {
			continue // the objection has the counts already
		}
		f.Message += "\n  expected   " + r.virtual(c.String())
	}
	r.finds(f, clause)
	return false
}

// unruled lists the properties that have no rule of their own: what a rule finds in the same step is another one.
var unruled = []string{"S05", "S06", "S14", "S15", "S18", "S25", "S26"}

// Alone returns the IDs of the properties that nobody else judges.
func Alone() []string { return slices.Clone(unruled) }

// finds keeps a finding until the end of the step, for the rules may have found the same.
func (r *Judge) finds(f check.Breach, clause string) {
	f.Step = r.Run.World.Step()
	r.oracle, r.found, r.clause, r.due = nil, f, clause, true
}

// AfterStep reports what was found in the step.
func (r *Judge) AfterStep() {
	if r.due {
		r.due = false
		if slices.Contains(unruled, r.found.Property) {
			r.Run.Violate(r.found)
			return
		}
		r.Run.Second(r.found, r.clause)
	}
}

func (r *Judge) RecordsOf(record.Kind) check.Set[observe.CallKind] {
	return check.SetOf(observe.CallAckOrchestrationItem)
}

// Record notes that a fault makes the next ack fail.
func (r *Judge) Record(f *cluster.Record) { r.failing = f.Fault == faults.AckStepError }

// Observe tells the specification about damage, which no call does.
func (r *Judge) Observe(o *observe.Observation) {
	if o.Kind == observe.CallEnd {
		r.ended = ended{o.Call, o.Caller, o.Instance, o.AtMs}
		if c := r.Run.Model.Call(o.Call); c != nil && o.Instance == 0 && len(c.Instances) > 0 {
			r.ended.instance = c.Instances[0].No
		}
		return
	}
	at := oracle.At(r.Run.World.NowMs())
	switch {
	case o.Message == 0:
		r.judge(&oracle.Exchange{Call: call.CorruptEvent{Instance: r.Run.Model.Name(o.Instance), ExecutionID: o.Execution, EventID: o.EventID}, At: at})
	case r.Run.World.Foreign():
		r.judge(&oracle.Exchange{Call: call.CorruptMessage{Item: r.Run.Model.Row(o.Message).Item}, At: at})
	case r.oracle != nil:
		r.oracle.Damage(uint64(o.Message))
	}
}

// holds tells the specification what has been put into the store without a call, whatever the store has made of it.
func (r *Judge) holds(at oracle.Span) {
	for all := r.Run.World.Preloaded(); r.held < len(all); r.held++ {
		in := &all[r.held]
		plant := func(p call.Plant) {
			p.Instance = in.Instance
			r.judge(&oracle.Exchange{Call: p, At: at})
		}
		if in.Orchestration != "" {
			plant(call.Plant{Orchestration: in.Orchestration, Version: in.Version, ExecutionID: cmp.Or(in.Current, in.Executions[len(in.Executions)-1].ID)})
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
			plant(call.Plant{ExecutionID: x.ID, Pin: x.Pin, Status: x.Status, Output: x.Output})
			for _, e := range x.Events {
				plant(call.Plant{ExecutionID: x.ID, EventID: e.ID, Event: r.decoded(e.Data), Bytes: len(e.Data)})
			}
		}
	}
}

// decoded returns an event as the first build that decodes it does, or nil if none does.
func (r *Judge) decoded(data []byte) *engine.Event {
	for _, b := range r.Run.World.Builds() {
		if e, err := b.Codec.DecodeEvent(data); err == nil {
			return &e
		}
	}
	return nil
}
