package safety

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
)

// rescued is a world in its last phase.
type rescued struct{ *rig.FakeWorld }

func (rescued) Phase() cluster.Phase { return cluster.PhaseRescue }

// TestSchemas tells stories of schemas and activations. What a node runs is told by its first line:
//
//	build 1.5.0 1 [refuses] [destructive]        a build with its schema; 0 for none
//	build 1.6.0 1 awaits 2.0.0
//	node A 1.5.0 [absent] / activates 2.0.0      a node of the plan, and a step of its schedule
//	store 2                                      the store has this schema now
//	began A 2 / ended A [TEXT] / undone -        a migration
//	start A [BUILD] / refuse A BUILD / stop A / call A [permanent]
//	active 2.0.0 [A]                             an operator activates a build, or the start of A does
func TestSchemas(t *testing.T) {
	datadriven.RunTest(t, "testdata/schemas.txt", func(t *testing.T, d *datadriven.TestData) string {
		w := &rig.FakeWorld{Now: rig.StartMs, AllBuilds: engine.ShippedBuilds(), RealStore: memprovider.New(memprovider.Options{})}
		var m *check.Monitor
		for line := range strings.Lines(d.Input) {
			f := append(strings.Fields(line), "", "", "")
			number, _ := strconv.ParseUint(f[2], 10, 64)
			at := slices.IndexFunc(w.Infos, func(n cluster.NodeInfo) bool { return n.Name == f[1] })
			rec := cluster.Record{Node: uint32(at + 1), Incarnation: 1, Schema: number}
			switch f[0] {
			case "build":
				b := plan.Build{Name: f[1], AwaitsActivation: f[3] == "awaits"}
				if b.AwaitsActivation {
					b.Like = f[4]
				}
				if number > 0 {
					b.Schema = &plan.Schema{Version: number, RefusesNewer: slices.Contains(f, "refuses"), Destructive: slices.Contains(f, "destructive")}
				}
				w.ThePlan.Builds = append(w.ThePlan.Builds, b)
				continue
			case "node":
				w.ThePlan.Nodes = append(w.ThePlan.Nodes, plan.Node{Name: f[1], Build: f[2], Absent: f[3] != ""})
				w.Infos = append(w.Infos, cluster.NodeInfo{Number: uint32(len(w.Infos) + 1), Name: f[1], Build: plan.FindBuild(w.AllBuilds, f[2])})
				continue
			case "activates":
				w.ThePlan.Schedule = append(w.ThePlan.Schedule, plan.Step{Verb: plan.VerbActivate, Build: f[1]})
				continue
			case "store":
				number, _ = strconv.ParseUint(f[1], 10, 64)
				w.RealStore.SetSchema(number)
				if m != nil {
					continue
				}
				var view check.View = w
				if d.Cmd == "rescue" {
					view = rescued{w}
				}
				m = newSafety(view, "S30")
				continue
			case "stop":
				w.Infos[at].Up = false
				continue
			case "began":
				rec.Kind = record.MigrationBegan
			case "ended", "undone":
				rec.Kind, rec.Text = record.MigrationEnded, f[2]
			case "start":
				rec.Kind, w.Infos[at].Up = record.NodeStarted, true
				if f[2] != "" {
					w.Infos[at].Build = plan.FindBuild(w.AllBuilds, f[2])
				}
			case "refuse":
				rec.Kind, rec.Text = record.StartRefused, f[2]
			case "call":
				rec.Kind, rec.CallKind, rec.Outcome = record.CallExecuted, observe.CallAckWorkItem, observe.OutcomeOK
				if f[2] != "" {
					rec.Outcome = observe.OutcomePermanent
				}
			case "active":
				rec.Kind, rec.Text = record.Activated, f[1]
				rec.Node = uint32(1 + slices.IndexFunc(w.Infos, func(n cluster.NodeInfo) bool { return n.Name == f[2] }))
			default:
				t.Fatalf("%q: unknown", line)
			}
			m.Record(&rec)
		}
		m.Finish()
		return rig.Found(m.Violations())
	})
}
