package workload_test

import (
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/sim/workload"
)

func ExampleOrchestrations() {
	for _, o := range workload.Orchestrations() {
		if o.Name == "ProcessOrder" {
			fmt.Printf("%s@%s, since build %s: %s\n", o.Name, o.Version, o.Since, o.Summary)
		}
	}
	// Output:
	// ProcessOrder@1.0.0, since build 0.0.0: reserves, waits for "approval", charges, pauses, ships
	// ProcessOrder@2.0.0, since build 2.0.0: the same with the wait of the new generation, which times out
}

func ExampleDeploy() {
	greet := func(word string) func(*node.Registry) error {
		return func(r *node.Registry) error {
			return r.Register("Greet", engine.V(1, 0, 0), func(_ *orch.Context, name string) (string, error) { return word + ", " + name, nil })
		}
	}
	builds, _, err := workload.Deploy([]string{"1.5.0", "2.0.0"},
		workload.Application{Version: "1.0.0", Register: greet("Hello")},
		workload.Application{Version: "1.1.0", Register: greet("Good morning")})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range builds {
		fmt.Println(b.Name())
	}
	// Output:
	// 1.5.0+1.0.0
	// 1.5.0+1.1.0
	// 2.0.0+1.0.0
	// 2.0.0+1.1.0
}
