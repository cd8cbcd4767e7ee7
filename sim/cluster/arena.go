package cluster

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/internal/arena"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/sim/workload"
)

// Arena lets a run reuse the memory that an earlier run allocated for calls, turns and the store. It does not affect
// the run, but more than halves its allocations. An Arena serves one run at a time. After a run has begun, the World of
// the earlier run must not be used; its Result may be. The zero value is ready to use.
type Arena struct {
	calls      callTable
	store      memprovider.Arena
	nodes      *machine.Arena
	activities arena.Of[machine.RunActivity]
	executions arena.Of[executionTurns]
	builds     []*engine.Build   // the shipped builds, which never change
	shipped    []shippedRegistry // with the handlers they ship
	names      []string          // names of the shipped orchestrations
	monitor    any               // what World.MonitorArena points to
}

// begin prepares the memory for a new run. If a is nil, it returns a new Arena.
func (a *Arena) begin() *Arena {
	if a == nil {
		a = &Arena{}
	}
	if a.nodes == nil {
		a.nodes = machine.NewArena()
	}
	a.calls.n = 0
	if len(a.calls.blocks) > callBlocks {
		a.calls.blocks = a.calls.blocks[:callBlocks:callBlocks]
	}
	a.nodes.NextRun()
	a.activities.Reset()
	a.executions.Reset()
	if a.builds == nil {
		a.builds, a.names = engine.ShippedBuilds(), workload.Names()
	}
	return a
}

// callBlocks limits how many blocks of calls an Arena keeps from run to run.
const callBlocks = 64
