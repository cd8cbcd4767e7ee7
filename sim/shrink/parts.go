package shrink

import (
	"slices"

	"github.com/durosim/durosim/faults"
	"github.com/durosim/durosim/sim"
	"github.com/durosim/durosim/sim/plan"
)

// parts is one kind of part that can be removed from a concrete plan.
type parts struct {
	name string
	len  func(c Concrete) int
	// without returns the plan without the parts whose entry in drop is true. It shares unchanged parts with c.
	without func(c Concrete, drop []bool) Concrete
}

// planParts returns a plan's kinds of parts in the order in which they are tried. Those whose removal removes the most
// other parts come first.
func planParts() []parts {
	return append([]parts{
		{"instance", func(c Concrete) int { return len(c.Plan.Instances) }, func(c Concrete, drop []bool) Concrete {
			return edit(c, func(p *plan.Plan) { p.Instances = less(p.Instances, drop) })
		}},
		{"history", func(c Concrete) int { return len(c.Plan.Histories) }, func(c Concrete, drop []bool) Concrete {
			return edit(c, func(p *plan.Plan) { p.Histories = less(p.Histories, drop) })
		}},
		{"probe", func(c Concrete) int { return len(c.Plan.Probes) }, func(c Concrete, drop []bool) Concrete {
			return edit(c, func(p *plan.Plan) { p.Probes = less(p.Probes, drop) })
		}},
		{"node", func(c Concrete) int { return len(c.Plan.Nodes) }, withoutNodes},
		{"step", func(c Concrete) int { return len(c.Plan.Schedule) }, func(c Concrete, drop []bool) Concrete {
			return edit(c, func(p *plan.Plan) { p.Schedule = less(p.Schedule, drop) })
		}},
		{"rate", func(c Concrete) int { return len(c.Plan.Faults.Rates) }, func(c Concrete, drop []bool) Concrete {
			return edit(c, func(p *plan.Plan) { p.Faults.Rates = less(p.Faults.Rates, drop) })
		}},
		{"expectation", func(c Concrete) int { return len(c.Expect) }, func(c Concrete, drop []bool) Concrete {
			c.Expect = less(c.Expect, drop)
			return c
		}},
		{"action", func(c Concrete) int { return total(c.Plan.Instances, actionsOf) }, func(c Concrete, drop []bool) Concrete {
			return edit(c, func(p *plan.Plan) {
				p.Instances = withoutEach(p.Instances, func(x *plan.Instance) *[]plan.Action { return &x.Actions }, drop)
			})
		}},
		{"option", func(c Concrete) int { return total(c.Plan.Nodes, optionsOf) }, func(c Concrete, drop []bool) Concrete {
			return edit(c, func(p *plan.Plan) {
				p.Nodes = withoutEach(p.Nodes, func(x *plan.Node) *[]plan.Setting { return &x.Options }, drop)
			})
		}},
		{"handler", func(c Concrete) int { return total(c.Plan.Nodes, handlersOf) }, func(c Concrete, drop []bool) Concrete {
			return edit(c, func(p *plan.Plan) {
				p.Nodes = withoutEach(p.Nodes, func(x *plan.Node) *[]string { return &x.Handlers }, drop)
			})
		}},
	}, slices.Concat(clockParts(), probeParts(), programParts(), buildParts())...)
}

// choiceParts returns the chooser's decisions as parts.
func choiceParts() []parts {
	return []parts{
		{"choice", func(c Concrete) int { return len(c.Choices.Choices) }, func(c Concrete, drop []bool) Concrete {
			r := *c.Choices
			r.Choices = less(r.Choices, drop)
			c.Choices = &r
			return c
		}},
		{"priority", func(c Concrete) int { return len(c.Choices.Priorities) }, func(c Concrete, drop []bool) Concrete {
			r := *c.Choices
			r.Priorities = less(r.Priorities, drop)
			c.Choices = &r
			return c
		}},
	}
}

// edit returns c with a changed copy of its plan. change must not write to the plan's slices.
func edit(c Concrete, change func(p *plan.Plan)) Concrete {
	plan := *c.Plan
	change(&plan)
	c.Plan = &plan
	return c
}

// less returns a list without the elements whose entry in drop is true.
func less[T any](list []T, drop []bool) []T {
	var out []T
	for i, x := range list {
		if !drop[i] {
			out = append(out, x)
		}
	}
	return out
}

func total[T any](list []T, count func(x T) int) int {
	n := 0
	for _, x := range list {
		n += count(x)
	}
	return n
}

func actionsOf(in plan.Instance) int { return len(in.Actions) }
func optionsOf(n plan.Node) int      { return len(n.Options) }
func handlersOf(n plan.Node) int     { return len(n.Handlers) }

// withoutNodes removes nodes, along with their steps and faults.
func withoutNodes(c Concrete, drop []bool) Concrete {
	gone := func(name string) bool {
		i := slices.IndexFunc(c.Plan.Nodes, func(n plan.Node) bool { return n.Name == name })
		return i >= 0 && drop[i]
	}
	return edit(c, func(p *plan.Plan) {
		p.Nodes = less(p.Nodes, drop)
		p.Schedule = slices.DeleteFunc(slices.Clone(p.Schedule), func(s plan.Step) bool { return gone(s.Node) })
		p.Faults.Rates = slices.DeleteFunc(slices.Clone(p.Faults.Rates), func(r faults.Rate) bool { return gone(r.Node) })
	})
}

// withoutEach removes parts from the elements of a list. The parts are numbered across all elements. If a list of parts
// becomes empty, it is not nil, because a node with a nil list of handlers has all of its build's handlers.
func withoutEach[T, P any](list []T, of func(x *T) *[]P, drop []bool) []T {
	list = slices.Clone(list)
	for i := range list {
		if its := of(&list[i]); len(*its) > 0 {
			n := len(*its)
			*its = append([]P{}, less(*its, drop[:n])...)
			drop = drop[n:]
		}
	}
	return list
}

// onlyFaults returns a recording with only the choices about faults, in the order of arrival.
func onlyFaults(r *sim.Recording) *sim.Recording {
	out := &sim.Recording{}
	for _, c := range r.Choices {
		if isFault(c.Key) {
			out.Choices = append(out.Choices, c)
		}
	}
	return out
}
