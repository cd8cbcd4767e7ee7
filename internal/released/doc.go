// Package released says what a cluster needs of a released runtime that runs as one of its nodes. Package realnode
// implements [Runtimes] with host programs, and sim/realnode hands its Hosts to users, for cluster.Config.Releases.
//
//	machine, err := runtimes.Start(released.Config{ ... })
//	effects = machine.StepInto(input, effects)
package released
