package cluster

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/machine"
	"github.com/durosim/durosim/internal/replay"
	"github.com/durosim/durosim/internal/slab"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/workload"
)

// Memory lets a run reuse the memory of an earlier run: for calls, turns and the store. It does not change a run, but
// more than halves the allocations. It serves one run at a time. When a run begins, the World of the earlier run must
// no longer be used; its Result may be. The zero value is ready.
type Memory struct {
	calls      callTable
	store      memprovider.Memory
	turns      *replay.Workspace
	room       machine.Room
	activities slab.Slab[machine.RunActivity]
	executions slab.Slab[executionTurns]
	builds     []*engine.Build   // the shipped builds, which never change
	shipped    []shippedRegistry // with the handlers that they ship
	names      []string          // of the shipped orchestrations
	monitor    any               // see World.Kept
}

// begin returns the memory for a new run, which is new if m is nil.
func (m *Memory) begin() *Memory {
	if m == nil {
		m = &Memory{}
	}
	if m.turns == nil {
		m.turns = replay.NewWorkspace()
	}
	m.calls.n, m.calls.held = 0, m.calls.held[:0]
	if len(m.calls.blocks) > callBlocks {
		m.calls.blocks = m.calls.blocks[:callBlocks:callBlocks]
	}
	m.turns.Reset()
	m.room.NextRun()
	m.activities.Reset()
	m.executions.Reset()
	if m.builds == nil {
		m.builds, m.names = engine.ShippedBuilds(), workload.Names()
	}
	return m
}

// callBlocks bounds the blocks of calls that a Memory keeps from run to run.
const callBlocks = 64
