package node

import "slices"

// clone is a node in the same state that steps on its own. It shares what is never changed, and the registry.
func (n *Node) clone() *Node {
	c := *n
	c.out = nil
	c.slots = slices.Clone(n.slots)
	for i := range c.slots {
		if h := c.slots[i].hold; h != nil {
			c.slots[i].room = *h
			c.slots[i].room.ack = cloneAck(h.ack)
			c.slots[i].hold = &c.slots[i].room
		}
	}
	return &c
}
