package safety

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/properties/internal/model"
)

// begins initializes the expected state with the instances that the plan puts into the store at the start of the run,
// and checks that the store has them. It is called at the end of the first call, which cannot have changed any of this.
func (k *stateChecker) begins() {
	k.begun = true
	p := k.Run.World.Plan()
	for i := range p.Histories {
		h := &p.Histories[i]
		name, version := h.Handler()
		b := beginning{instance: h.Instance, orchestration: name, version: version, status: h.CustomStatus()}
		if parent := h.Parent(); parent != nil {
			b.parent = *parent
		}
		k.beginsAs(b)
	}
	if p.Contents != nil {
		for i := range p.Contents.Instances {
			in := &p.Contents.Instances[i]
			b := beginning{instance: in.Instance, orchestration: in.Orchestration, version: in.Version, status: in.CustomStatus, keys: in.KV}
			if in.Parent != nil {
				b.parent = *in.Parent
			}
			k.beginsAs(b)
		}
	}
}

// beginning is an instance's state at the start of the run. An instance without an orchestration has no row.
type beginning struct {
	instance, orchestration, version string
	parent                           engine.ParentLink
	status                           *string
	keys                             []engine.KVEntry
}

func (k *stateChecker) beginsAs(given beginning) {
	no := k.Run.Model.Number(given.instance)
	if no == 0 && k.Run.World.Foreign() {
		return
	}
	if no == 0 {
		k.Run.Safety("S17", 0, 0, "the store knows nothing of %s: expected what the plan says that it holds at the start", given.instance)
		return
	}
	d, in := k.of(no, true), k.Run.Model.Instance(no)
	if d.status = given.status; d.status != nil {
		d.version = 1
	}
	for _, e := range given.keys {
		d.store = putKV(d.store, model.KeyValue{Key: e.Key, Value: &e.Value, UpdatedMs: e.LastUpdatedAtMs})
	}
	if k.Run.World.Foreign() {
		return // a node's calls have created this state, and they are judged as calls
	}
	if in.Created != (given.orchestration != "") || in.Orchestration != given.orchestration || in.Version != given.version || in.Parent != given.parent {
		k.Run.Safety("S17", 0, no, "at the start of the run the store holds %s as %s@%s with the parent %+v: expected %s@%s with %+v, as the plan says",
			given.instance, in.Orchestration, in.Version, in.Parent, given.orchestration, given.version, given.parent)
	}
	if seen := k.settle(no); seen != "" {
		k.Run.Safety("S17", 0, no, "at the start of the run the store holds %s otherwise than the plan says: %s", given.instance, seen)
	}
}
