package node_test

import (
	"os"
	"testing"

	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/faults"
)

// TestMain hands over the table of planted bugs, whose package imports this one.
func TestMain(m *testing.M) {
	for _, b := range faults.BugsOf("engine/node") {
		node.PlantedBugs = append(node.PlantedBugs, string(b.ID))
	}
	node.RulesWith = func(ids ...string) *node.Rules {
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
