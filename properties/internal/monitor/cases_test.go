package monitor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/conformance"
	"github.com/durosim/durosim/properties/internal/monitor"
	"github.com/durosim/durosim/sim/plan"
)

// TestPointsOfCases prints the points that conformance cases reach which show in what a call leaves in a store: cases with
// the same points and counts share a line.
func TestPointsOfCases(t *testing.T) {
	datadriven.RunTest(t, "testdata/cases.txt", func(t *testing.T, d *datadriven.TestData) string {
		shown, cases := strings.Fields(d.Input), map[string][]string{}
		for _, c := range conformance.Cases() {
			if c.ID == "BP-157" {
				continue // a random walk
			}
			var lines []string
			conformance.Ask(conformance.Factory{New: func() (*conformance.Store, error) {
				r := New(t, plan.Plan{}, monitor.Options{Properties: []string{}})
				r.Tell("0 up A 2.0.0")
				store := memprovider.New(memprovider.Options{Sink: r.M, StartMs: rig.StartMs})
				node := observe.Caller{Node: 1, Incarnation: r.w.Node(1).Incarnation}
				if d.Cmd == "clients" {
					node = observe.Caller{Incarnation: 1}
				}
				return &conformance.Store{
					Provider: store.Handle(r.w.Node(1).Build.Codec, node), NowMs: store.Now, Sequential: true,
					Advance: func(by time.Duration) { store.SetNow(store.Now() + by.Milliseconds()) },
					Close: func() {
						for _, p := range r.M.Coverage() {
							if slices.Contains(shown, p.Name) {
								lines = append(lines, fmt.Sprintf("%s: %d", p.Name, p.Count))
							}
						}
					},
				}, nil
			}}, c.ID)
			if len(lines) > 0 {
				of := strings.Join(lines, ", ")
				cases[of] = append(cases[of], c.ID)
			}
		}
		var out []string
		for points, ids := range cases {
			out = append(out, fmt.Sprintf("%s (%s)", points, strings.Join(ids, " ")))
		}
		slices.Sort(out)
		return strings.Join(out, "\n")
	})
}
