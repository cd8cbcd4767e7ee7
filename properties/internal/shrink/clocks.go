package shrink

import (
	"slices"

	"github.com/durosim/durosim/sim/plan"
)

// clockParts returns the nodes' wrong clocks and the plan's settings for the contract and the store.
func clockParts() []parts {
	return []parts{
		{"contract", func(c Concrete) int { return countIf(c.Plan.Contract != "") }, func(c Concrete, drop []bool) Concrete {
			return edit(c, func(p *plan.Plan) {
				if drop[0] {
					p.Contract = ""
				}
			})
		}},
		{"clock", func(c Concrete) int { return total(c.Plan.Nodes, clocksOf) }, func(c Concrete, drop []bool) Concrete {
			return edit(c, func(p *plan.Plan) {
				p.Nodes = slices.Clone(p.Nodes)
				n := 0
				for i := range p.Nodes {
					if clocksOf(p.Nodes[i]) == 0 {
						continue
					}
					if drop[n] {
						p.Nodes[i].Clock = plan.Clock{}
					}
					n++
				}
			})
		}},
		{"store", func(c Concrete) int { return countIf(c.Plan.Store.CallersClock) + countIf(c.Plan.Store.Serial > 0) }, func(c Concrete, drop []bool) Concrete {
			return edit(c, func(p *plan.Plan) {
				both := p.Store.CallersClock && p.Store.Serial > 0
				if p.Store.Serial > 0 && drop[countIf(both)] {
					p.Store.Serial = 0
				}
				if p.Store.CallersClock && drop[0] {
					p.Store.CallersClock = false
				}
			})
		}},
	}
}

func clocksOf(n plan.Node) int { return countIf(n.Clock != plan.Clock{}) }

func countIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
