package properties

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
)

// This file counts what records show and nobody tells of.

func (*coverage) observes() []engine.ObservationKind { return nil }

func (c *coverage) records() []cluster.RecordKind {
	return []cluster.RecordKind{cluster.RecParked, cluster.RecWoken, cluster.RecFault, cluster.RecPhaseBegan, cluster.RecNodeDraining}
}

func (c *coverage) record(r *cluster.Record) {
	switch r.Kind {
	case cluster.RecParked:
		c.hit(pointParked)
	case cluster.RecWoken:
		c.hit(pointWoken)
	case cluster.RecPhaseBegan:
		if r.Phase == cluster.PhaseRelief {
			c.hit(pointRelief)
		}
	case cluster.RecFault:
		for i, f := range c.kinds {
			if f.Kind == r.Fault {
				c.faults[i]++
			}
		}
	case cluster.RecNodeDraining:
		n := c.live.node(r.Node)
		if n == nil {
			return
		}
		for _, list := range [2][]liveSlot{n.turns, n.activities} {
			for i := range list {
				if d := &list[i].recent[list[i].last]; d.held && d.incarnation == n.incarnation {
					c.hit(pointDrainHolding)
				}
			}
		}
	}
}
