package planedit

import (
	"slices"

	"github.com/durosim/durosim/sim/plan"
)

// Reasonable reports whether plan p, an edited form of plan was, still makes sense. If the original plan expects an
// instance to end because of an external cause, p must keep that cause.
func Reasonable(p *plan.Plan, was *plan.Plan) bool {
	for i := range p.Instances {
		in := &p.Instances[i]
		if in.Expect == "" || in.Expect == plan.EndCompleted || in.Expect == plan.EndAny {
			continue
		}
		j := slices.IndexFunc(was.Instances, func(o plan.Instance) bool { return o.ID == in.ID })
		if j >= 0 && cancels(&was.Instances[j]) != cancels(in) {
			return false
		}
	}
	return true
}

func cancels(in *plan.Instance) int {
	n := 0
	for _, a := range in.Actions {
		if a.Verb == plan.ActionCancel {
			n++
		}
	}
	return n
}
