package cluster

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/memprovider"
)

// NodeInfo is what a monitor may know of a node.
type NodeInfo struct {
	Number      uint32
	Name        string
	Incarnation uint32
	// Build, Options, Filter and Registry are those of the present incarnation, or of the last one while the node is down.
	Build    *engine.Build
	Options  node.Options
	Filter   *engine.CapabilityFilter
	Registry *node.Registry
	// Up is true between start and stop or crash; Draining while it stops gracefully; Paused while it is frozen.
	Up, Draining, Paused bool
	// Core nodes are those whose last schedule step is not stop or remove: they are up in calm.
	Core bool
}

// The methods of World that monitors use:
//
//	Plan() *Plan
//	Store() *memprovider.Store      // the store, for eligibility by the right rules and for the final comparison
//	Nodes() []NodeInfo              // in order of number, from 1; a view that stays valid until the next event
//	Node(number uint32) *NodeInfo
//	NowMs() int64                   // store time
//	StartMs() int64                 // store time of the run's start
//	Step() uint64
//	Phase() Phase
//	Builds() []*engine.Build
type worldView interface {
	Plan() *Plan
	Store() *memprovider.Store
	Nodes() []NodeInfo
	Node(number uint32) *NodeInfo
	NowMs() int64
	StartMs() int64
	Step() uint64
	Phase() Phase
	Builds() []*engine.Build
}

var _ worldView = (*World)(nil)
