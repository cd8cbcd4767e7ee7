package coverage

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
)

// buildChange is an entry in the matrix of old build × new build × phase × event kind. It counts how often a node
// changed from the old to the new build in that phase. It also holds the event kinds in the histories that such nodes
// received in that phase, no matter when they changed.
type buildChange struct {
	from, to *engine.Build
	phase    cluster.Phase
	count    uint64
	kinds    model.KindSet
}

// points returns an entry's points: one for the change, and one for each event kind.
func (ch *buildChange) points(list []cluster.Point, table *model.KindTable) []cluster.Point {
	verb := "upgrade "
	if olderBuild(ch.to, ch.from) {
		verb = "rollback "
	}
	name := verb + ch.from.Name() + "->" + ch.to.Name() + " " + ch.phase.String()
	if ch.count > 0 {
		list = append(list, cluster.Point{Name: name, Count: ch.count})
	}
	for rest := ch.kinds; rest != 0; rest &= rest - 1 {
		list = append(list, cluster.Point{Name: name + " " + table.First(rest), Count: 1})
	}
	return list
}

// olderBuild orders builds by release. Unlike pins, it takes the pre-release part of a version into account.
func olderBuild(a, b *engine.Build) bool {
	if c := a.Version.Compare(b.Version); c != 0 {
		return c < 0
	}
	return a.Version.Pre != "" && (b.Version.Pre == "" || a.Version.Pre < b.Version.Pre)
}

// change returns the entry for a change of builds in a phase, creating it if it does not exist.
func (c *Counter) change(from, to *engine.Build, p cluster.Phase) *buildChange {
	for i := range c.changes {
		if ch := &c.changes[i]; ch.from == from && ch.to == to && ch.phase == p {
			return ch
		}
	}
	c.changes = append(c.changes, buildChange{from: from, to: to, phase: p})
	return &c.changes[len(c.changes)-1]
}
