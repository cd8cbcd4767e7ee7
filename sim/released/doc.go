// Package released defines the interface to released runtimes that run as nodes of a cluster. Package realnode
// implements [Runtimes] by means of host programs, and sim/realnode exports its Hosts for cluster.Config.Releases.
//
//	machine, err := runtimes.Start(released.Config{ ... })
//	effects = machine.StepInto(input, effects)
package released
