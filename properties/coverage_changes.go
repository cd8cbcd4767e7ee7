package properties

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
)

// buildChange is an entry of the matrix old build × new build × phase × event kind: how often a node changed so in that
// phase, and which kinds were in the histories that such nodes were handed in it, whenever they had changed.
type buildChange struct {
	from, to *engine.Build
	phase    cluster.Phase
	count    uint64
	kinds    kindMask
}

// points are the points of an entry: one for the change, one for each kind.
func (ch *buildChange) points(list []cluster.Point, table *kindTable) []cluster.Point {
	verb := "upgrade "
	if ch.to.Version.Compare(ch.from.Version) < 0 {
		verb = "rollback "
	}
	name := verb + ch.from.Name() + "->" + ch.to.Name() + " " + ch.phase.String()
	if ch.count > 0 {
		list = append(list, cluster.Point{Name: name, Count: ch.count})
	}
	for rest := ch.kinds; rest != 0; rest &= rest - 1 {
		list = append(list, cluster.Point{Name: name + " " + table.first(rest), Count: 1})
	}
	return list
}

// change is the entry of a change of builds in a phase, made when it is first asked for.
func (c *coverage) change(from, to *engine.Build, p cluster.Phase) *buildChange {
	for i := range c.changes {
		if ch := &c.changes[i]; ch.from == from && ch.to == to && ch.phase == p {
			return ch
		}
	}
	c.changes = append(c.changes, buildChange{from: from, to: to, phase: p})
	return &c.changes[len(c.changes)-1]
}
