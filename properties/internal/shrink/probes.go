package shrink

import (
	"slices"
	"time"

	"github.com/durosim/durosim/internal/probe"
	"github.com/durosim/durosim/sim/plan"
)

// probeParts returns the removable parts of a probe: the acts and the times among which one is drawn. A probe without acts
// gives back whatever it gets, one without times does so at once.
func probeParts() []parts {
	return []parts{
		{"act", func(c Concrete) int { return total(c.Plan.Probes, actsOf) }, func(c Concrete, drop []bool) Concrete {
			return editProbes(c, func(b *probe.Probe, at int) int {
				n := actsOf(*b)
				if b.Does = less(b.Does, drop[at:at+n]); !slices.Contains(b.Does, probe.ActRepin) {
					b.Pin = nil
				}
				return n
			})
		}},
		{"hold", func(c Concrete) int { return total(c.Plan.Probes, holdsOf) }, func(c Concrete, drop []bool) Concrete {
			return editProbes(c, func(b *probe.Probe, at int) int {
				n := holdsOf(*b)
				b.Holds = less(b.Holds, drop[at:at+n])
				return n
			})
		}},
	}
}

func actsOf(b probe.Probe) int  { return len(b.Does) }
func holdsOf(b probe.Probe) int { return len(b.Holds) }

// editProbes changes each probe of a copy of the plan; change is told at which of its parts, counted through all probes,
// it is, and returns how many there were.
func editProbes(c Concrete, change func(b *probe.Probe, at int) int) Concrete {
	return edit(c, func(p *plan.Plan) {
		p.Probes = slices.Clone(p.Probes)
		at := 0
		for i := range p.Probes {
			at += change(&p.Probes[i], at)
		}
	})
}

// probeDelay returns a function that finds the delay of a probe in a plan.
func probeDelay(i int) func(p *plan.Plan) *time.Duration {
	return func(p *plan.Plan) *time.Duration { return &p.Probes[i].Delay }
}
