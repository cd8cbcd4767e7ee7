package command

import (
	"fmt"

	"github.com/durosim/durosim/sim/workload"
)

// warn prints warnings about suspicious but valid parts of the scenario.
func (a *app) warn(s *subject) {
	all := s.scenario.Warnings()
	if a.program.Handlers == nil {
		all = append(all, s.scenario.WarningsOf(workload.Doubts)...)
	}
	for _, w := range all {
		fmt.Fprintf(a.stderr, "%s: warning: %v\n", a.program.name(), w)
	}
}
