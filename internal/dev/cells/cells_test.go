package cells_test

import (
	"slices"
	"testing"

	"github.com/durosim/durosim/internal/dev/cells"
	"github.com/durosim/durosim/sim/scenario"
)

// TestMissing: a field whose texts are plain lacks the other classes, one whose texts are escaped the plain ones.
func TestMissing(t *testing.T) {
	const texts = "ack_orchestration_item history_delta ExternalSubscribed name: never "
	for name, want := range map[string]string{"features": texts + "empty, long, escaped, not ASCII", "odd-texts": texts + "empty, long, not ASCII, plain"} {
		s, err := scenario.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		reached, err := cells.Reached([]*scenario.Scenario{s}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if lines := reached.Missing(); !slices.Contains(lines, want) || !slices.IsSorted(lines) {
			t.Errorf("%s: there is no line %q in %q", name, want, lines)
		}
	}
}
