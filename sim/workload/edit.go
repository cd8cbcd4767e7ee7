package workload

import (
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/sim/plan"
)

// EditSpace returns a space with everything that durosim ships, except for builds with other replay semantics: no run can
// satisfy a plan that switches between semantics.
func EditSpace() *plan.EditSpace {
	s := &plan.EditSpace{Known: Known(), Work: ShippedWork(), Handlers: pretty.Texts(Common(), Orchestration.fullName)}
	for _, f := range faults.Kinds() {
		s.Faults = append(s.Faults, f.Kind)
	}
	for _, b := range engine.ShippedBuilds() {
		if b.Semantics == engine.SemanticsStandard {
			s.Builds = append(s.Builds, b.Name())
		}
	}
	return s
}

// ShippedWork returns instances of the shipped orchestrations. Their clients' actions are timed relative to the
// instance's start.
func ShippedWork() []plan.Instance {
	var out []plan.Instance
	for _, o := range Common() {
		in := plan.Instance{ID: o.Name, Orchestration: o.Name, Expect: o.Expect}
		switch o.Name {
		case "Studio":
			continue // needs a worker with a tag, which random nodes do not have
		case "ProcessOrder":
			if len(out) > 0 && out[len(out)-1].ID == o.Name {
				continue // its starter chooses its version
			}
			in.Actions = []plan.Action{{At: 2 * time.Second, Verb: plan.ActionRaise, Name: "approval", Topic: "orders", Data: "yes"}}
		case "Approval":
			in.Input = "4s"
			in.Actions = []plan.Action{{At: 3 * time.Second, Verb: plan.ActionRaise, Name: "approval", Data: "yes"}}
		case "Cancellable":
			in.Actions = []plan.Action{{At: 5 * time.Second, Verb: plan.ActionCancel, Data: "enough"}}
		}
		out = append(out, in)
	}
	return out
}
