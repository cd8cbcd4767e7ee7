package cluster

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/replay"
	"github.com/durosim/durosim/internal/slab"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/workload"
)

// Memory lets a run reuse the memory that an earlier run allocated for calls, turns and the store. It does not affect
// the run, but more than halves its allocations. A Memory serves one run at a time. After a run has begun, the World of
// the earlier run must not be used; its Result may be. The zero value is ready to use.
type Memory struct {
	calls      callTable
	store      memprovider.Memory
	turns      *replay.Workspace
	room       machine.Room
	activities slab.Slab[machine.RunActivity]
	executions slab.Slab[executionTurns]
	builds     []*engine.Build   // the shipped builds, which never change
	shipped    []shippedRegistry // with the handlers they ship
	names      []string          // names of the shipped orchestrations
	monitor    any               // see World.Kept
}

// begin prepares the memory for a new run. If m is nil, it returns a new Memory.
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

// callBlocks limits how many blocks of calls a Memory keeps from run to run.
const callBlocks = 64
