//go:build !race

package properties_test

import (
	"runtime"
	"testing"

	"github.com/durosim/durosim/properties"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// TestRoomOfASeed limits how much a seed of the default scenario allocates with all checkers on, once a worker has its
// arena. The figures are the same on every machine (docs/performance.md).
func TestRoomOfASeed(t *testing.T) {
	const mostBytes, mostPieces = 231, 1.60 // a step
	s := lookup(t, "rolling-upgrade")
	var arena cluster.Arena
	var before, after runtime.MemStats
	var steps uint64
	for seed := range uint64(6) {
		if seed == 1 {
			runtime.ReadMemStats(&before)
			steps = 0
		}
		cfg := config(t, s, seed, scenario.Overrides{}, properties.Options{Expectations: s.Expect})
		cfg.Arena = &arena
		steps += run(t, cfg).Steps
	}
	runtime.ReadMemStats(&after)
	size, pieces := float64(after.TotalAlloc-before.TotalAlloc)/float64(steps), float64(after.Mallocs-before.Mallocs)/float64(steps)
	if size > mostBytes || pieces > mostPieces {
		t.Errorf("%.0f bytes and %.2f pieces a step: expected %d and %.2f at most", size, pieces, mostBytes, mostPieces)
	}
	t.Logf("%.0f bytes and %.2f pieces a step", size, pieces)
}
