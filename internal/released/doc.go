// Package released defines what a cluster needs from a released runtime that runs as one of its nodes. Package realnode
// implements [Runtimes] with host programs. sim/realnode exports its Hosts for cluster.Config.Releases.
//
//	machine, err := runtimes.Start(released.Config{ ... })
//	effects = machine.StepInto(input, effects)
package released
