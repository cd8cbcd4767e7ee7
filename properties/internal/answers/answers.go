package answers

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/call"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/sim/cluster"
)

// ID is the id for reporting an answer of durosim's own store that the provider contract forbids. It is not a property
// of a cluster.
const ID = "referee"

// promised lists the freedoms that memprovider's documentation says it does not use. The referee holds the simulation's
// store to these promises, which also reduces how many states are possible.
var promised = []oracle.Freedom{
	"F1", "F4", "F5", "F6", "F7", "F8",
	"F9", "F15", "F18", "F19", "F20", "F21",
	"F22", "F23", "F25", "F26", "F27", "F28",
	"X1", "X6",
}

// followed lists the freedoms that no other store may use. Their effects show only later, in other answers, so the
// referee could not follow the run.
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
	return &Judge{Base: check.Base{Run: m}, oracle: oracle.New(oracle.Options{Deny: deny, StorageErrors: true, Codecs: codecs})}
}

// Watch returns a handle that shows every call to the referee.
func (r *Judge) Watch(p engine.Provider, codec engine.Codec) engine.Provider {
	return oracle.Watch(p, codec.Name(), r.Run.World.NowMs, r.judge)
}

func (r *Judge) judge(e oracle.Exchange) {
	if r.oracle == nil {
		return
	}
	if refusal := r.oracle.Apply(e); refusal != nil {
		r.oracle = nil
		f := check.Breach{Property: ID, Class: cluster.ClassInternal, Message: refusal.Error()}
		if r.Run.World.Foreign() {
			f.Property, f.Class = cluster.PropertyProvider, cluster.ClassSafety
		}
		r.Run.Violate(f)
	}
}

func (r *Judge) Observes() check.Set[observe.Kind] {
	return check.SetOf(
		observe.InstanceCreated, observe.ParentSet, observe.CustomStatusSet, observe.KVSet, observe.ExecutionCreated, observe.PinSet, observe.StatusSet, observe.EventAppended,
		observe.RowInserted, observe.Damaged,
	)
}

// Observe tells the specification about changes to the store that no call makes.
func (r *Judge) Observe(o *observe.Observation) {
	if o.Kind == observe.RowInserted {
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
