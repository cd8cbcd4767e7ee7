package cluster_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim/cluster"
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
		in := plan.Instance{
			ID: fmt.Sprintf("%s-%d", kind, i), Orchestration: kind, StartAt: time.Duration(i) * 1500 * time.Millisecond,
		}
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

func TestRollingUpgradeEnds(t *testing.T) {
	for seed := range uint64(20) {
		r, err := cluster.Run(cluster.Config{Plan: upgradePlan(30, faults.Light()), Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range r.Violations {
			t.Errorf("seed %d: %+v", seed, v)
		}
		for _, o := range r.FinalStates {
			if o.Status != "Completed" && o.Status != "Failed" {
				t.Errorf("seed %d: %s is %s in execution %d", seed, o.Instance, o.Status, o.Execution)
			}
		}
		if seed == 0 {
			t.Logf("steps %d turns %d calls %d virtual %dms digest %s", r.Steps, r.Turns, r.Calls, r.Virtual, r.Digest)
			for _, o := range r.FinalStates {
				t.Logf("%+v", o)
			}
		}
	}
}
