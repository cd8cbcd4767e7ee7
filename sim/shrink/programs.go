package shrink

import (
	"slices"
	"time"

	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/program"
)

// programParts returns the programs and their statements. A plan that starts a removed program is invalid, so only
// unused programs can be removed.
func programParts() []parts {
	return []parts{
		{"program", func(c Concrete) int { return len(c.Plan.Programs) }, func(c Concrete, drop []bool) Concrete {
			return edit(c, func(p *plan.Plan) { p.Programs = less(p.Programs, drop) })
		}},
		{"statement", func(c Concrete) int { return c.Plan.Programs.Statements() }, func(c Concrete, drop []bool) Concrete {
			return edit(c, func(p *plan.Plan) { p.Programs = p.Programs.Without(drop) })
		}},
	}
}

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
				p.Instances = slices.Clone(p.Instances)
				p.Instances[i].Orchestration = name
			})) {
				changed = true
				break
			}
		}
	}
	return changed
}

// programValues returns the numbers that occur in programs: times and counts.
func programValues(set program.Set) []value {
	var out []value
	at := 0
	for i := range set {
		program.Walk(set[i].Body, func(n *program.Node) {
			if n.Delay > 0 {
				out = append(out, statementValue(at, timeUnits, 0, delayOf))
			}
			if n.Size > 0 {
				out = append(out, statementValue(at, countUnits, int64(min(n.Size, 1)), sizeOf))
			}
			if n.Count > 0 {
				out = append(out, statementValue(at, countUnits, 1, repeatsOf))
			}
			at++
		})
	}
	return out
}

// field accesses a number in a statement. It returns the number and, if to is not nil, sets it.
type field func(n *program.Node, to *int64) int64

func delayOf(n *program.Node, to *int64) int64 {
	if to != nil {
		n.Delay = time.Duration(*to)
	}
	return int64(n.Delay)
}

func repeatsOf(n *program.Node, to *int64) int64 {
	if to != nil {
		n.Count = int(*to)
	}
	return int64(n.Count)
}

func sizeOf(n *program.Node, to *int64) int64 {
	if to != nil {
		n.Size = int(*to)
	}
	return int64(n.Size)
}

func statementValue(at int, units []int64, least int64, f field) value {
	return value{
		get: func(c Concrete) (v int64) {
			c.Plan.Programs.Edit(at, func(n *program.Node) { v = f(n, nil) })
			return v
		},
		set: func(c Concrete, v int64) Concrete {
			return edit(c, func(p *plan.Plan) {
				p.Programs = p.Programs.Edit(at, func(n *program.Node) { f(n, &v) })
			})
		},
		units: units, least: least,
	}
}
