package command

import (
	"fmt"

	"github.com/durosim/durosim/sim/workload"
)

// warn prints what is odd about a scenario without being an error.
func (a *app) warn(s *subject) {
	all := s.scenario.Warnings()
	if a.program.Handlers == nil {
		all = append(all, s.scenario.WarningsOf(workload.Doubts)...)
	}
	for _, w := range all {
		fmt.Fprintf(a.stderr, "%s: warning: %v\n", a.program.name(), w)
	}
}
