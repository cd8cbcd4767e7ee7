package cluster

import (
	"github.com/durosim/durosim/internal/replay"
	"github.com/durosim/durosim/memprovider"
)

// Memory is room that a run takes over from the one before it: for calls, for turns, and for what the store keeps. Runs are
// the same with it and without; with it, a third less is allocated. It serves one run at a time. When a run begins, the
// World of the one before must not be used any more; its Result may. The zero value is ready.
type Memory struct {
	calls callTable
	store memprovider.Memory
	turns *replay.Workspace
}

// workspace returns the workspace that the turns of runs share.
func (m *Memory) workspace() *replay.Workspace {
	if m.turns == nil {
		m.turns = replay.NewWorkspace()
	}
	return m.turns
}
