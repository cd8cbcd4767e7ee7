// Package realnode runs released duroxide runtimes as nodes of a simulated cluster (docs/real-nodes.md).
//
//	result, err := cluster.Run(cluster.Config{Plan: plan, Seed: 1, Releases: realnode.Releases()})
//
// Each release needs a host program, which `simrun hosts build` builds with cargo. If a plan uses a release whose host
// program is missing, Run fails with an error that says how to build it.
package realnode

import (
	"github.com/durosim/durosim/internal/realnode"
	"github.com/durosim/durosim/sim/cluster"
)

// Releases starts nodes with the host programs in the directory named by DUROSIM_HOSTS. If that is not set, it uses the
// user's cache directory, where `simrun hosts build` puts them. It is safe for concurrent use.
func Releases() cluster.Releases { return realnode.Default() }
