package released

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/internal/machine"
	"github.com/durosim/durosim/internal/program"
)

// Runtimes starts the machines of released builds (engine.Build.Release). Many runs may share one Runtimes. A machine's
// effects must depend only on its config and its inputs.
type Runtimes interface {
	// Check returns the reason why it cannot start machines of a released build, or nil if it can.
	Check(b *engine.Build) error
	Start(c Config) (Machine, error)
}

// Config configures the machine of a released build.
type Config struct {
	Name    string
	Build   *engine.Build
	Options node.Options
	// Programs are the orchestrations that the machine registers.
	Programs program.Set
	// Seed seeds the machine's randomness.
	Seed uint64
}

// Machine is one incarnation of a node that runs a released runtime outside the simulation.
type Machine interface {
	StepInto(in machine.Input, effects []machine.Effect) []machine.Effect
	Filter() *engine.CapabilityFilter
	Counters() machine.Counters
	// Err returns the reason why the machine cannot continue, or nil if it can. An error ends the run without a
	// verdict.
	Err() error
	// Crash ends the machine at once. The cluster calls it once for each machine, even after a graceful stop.
	Crash()
}
