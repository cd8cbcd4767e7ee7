package workload

import (
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/program"
)

// RegisterPrograms registers programs and the activities they call. Every node has these in addition to its handlers.
func RegisterPrograms(r *node.Registry, set plan.Programs) error {
	if len(set) == 0 {
		return nil
	}
	for i := range set {
		version, err := engine.ParseVersion(set[i].At())
		if err != nil {
			return err
		}
		if err := r.Register(set[i].Name, version, set[i].Handler()); err != nil {
			return fmt.Errorf("program %s: %w", set[i].Name, err)
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
