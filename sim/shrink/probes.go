package shrink

import (
	"slices"
	"time"

	"github.com/durosim/durosim/sim/plan"
)

// probeParts returns the removable parts of probes: their acts, and the times that they draw from. A probe without acts
// abandons its deliveries; a probe without times acts at once.
func probeParts() []parts {
	return []parts{
		{"act", func(c Concrete) int { return total(c.Plan.Probes, actsOf) }, func(c Concrete, drop []bool) Concrete {
			return editProbes(c, func(b *plan.Probe, at int) int {
				n := actsOf(*b)
				if b.Does = less(b.Does, drop[at:at+n]); !slices.Contains(b.Does, plan.ActRepin) {
					b.Pin = nil
				}
				return n
			})
		}},
		{"hold", func(c Concrete) int { return total(c.Plan.Probes, holdsOf) }, func(c Concrete, drop []bool) Concrete {
			return editProbes(c, func(b *plan.Probe, at int) int {
				n := holdsOf(*b)
				b.Holds = less(b.Holds, drop[at:at+n])
				return n
			})
		}},
	}
}

func actsOf(b plan.Probe) int  { return len(b.Does) }
func holdsOf(b plan.Probe) int { return len(b.Holds) }

// editProbes changes each probe in a copy of the plan. The probes' parts are numbered consecutively: change gets the
// number of the probe's first part, and returns how many parts the probe has.
func editProbes(c Concrete, change func(b *plan.Probe, at int) int) Concrete {
	return edit(c, func(p *plan.Plan) {
		p.Probes = slices.Clone(p.Probes)
		at := 0
		for i := range p.Probes {
			at += change(&p.Probes[i], at)
		}
	})
}

// probeDelay returns a function that finds a probe's delay in a plan.
func probeDelay(i int) func(p *plan.Plan) *time.Duration {
	return func(p *plan.Plan) *time.Duration { return &p.Probes[i].Delay }
}
