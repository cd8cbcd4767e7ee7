// Package released defines the interface of released runtimes that run as nodes of a cluster. Package realnode
// implements [Runtimes] with host programs. sim/realnode exports its Hosts for cluster.Config.Releases.
//
//	machine, err := runtimes.Start(released.Config{ ... })
//	effects = machine.StepInto(input, effects)
package released
