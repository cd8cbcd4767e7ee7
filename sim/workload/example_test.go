package workload_test

import (
	"fmt"

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
