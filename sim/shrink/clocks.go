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
		{"store", func(c Concrete) int { return len(storeSettings(&c.Plan.Store)) }, func(c Concrete, drop []bool) Concrete {
			return edit(c, func(p *plan.Plan) {
				for i, reset := range storeSettings(&p.Store) {
					if drop[i] {
						reset()
					}
				}
			})
		}},
	}
}

// storeSettings returns one function for each store setting that is not the default. Each function resets its setting.
func storeSettings(s *plan.StoreOptions) []func() {
	var list []func()
	if s.CallersClock {
		list = append(list, func() { s.CallersClock = false })
	}
	if s.Serial > 0 {
		list = append(list, func() { s.Serial = 0 })
	}
	if s.Plain {
		list = append(list, func() { s.Plain = false })
	}
	return list
}

func clocksOf(n plan.Node) int { return countIf(n.Clock != plan.Clock{}) }

func countIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
