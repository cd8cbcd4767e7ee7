package durosim

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orchtest"
	"github.com/durosim/durosim/sim/cluster"
)

// histories runs the campaign's first seed and writes the history of each execution as a file that
// orchtest.CheckHistories reads.
func (r *testRun) histories() error {
	plan, err := r.plan(r.c.First)
	if err != nil {
		return err
	}
	var world *cluster.World
	cfg := r.config()
	cfg.Plan, cfg.Seed, cfg.Chooser = plan, r.c.First, r.chooser(r.c.First)
	monitor := cfg.Monitor
	cfg.Monitor = func(w *cluster.World) cluster.Monitor {
		world = w
		return monitor(w)
	}
	if result, err := cluster.Run(cfg); err != nil || result.Early {
		return err // code that does not come back may still use the world
	}
	shipped := engine.ShippedBuilds()
	reads := shipped[len(shipped)-1].Codec
	files := map[string]bool{} // never iterated over, so map order does not matter
	for _, in := range world.Store().Snapshot().Instances {
		name := strings.NewReplacer("/", "_", ":", "_").Replace(in.Name)
		for files[strings.ToLower(name)] { // of another instance, on disks that ignore case, too
			name += "_"
		}
		files[strings.ToLower(name)] = true
		for _, ex := range in.Executions {
			history, err := world.Store().PeekHistory(in.Name, ex.ID, reads)
			if err != nil || len(history) == 0 {
				continue // pruned, or damaged by a fault
			}
			var text bytes.Buffer
			if err := orchtest.WriteHistory(&text, history); err != nil {
				return err
			}
			if err := r.write(fmt.Sprintf("%s.%d.jsonl", name, ex.ID), text.Bytes()); err != nil {
				return err
			}
		}
	}
	return nil
}
