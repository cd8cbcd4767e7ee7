package cluster

import (
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim/program"
)

// CalmData is the data of the events that clients raise in calm.
const CalmData = "calm"

// ActivityPanicText is the text with which an activity fails that a fault made panic.
const ActivityPanicText = "activity panicked by a fault"

// registerPrograms registers the plan's programs and what they call. Every node has them, whatever else it has.
func (p *Plan) registerPrograms(r *node.Registry) error {
	if len(p.Programs) == 0 {
		return nil
	}
	version, err := engine.ParseVersion(program.Version)
	if err != nil {
		return err
	}
	for i := range p.Programs {
		if err := r.Register(p.Programs[i].Name, version, p.Programs.Handler(p.Programs[i].Name)); err != nil {
			return fmt.Errorf("program %s: %w", p.Programs[i].Name, err)
		}
	}
	for _, a := range program.Activities() {
		run := func(_ node.ActivityContext, input string) (string, error) { return a.Run(input) }
		if err := r.RegisterActivity(a.Name, run); err != nil {
			return err
		}
	}
	return nil
}

func (v *validation) programs() {
	if err := v.plan.Programs.Validate(); err != nil {
		v.errs = append(v.errs, err)
	}
	for i := range v.plan.Programs {
		name := v.plan.Programs[i].Name
		if slices.ContainsFunc(ShippedOrchestrations(), func(o ShippedOrchestration) bool { return o.Name == name }) {
			v.fail("program %s: there is a shipped orchestration of that name", name)
		}
	}
	for i := range v.plan.Instances {
		in := &v.plan.Instances[i]
		if v.plan.Programs.Lookup(in.Orchestration) == nil {
			continue
		}
		if in.Version != "" && in.Version != program.Version {
			v.fail("instance %s: program %s has version %s, not %s", in.ID, in.Orchestration, program.Version, in.Version)
		}
		if !program.IsInput(in.Input) {
			v.fail("instance %s: a program is not given the input %q", in.ID, in.Input)
		}
	}
}
