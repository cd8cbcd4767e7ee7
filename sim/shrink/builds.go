package shrink

import (
	"slices"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim/plan"
)

// buildParts returns the declared builds and the lines below each of them. When a build is removed, its nodes run the
// build that it was declared like.
func buildParts() []parts {
	return []parts{
		{"build", func(c Concrete) int { return len(c.Plan.Builds) }, withoutBuilds},
		{"build line", func(c Concrete) int { return total(c.Plan.Builds, linesOf) }, withoutBuildLines},
	}
}

func withoutBuilds(c Concrete, drop []bool) Concrete {
	became := map[string]string{} // never iterated over, so map order does not matter
	now := func(name string) string {
		if to, gone := became[name]; gone {
			return to
		}
		return name
	}
	return edit(c, func(p *plan.Plan) {
		var builds []plan.Build
		for i, b := range p.Builds {
			b.Like = now(b.Like)
			if drop[i] {
				became[b.Name] = b.Like
			} else {
				builds = append(builds, b)
			}
		}
		p.Builds = builds
		p.Nodes, p.Schedule, p.Probes, p.Bugs = slices.Clone(p.Nodes), slices.Clone(p.Schedule), slices.Clone(p.Probes), slices.Clone(p.Bugs)
		for i := range p.Nodes {
			p.Nodes[i].Build = now(p.Nodes[i].Build)
		}
		for i := range p.Schedule {
			p.Schedule[i].Build = now(p.Schedule[i].Build)
		}
		for i := range p.Probes {
			p.Probes[i].Build = now(p.Probes[i].Build)
		}
		for i, id := range p.Bugs {
			if bug, whose := id.On(); whose != "" {
				p.Bugs[i] = faults.BugID(string(bug) + "@" + now(whose))
			}
		}
	})
}

// linesOf counts the removable parts of a declared build: its range, its whole list of handlers, and each name in that
// list.
func linesOf(b plan.Build) int {
	n := len(b.Reads.With) + len(b.Reads.Without) + len(b.Writes.With) + len(b.Writes.Without) +
		len(b.Handlers.Only) + len(b.Handlers.With) + len(b.Handlers.Without) + len(b.Semantics) + len(b.Lacks)
	if b.Limits != (plan.Build{}).Limits {
		n++
	}
	if b.Range != nil {
		n++
	}
	if b.Handlers.Only != nil {
		n++
	}
	return n
}

func withoutBuildLines(c Concrete, drop []bool) Concrete {
	return edit(c, func(p *plan.Plan) {
		p.Builds = slices.Clone(p.Builds)
		for i := range p.Builds {
			b := &p.Builds[i]
			if b.Range != nil {
				if drop[0] {
					b.Range = nil
				}
				drop = drop[1:]
			}
			if b.Handlers.Only != nil {
				whole := drop[0]
				drop = drop[1:]
				if b.Handlers.Only = append([]string{}, take(b.Handlers.Only, &drop)...); whole {
					b.Handlers.Only = nil
				}
			}
			if b.Limits != (plan.Build{}).Limits {
				if drop[0] {
					b.Limits = plan.Build{}.Limits
				}
				drop = drop[1:]
			}
			b.Semantics = take(b.Semantics, &drop)
			b.Lacks = take(b.Lacks, &drop)
			b.Reads.With = take(b.Reads.With, &drop)
			b.Reads.Without = take(b.Reads.Without, &drop)
			b.Writes.With = take(b.Writes.With, &drop)
			b.Writes.Without = take(b.Writes.Without, &drop)
			b.Handlers.With = take(b.Handlers.With, &drop)
			b.Handlers.Without = take(b.Handlers.Without, &drop)
		}
	})
}

// take returns what remains of a list. It consumes the part of drop that belongs to the list.
func take[T any](list []T, drop *[]bool) []T {
	n := len(list)
	left := less(list, (*drop)[:n])
	*drop = (*drop)[n:]
	return left
}
