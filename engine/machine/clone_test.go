package machine

import "slices"

// clone returns a copy of the node that is in the same state and steps independently. The two share the registry and
// all immutable data.
func (n *Node) clone() *Node {
	c := *n
	c.out = nil
	c.sweeper.met, c.sweeper.blocked = slices.Clone(n.sweeper.met), slices.Clone(n.sweeper.blocked)
	c.slots = slices.Clone(n.slots)
	for i := range c.slots {
		if h := c.slots[i].hold; h != nil {
			c.slots[i].room = *h
			c.slots[i].room.turn = n.arena.cloneAck(&h.turn)
			c.slots[i].hold = &c.slots[i].room
		}
	}
	return &c
}
