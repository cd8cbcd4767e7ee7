package cluster

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim/plan"
)

// NodeInfo describes a node to monitors.
type NodeInfo struct {
	Number      uint32 // from 1, in the plan's order
	Name        string
	Incarnation uint32 // number of starts; 0 before the first
	// Build, Options, Filter and Registry are those of the current incarnation. While the node is down, they are those
	// of the last one.
	Build    *engine.Build
	Options  node.Options
	Filter   *engine.CapabilityFilter
	Registry *node.Registry
	// Clock is the clock of the current or last incarnation.
	Clock plan.Clock
	// Up is true between a start and the next stop or crash. Draining is true while the node stops gracefully, and
	// Paused while it is frozen.
	Up, Draining, Paused bool
	// Core reports whether the node is up in calm. This is the case if it is started at least once and its last
	// schedule step is not stop or remove.
	Core bool
}
