package safety

import (
	"slices"
	"testing"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/rig"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
	"github.com/durosim/durosim/sim/record"
	"github.com/durosim/durosim/sim/scenario"
)

// patient watches only safety. It keeps a run going even though safety has no obligations.
type patient struct {
	*check.Monitor
	w *cluster.World
}

func (patient) Coverage() []cluster.Point { return nil }

func (p patient) Open(nowMs int64) (bool, int64) { return nowMs < p.w.StartMs()+120_000, nowMs + 1 }

func newSafety(w check.View, ids ...string) *check.Monitor {
	m := check.New(w, func(id string) bool { return id == OwnTurns || slices.Contains(ids, id) })
	m.Add(Checks(m.Run)...)
	return m
}

// tape records a monitor's input during a run, so that the input can be replayed without the run.
type tape struct {
	plan         *plan.Plan
	entries      []tapeEntry
	observations int
	builds       []*engine.Build
	nodes        []cluster.NodeInfo
}

type tapeEntry struct {
	observation *observe.Observation
	record      *cluster.Record
	info        cluster.NodeInfo // the node that started
}

type recorder struct {
	patient
	tape *tape
}

func (r recorder) Observe(o *observe.Observation) {
	kept := *o
	kept.Messages = slices.Clone(o.Messages)
	if o.Request != nil {
		request := *o.Request
		if request.Ack != nil {
			ack := *request.Ack
			ack.HistoryDelta = slices.Clone(ack.HistoryDelta)
			ack.WorkerItems, ack.OrchestratorItems = slices.Clone(ack.WorkerItems), slices.Clone(ack.OrchestratorItems)
			ack.CancelledActivities = slices.Clone(ack.CancelledActivities)
			request.Ack = &ack
		}
		kept.Request = &request
	}
	r.tape.entries = append(r.tape.entries, tapeEntry{observation: &kept})
	r.tape.observations++
}

func (r recorder) Record(rec *cluster.Record) {
	e := tapeEntry{record: &cluster.Record{}}
	*e.record = *rec
	if rec.Note != nil {
		note := *rec.Note
		e.record.Note = &note
	}
	if rec.Kind == record.NodeStarted {
		e.info = *r.w.Node(rec.Node)
	}
	r.tape.entries = append(r.tape.entries, e)
}

func recordRun(t testing.TB, plan *plan.Plan) *tape {
	tp := &tape{plan: plan, builds: engine.ShippedBuilds()}
	sample.Must(cluster.Run(cluster.Config{Plan: plan, Seed: 7, Builds: tp.builds, Monitor: func(w *cluster.World) cluster.Monitor {
		tp.nodes = slices.Clone(w.Nodes())
		return recorder{patient{newSafety(w), w}, tp}
	}}))(t)
	return tp
}

// playTo replays the tape into a new monitor for the properties.
func (tp *tape) playTo(ids ...string) *check.Monitor { return tp.playUntil(len(tp.entries), ids...) }

// playUntil plays a tape, but stops the given number of entries after the first violation.
func (tp *tape) playUntil(later int, ids ...string) *check.Monitor {
	w := &rig.FakeWorld{ThePlan: *tp.plan, AllBuilds: tp.builds, Infos: slices.Clone(tp.nodes)}
	m := newSafety(w, ids...)
	for i := range tp.entries {
		if len(m.Violations()) > 0 {
			if later--; later < 0 {
				break
			}
		}
		e := &tp.entries[i]
		if e.observation != nil {
			m.Observe(e.observation)
			continue
		}
		if e.record.Kind == record.NodeStarted {
			w.Infos[e.record.Node-1] = e.info
		}
		m.Record(e.record)
	}
	return m
}

func TestObservingAllocatesLittle(t *testing.T) {
	tp := recordRun(t, sample.Must(sample.Must(scenario.Lookup("rolling-upgrade"))(t).Expand(1, scenario.Overrides{}))(t))
	perRun := testing.AllocsPerRun(5, func() { tp.playTo(IDs()...) })
	if per := perRun / float64(tp.observations); per > 0.2 {
		t.Errorf("%.2f allocations for each of %d observations; want growth of the model only, below 0.2", per, tp.observations)
	}
}
