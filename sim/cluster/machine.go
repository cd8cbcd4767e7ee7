package cluster

import (
	"fmt"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/sim"
)

// Stepper is one incarnation of a node: a state machine that takes inputs and returns the effects it requests.
// *machine.Node implements it for the builds that durosim models.
type Stepper interface {
	StepInto(in machine.Input, effects []machine.Effect) []machine.Effect
	Filter() *engine.CapabilityFilter
	Counters() Counters
}

// keeper is a machine that keeps executions between turns.
type keeper interface {
	Keeps(instance string) bool
	Forget(instance string)
	Close()
}

func (f *fleet) makeMachine(n *nodeState, c machine.Config) (Stepper, error) {
	switch {
	case n.build.Release == "" && f.cfg.Node != nil:
		return f.cfg.Node(c)
	case n.build.Release == "":
		return machine.New(c)
	}
	m, err := f.cfg.Releases.Start(MachineConfig{
		Name: n.plan.Name, Build: n.build, Options: n.options.Clone(), Programs: f.plan.Programs,
		Seed: f.chooser.Choose(n.incKey.At(labelSeed), 1<<62),
	})
	if err != nil {
		return nil, err
	}
	n.released = m
	return m, nil
}

// check ends the run if the node's machine cannot continue.
func (f *fleet) check(n *nodeState) {
	if n.released != nil && f.failure == nil {
		if err := n.released.Err(); err != nil {
			f.failure = fmt.Errorf("node %s: %w", n.plan.Name, err)
		}
	}
}

// release closes the machine of a released runtime.
func (n *nodeState) release() {
	if n.released != nil {
		n.released.Crash()
		n.released = nil
	}
}

// close closes the arena and the machines that run outside the simulation.
func (f *fleet) close() {
	for _, n := range f.list {
		n.release()
		if k, ok := n.machine.(keeper); ok {
			k.Close()
		}
	}
	f.arena.nodes.Close()
}

var labelSeed = sim.NewLabel("seed")
