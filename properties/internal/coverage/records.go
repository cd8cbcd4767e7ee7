package coverage

import (
	"github.com/durosim/durosim/properties/internal/track"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// This file counts points that can be seen only in records.

func (c *Counter) Record(r *cluster.Record) {
	switch r.Kind {
	case record.Parked:
		c.hit(pointParked)
	case record.Woken:
		c.hit(pointWoken)
	case record.PhaseBegan:
		if r.Phase == cluster.PhaseRescue {
			c.hit(pointRescue)
		}
	case record.Fault:
		for i, f := range c.kinds {
			if f.Kind == r.Fault {
				c.faults[i]++
			}
		}
	case record.NodeDraining:
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
