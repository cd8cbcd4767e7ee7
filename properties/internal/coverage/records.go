package coverage

import (
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/properties/internal/track"
	"github.com/durosim/durosim/sim/cluster"
)

// This file counts what only records show.

func (*Counter) Observes() []observe.Kind { return nil }

func (c *Counter) Records() []cluster.RecordKind {
	return []cluster.RecordKind{cluster.RecParked, cluster.RecWoken, cluster.RecFault, cluster.RecPhaseBegan, cluster.RecNodeDraining}
}

func (c *Counter) Record(r *cluster.Record) {
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
		n := c.live.Node(r.Node)
		if n == nil {
			return
		}
		for _, list := range [2][]track.Slot{n.Turns, n.Activities} {
			for i := range list {
				if d := &list[i].Recent[list[i].Last]; d.Held && d.Incarnation == n.Incarnation {
					c.hit(pointDrainHolding)
				}
			}
		}
	}
}
