package cluster_test

import (
	"fmt"
	"time"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim/plan"
)

// upgradePlan is a small rolling upgrade under load.
func upgradePlan(instances int, f faults.Plan) *plan.Plan {
	p := &plan.Plan{Name: "upgrade", Faults: f}
	for _, name := range []string{"A", "B", "C"} {
		p.Nodes = append(p.Nodes, plan.Node{Name: name, Build: "1.5.0"})
	}
	for i, name := range []string{"A", "B", "C"} {
		p.Schedule = append(p.Schedule, plan.Step{At: time.Duration(10+15*i) * time.Second, Verb: plan.VerbUpgrade, Node: name, Build: "2.0.0"})
	}
	kinds := []string{"ProcessOrder", "Eternal", "Counter", "FanOut", "Parent", "Approval", "Chain", "Cancellable"}
	for i := range instances {
		kind := kinds[i%len(kinds)]
		in := plan.Instance{ID: fmt.Sprintf("%s-%d", kind, i), Orchestration: kind, StartAt: time.Duration(i) * 1500 * time.Millisecond}
		switch kind {
		case "Eternal":
			in.Expect = plan.EndEternal
		case "ProcessOrder", "Approval":
			for _, after := range []time.Duration{3 * time.Second, 45 * time.Second} { // again when the lock of a crashed worker is over
				in.Actions = append(in.Actions, plan.Action{At: in.StartAt + after, Verb: plan.ActionRaise, Name: "approval", Data: "boss"})
			}
		case "Cancellable":
			in.Expect = plan.EndAny
		}
		p.Instances = append(p.Instances, in)
	}
	return p
}
