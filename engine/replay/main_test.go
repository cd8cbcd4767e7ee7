package replay_test

import (
	"os"
	"testing"

	"github.com/durosim/durosim/engine/replay"
	"github.com/durosim/durosim/faults"
)

// TestMain supplies the table of planted bugs, which this package cannot import because its package imports this one.
func TestMain(m *testing.M) {
	for _, b := range faults.BugsOf("engine/replay") {
		replay.PlantedBugs = append(replay.PlantedBugs, string(b.ID))
	}
	replay.RulesWith = func(ids ...string) replay.Rules {
		var on []faults.BugID
		for _, id := range ids {
			on = append(on, faults.BugID(id))
		}
		tables, err := faults.NewTables(on...)
		if err != nil {
			panic(err)
		}
		return tables.Replay
	}
	os.Exit(m.Run())
}
