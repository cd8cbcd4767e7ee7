package model_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/sample"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/scenario"
)

// follower watches a run. At the end of each call, it compares the model with the model before the call, with the
// store, and with what the model's own parts report.
type follower struct {
	t          *testing.T
	w          *cluster.World
	m          *model.Shadow
	calls      int
	instances  map[*model.Instance]model.InstanceBefore
	executions map[*model.Execution]model.ExecutionBefore
	rows       map[observe.MessageNo]model.RowBefore
	sessions   []model.Session
	called     map[string]int // what has occurred so far, keyed by a word for it
}

func (f *follower) Coverage() []cluster.Point       { return nil }
func (f *follower) Violations() []cluster.Violation { return nil }
func (f *follower) AfterStep()                      {}
func (f *follower) Finish()                         { f.whole() }
func (f *follower) Open(now int64) (bool, int64)    { return now < f.w.StartMs()+60_000, now + 1 }
func (f *follower) Record(r *cluster.Record)        { f.m.Record(f.w, r) }

func (f *follower) Observe(o *observe.Observation) {
	f.m.Observe(o)
	if o.Undo {
		f.called["undo"]++
	}
	switch c := f.m.Call(o.Call); {
	case o.Call == 0:
		f.keepAll()
	case o.Kind == observe.CallEnd && c != nil:
		f.ended(c)
	}
}

func (f *follower) ended(c *model.Call) {
	for _, in := range c.Instances {
		f.same(in.Name, in.Was, f.instances[in])
		f.instances[in] = ofInstance(in)
	}
	for _, ex := range c.Executions {
		f.same(fmt.Sprint("execution ", ex.ID, " of ", ex.Instance.Name), ex.Was, f.executions[ex])
		f.executions[ex] = ofExecution(ex)
	}
	for _, r := range c.Rows {
		f.same(model.ItemText(r), r.Was, f.rows[r.No])
		f.rows[r.No] = ofRow(r)
	}
	if c.TouchedSessions {
		f.same("sessions", c.Sessions, f.sessions)
		f.sessions = slices.Clone(f.m.Sessions)
		f.called["sessions"]++
	}
	f.called["orphans"] += c.Orphans
	if f.calls++; f.calls%50 == 0 {
		f.whole()
	}
}

// whole compares everything, and checks that nothing has changed that no call has touched.
func (f *follower) whole() {
	if stored, observed := f.w.Store().Snapshot(), f.m.Snapshot(); !f.t.Failed() && !reflect.DeepEqual(stored, observed) { // cmp takes its time
		f.t.Errorf("call %d: -stored +observed\n%s", f.m.Current.ID, cmp.Diff(stored, observed))
	}
	f.same("sessions", f.m.Sessions, f.sessions)
	var queued, bare []*model.Instance
	var work []*model.Row
	ofSessions := 0
	for _, in := range f.m.Instances[1:] {
		f.same(in.Name, ofInstance(in), f.instances[in])
		if len(in.Queue) > 0 {
			queued = append(queued, in)
			if in.Pin() == nil {
				bare = append(bare, in)
			}
		}
		work = append(work, in.Work...)
		for _, r := range in.Work {
			if a, ok := r.Item.(engine.ActivityExecuteItem); ok && a.SessionID != "" {
				ofSessions++
			}
		}
		for _, ex := range in.Executions {
			f.same(fmt.Sprint("execution ", ex.ID, " of ", in.Name), ofExecution(ex), f.executions[ex])
			kinds, terminals := model.KindSet(0), 0
			for i := range ex.Events {
				kinds |= model.MaskOf(ex.Events[i].Kind)
				if f.m.Kinds.Terminal.Has(ex.Events[i].Kind) {
					terminals++
				}
			}
			f.same("kinds", ex.Kinds, kinds)
			f.same("terminals", ex.Terminals, terminals)
		}
	}
	byInstance := func(a, b *model.Instance) int { return int(a.No) - int(b.No) }
	f.same("queued", slices.SortedFunc(slices.Values(f.m.Queued), byInstance), queued)
	f.same("bare", slices.SortedFunc(slices.Values(f.m.Bare), byInstance), bare)
	byRow := func(a, b *model.Row) int { return int(a.No) - int(b.No) }
	f.same("work", slices.SortedFunc(slices.Values(f.m.Work), byRow), slices.SortedFunc(slices.Values(work), byRow))
	f.same("activities of sessions", f.m.SessionWork, ofSessions)
	for _, no := range slices.Sorted(maps.Keys(f.rows)) {
		f.same(model.ItemText(f.m.Row(no)), ofRow(f.m.Row(no)), f.rows[no])
	}
}

// keepAll records everything that exists before the first call.
func (f *follower) keepAll() {
	for _, in := range f.m.Instances[1:] {
		f.instances[in] = ofInstance(in)
		for _, ex := range in.Executions {
			f.executions[ex] = ofExecution(ex)
		}
		for _, list := range [][]*model.Row{in.Queue, in.Work} {
			for _, r := range list {
				f.rows[r.No] = ofRow(r)
			}
		}
	}
}

func ofInstance(in *model.Instance) model.InstanceBefore {
	return model.InstanceBefore{Created: in.Created, CurrentID: in.CurrentID, Lock: in.Lock}
}

func ofExecution(ex *model.Execution) model.ExecutionBefore {
	return model.ExecutionBefore{Created: ex.Created, Status: ex.Status, Pin: ex.Pin, Events: len(ex.Events), Kinds: ex.Kinds, Terminals: ex.Terminals}
}

func ofRow(r *model.Row) model.RowBefore {
	return model.RowBefore{Present: r.Present, Count: r.Count, VisibleMs: r.VisibleMs, Lock: r.Lock}
}

// same compares values. In structs, it compares the exported fields. An empty list equals a nil list.
func (f *follower) same(what string, got, want any) {
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	if g.Kind() == reflect.Slice && g.Len() == 0 && w.Len() == 0 || reflect.DeepEqual(got, want) {
		return
	}
	if g.Kind() == reflect.Struct {
		for i := range g.NumField() {
			if g.Type().Field(i).IsExported() {
				f.same(what+" "+g.Type().Field(i).Name, g.Field(i).Interface(), w.Field(i).Interface())
			}
		}
		return
	}
	f.t.Errorf("call %d (%s): %s is %+v, want %+v", f.m.Current.ID, f.m.Current.Kind, what, got, want)
}

// TestModelFollowsTheStore runs a scenario that uses every feature, with all faults.
func TestModelFollowsTheStore(t *testing.T) {
	called := map[string]int{}
	for _, name := range []string{"features", "programs"} {
		i := slices.IndexFunc(scenario.Builtin(), func(n scenario.Named) bool { return n.Name == name })
		s := sample.Must(scenario.Parse(name, scenario.Builtin()[i].Text))(t)
		full := sample.Must(scenario.NamedFaults("full"))(t)
		plan := sample.Must(s.Expand(2, scenario.Overrides{Faults: &full}))(t)
		sample.Must(cluster.Run(cluster.Config{Plan: plan, Seed: 2, Monitor: func(w *cluster.World) cluster.Monitor {
			return &follower{
				t: t, w: w, m: model.New(w.Builds(), nil), instances: map[*model.Instance]model.InstanceBefore{},
				executions: map[*model.Execution]model.ExecutionBefore{}, rows: map[observe.MessageNo]model.RowBefore{}, called: called,
			}
		}}))(t)
	}
	for _, what := range []string{"undo", "sessions"} {
		if called[what] == 0 {
			t.Errorf("no %s in these runs", what)
		}
	}
	t.Log(called)
}
