package realnode_test

import (
	"strings"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// clocked has a node whose clock replaces CLOCK.
const clocked = `
fault-phase 30s
node A runs duroxide 0.1.32
CLOCK
program worker
  call x
end
instance s runs worker at 15s
`

// stamps returns the timestamps of an instance's events in milliseconds, according to the clock of the node that wrote
// them.
func stamps(t *testing.T, clock string, releases cluster.Releases) []int64 {
	t.Helper()
	s := sample.Must(scenario.Parse("clocked.txt", []byte(strings.ReplaceAll(clocked, "CLOCK", clock))))(t)
	p := sample.Must(s.Expand(1, scenario.Overrides{}))(t)
	events := sample.Must(least(t, p, releases).PeekHistory("s", 1, engine.NewJSONCodec("clocks", engine.Kinds1x(), engine.WorkItemKinds1x())))(t)
	var out []int64
	for _, e := range events {
		out = append(out, int64(e.TimestampMs))
	}
	return out
}

// TestReleasedClocks checks that a released node uses the clock that the plan gives it.
func TestReleasedClocks(t *testing.T) {
	releases := hosts(t)
	right := stamps(t, "", releases)
	for _, c := range []struct {
		clock string
		ahead int64
	}{
		{"clock +300ms", 300},
		{"clock -300ms drift 10000ppm", -150}, // 1 % of 15 s
		{"clock +0ms drift -10000ppm", -150},
	} {
		got := stamps(t, c.clock, releases)
		if len(got) != len(right) {
			t.Fatalf("%s: %d events, and with a right clock %d", c.clock, len(got), len(right))
		}
		for i := range got {
			if ahead := got[i] - right[i]; ahead < c.ahead-3 || ahead > c.ahead+3 {
				t.Errorf("%s: event %d is %d ms ahead, want %d", c.clock, i+1, ahead, c.ahead)
			}
		}
	}
}
