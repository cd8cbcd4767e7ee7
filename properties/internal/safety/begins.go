package safety

import (
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/internal/model"
)

// begins takes over the state of the instances that, says the plan, the store holds at the start of the run, and checks that
// it holds them so. It is called at the end of the first call, which can change none of that.
func (k *stateChecker) begins(c *model.Call) {
	p := k.Run.World.Plan()
	if k.begun = true; p == nil || k.Run.World.Foreign() {
		return
	}
	for i := range p.Histories {
		h := &p.Histories[i]
		name, version := h.Handler()
		k.beginsAs(c, &memprovider.PreloadedInstance{Instance: h.Instance, Orchestration: name, Version: version, CustomStatus: h.CustomStatus()})
	}
	if p.Contents != nil {
		for i := range p.Contents.Instances {
			k.beginsAs(c, &p.Contents.Instances[i])
		}
	}
}

func (k *stateChecker) beginsAs(c *model.Call, given *memprovider.PreloadedInstance) {
	no := k.Run.Model.Number(given.Instance)
	if no == 0 {
		k.Run.Safety("S17", 0, 0, "the store knows nothing of %s: expected what the plan says that it holds at the start", given.Instance)
		return
	}
	d, in := k.of(no, true), k.Run.Model.Instance(no)
	if d.status = given.CustomStatus; d.status != nil {
		d.version = 1
	}
	for _, e := range given.KV {
		d.store = putKV(d.store, model.KeyValue{Key: e.Key, Value: &e.Value, UpdatedMs: e.LastUpdatedAtMs})
	}
	parent := engine.ParentLink{}
	if given.Parent != nil {
		parent = *given.Parent
	}
	if in.Created != (given.Orchestration != "") || in.Orchestration != given.Orchestration || in.Version != given.Version || in.Parent != parent {
		k.report(c, no, fmt.Sprintf("finds %s@%s with the parent %+v at the start of the run, expected %s@%s with %+v, as the plan says",
			in.Orchestration, in.Version, in.Parent, given.Orchestration, given.Version, parent))
	}
	k.compare(c, no)
}
