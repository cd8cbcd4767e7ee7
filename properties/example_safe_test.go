package properties_test

import (
	"fmt"
	"time"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// A monitor watches a run over a provider that applies the capability filter too late.
func ExampleNew() {
	plan := &plan.Plan{
		Name:  "only an old node is left",
		Nodes: []plan.Node{{Name: "new", Build: "2.0.0"}, {Name: "old", Build: "1.5.0"}},
		Schedule: []plan.Step{
			{At: 3 * time.Second, Verb: plan.VerbStop, Node: "new"},
			{At: 6 * time.Second, Verb: plan.VerbStart, Node: "old"},
		},
		Instances: []plan.Instance{{ID: "order-1", Orchestration: "ProcessOrder", Actions: []plan.Action{
			{At: 5 * time.Second, Verb: plan.ActionRaise, Name: "approval", Data: "boss"},
		}}},
		Bugs: []faults.BugID{"provider/filter-after-lock"},
	}
	r, err := cluster.Run(cluster.Config{Plan: plan, Seed: 1, Monitor: func(w *cluster.World) cluster.Monitor {
		return properties.New(w, properties.Options{Properties: []string{"S01"}})
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range r.Violations[:min(1, len(r.Violations))] {
		fmt.Println(v.Property, v.Class, v.Node, v.Instance)
	}
	// Output:
	// S01 safety old order-1
}

func ExampleCatalogue() {
	for _, p := range properties.Catalogue()[:3] {
		fmt.Println(p)
	}
	// Output:
	// S01 filter-before-lock
	// S02 filter-before-deserialize
	// S03 unpinned-is-compatible
}

func ExampleByID() {
	p, ok := properties.ByID("S08")
	fmt.Println(p.Name, p.Class, ok)
	fmt.Println(p.Statement)
	// Output:
	// terminal-once safety true
	// An execution's terminal status never changes, and its history has one terminal event.
}
