package turn_test

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/orch"
	"github.com/durosim/durosim/internal/dev/turn"
)

// TestOwnChildIDs tests a build that reserves ids of the form sub::5 for itself. It derives them from the event and,
// from the second execution on, from the execution as well.
func TestOwnChildIDs(t *testing.T) {
	spawn := func(id string) orch.Handler {
		return func(c *orch.Context, _ string) (string, error) {
			return c.ScheduleSubOrchestrationWithID("C", id, "").Await()
		}
	}
	for _, tc := range []struct {
		id, wrong string
		own       bool
		execution uint64
	}{
		{"", "", true, 1},
		{"", "expected sub::2_2", true, 2},
		{"sub::2_2", "", true, 2},
		{"sub::2_2", "expected sub::2", true, 1},
		{"sub::2_2", "", false, 1},
		{"mine", "", true, 2},
	} {
		m := made{name: tc.id, handler: spawn(tc.id)}
		if tc.execution > 1 {
			m.first = engine.ContinueAsNewItem{Instance: me, Orchestration: "O", Input: "in", Version: "1.0.0"}
		}
		tn := m.turnOf(t)
		tn.OwnChildIDs = tc.own
		got := ""
		for _, wrong := range told(new(turn.Checker).CheckAck(&tn)) {
			if strings.Contains(wrong, "or an id that does not begin") {
				got = wrong
			}
		}
		if (got == "") != (tc.wrong == "") || !strings.Contains(got, tc.wrong) {
			t.Errorf("child %q in execution %d, ids of the build's own: %t: %q, want %q", tc.id, tc.execution, tc.own, got, tc.wrong)
		}
	}
}
