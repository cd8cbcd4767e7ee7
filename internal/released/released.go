package released

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/internal/machine"
	"github.com/durosim/durosim/internal/program"
)

// Runtimes starts the machines of released builds (engine.Build.Release). Many runs may share one. A machine must be a
// function of its config and its inputs.
type Runtimes interface {
	// Check returns the reason why machines of a released build cannot be started, nil if they can.
	Check(b *engine.Build) error
	Start(c Config) (Machine, error)
}

// Config configures the machine of a released build.
type Config struct {
	Name    string
	Build   *engine.Build
	Options node.Options
	// Programs are the orchestrations that it has.
	Programs program.Set
	// Seed is the source of its randomness.
	Seed uint64
}

// Machine is one incarnation of a node that runs a released runtime, outside the simulation.
type Machine interface {
	StepInto(in machine.Input, effects []machine.Effect) []machine.Effect
	Filter() *engine.CapabilityFilter
	Counters() machine.Counters
	// Err returns the reason why the machine cannot continue, nil if it can. An error ends the run without a verdict.
	Err() error
	// Crash ends the machine at once. It is called once for each machine, even after a graceful stop.
	Crash()
}
