package monitor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/sim/plan"
)

// TestReleased checks which pages of messages are released after every 16 new pages. The newest 64 pages are kept. So
// is a page with a message that is queued, or that belongs to one of the last two deliveries to any of a node's loops.
func TestReleased(t *testing.T) {
	taken := func(node string) string { return "0 fetch " + node + " x\n0 commit " + node }
	last := map[int]string{
		0: "", 1: "0 fetchwork A x\n0 commit A", 2: taken("A"), 3: taken("A"), 4: taken("A"), 5: "0 fetch C x", 15: "", 20: "",
	}
	first := "2 6 7 8 9 10 11 12 13 14"
	want := map[int]string{78: "", 79: first, 94: first, 95: first + " 16 17 18 19 21 22 23 24 25 26 27 28 29 30 31"}
	r := New(t, plan.Plan{}, monitor.Options{Properties: []string{}})
	r.Tell("0 up A 1.5.0\n0 up B 1.5.0\n0 up C 1.5.0")
	for page := range 96 {
		then, verb := taken("B"), "send"
		if text, ok := last[page]; ok {
			then = text
		}
		if strings.Contains(then, "fetchwork") {
			verb = "work"
		}
		r.Tell(strings.ReplaceAll(strings.Repeat("0 "+verb+" x\n", model.RowsPerPage)+then, " x", fmt.Sprint(" x", page)))
		want, ok := want[page]
		if !ok {
			continue
		}
		var released []string
		for p := range page {
			if r.M.Model.Row(observe.MessageNo(p*model.RowsPerPage+1)).Instance == nil {
				released = append(released, fmt.Sprint(p))
			}
		}
		if got := strings.Join(released, " "); got != want {
			t.Errorf("after page %d: released %q, want %q", page, got, want)
		}
	}
}
