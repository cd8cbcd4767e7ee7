// Package realnode runs released duroxide runtimes as nodes of a simulated cluster (docs/real-nodes.md).
//
//	result, err := cluster.Run(cluster.Config{Plan: plan, Seed: 1, Releases: realnode.Releases()})
//
// Each release needs a host program, which simrun hosts build makes with cargo. A plan that asks for a release without one
// is refused, and the error says how to build it.
package realnode

import (
	"github.com/durosim/durosim/internal/realnode"
	"github.com/durosim/durosim/sim/cluster"
)

// Releases starts nodes with the host programs in the directory that DUROSIM_HOSTS names or, if it is not set, in the
// user's cache directory, where simrun hosts build puts them. It is safe for concurrent use.
func Releases() cluster.Releases { return realnode.Default() }
