package cluster

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim/plan"
)

// NodeInfo describes a node to a monitor.
type NodeInfo struct {
	Number      uint32 // from 1, in the plan's order
	Name        string
	Incarnation uint32 // counts the starts; 0 before the first
	// Build, Options, Filter and Registry are those of the current incarnation, or of the last one while the node is down.
	Build    *engine.Build
	Options  node.Options
	Filter   *engine.CapabilityFilter
	Registry *node.Registry
	// Clock is the clock of the current incarnation, or of the last one.
	Clock plan.Clock
	// Up is true between start and stop or crash; Draining while it stops gracefully; Paused while it is frozen.
	Up, Draining, Paused bool
	// Core nodes are up in calm: the nodes that are ever started and whose last schedule step is not stop or remove.
	Core bool
}
