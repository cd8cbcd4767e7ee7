package shrink

import "github.com/durosim/durosim/sim/plan"

// fewerBlocks replaces blocks with their contents where possible, and reports whether it changed anything.
func (s *search) fewerBlocks() (changed bool) {
	for at := s.best.Plan.Programs.Statements() - 1; at >= 0; at-- {
		set, ok := s.best.Plan.Programs.Unblock(at)
		if ok && s.try(edit(s.best, func(p *plan.Plan) { p.Programs = set })) {
			changed = true
		}
	}
	return changed
}

// earlierPrograms makes instances run a program that their own program may start, wherever the plan still fails
// afterwards. It reports whether it changed anything.
func (s *search) earlierPrograms() (changed bool) {
	for i := range s.best.Plan.Instances {
		for j := range s.best.Plan.Programs {
			name := s.best.Plan.Programs[j].Name
			if name == s.best.Plan.Instances[i].Orchestration {
				break
			}
			if s.best.Plan.Programs.Lookup(s.best.Plan.Instances[i].Orchestration) == nil {
				break
			}
			if s.try(edit(s.best, func(p *plan.Plan) {
				p.Instances[i].Orchestration = name
			})) {
				changed = true
				break
			}
		}
	}
	return changed
}
