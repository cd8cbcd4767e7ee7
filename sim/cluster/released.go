package cluster

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim/program"
)

// Runtimes starts machines for released builds (engine.Build.Release). Several runs may share a Runtimes. A machine's
// effects must depend only on its config and its inputs.
type Runtimes interface {
	// Check returns an error that explains why Runtimes cannot start machines for released build b, or nil if it can.
	Check(b *engine.Build) error
	Start(c MachineConfig) (Machine, error)
}

// MachineConfig configures a machine for a released build.
type MachineConfig struct {
	Name    string
	Build   *engine.Build
	Options node.Options
	// Programs holds the orchestrations that the machine registers.
	Programs program.Set
	// Seed seeds the machine's randomness.
	Seed uint64
}

// Machine is one incarnation of a node whose released runtime runs outside the simulation.
type Machine interface {
	Stepper
	// Err returns the reason why the machine cannot continue, or nil. An error ends the run without a verdict.
	Err() error
	// Crash kills the machine. The cluster calls it once for each machine, even after a graceful stop.
	Crash()
}
