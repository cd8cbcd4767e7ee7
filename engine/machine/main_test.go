package machine_test

import (
	"os"
	"testing"

	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/faults"
)

// TestMain supplies the table of planted bugs, which this package cannot import because its package imports this one.
func TestMain(m *testing.M) {
	for _, b := range faults.BugsOf("engine/machine") {
		machine.PlantedBugs = append(machine.PlantedBugs, string(b.ID))
	}
	machine.RulesWith = func(ids ...string) *machine.Rules {
		var on []faults.BugID
		for _, id := range ids {
			on = append(on, faults.BugID(id))
		}
		tables, err := faults.NewTables(on...)
		if err != nil {
			panic(err)
		}
		return &tables.Node
	}
	os.Exit(m.Run())
}
