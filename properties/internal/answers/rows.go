package answers

import (
	"fmt"
	"slices"

	"github.com/durosim/durosim/internal/call"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/sim/cluster"
)

// rows is memory for what is compared after a call.
type rows struct {
	touched  []*model.Instance
	list     []*oracle.Rows
	sessions []oracle.SessionRow
}

// columns says which property has a column or a table. After a call that failed, it is S06, and after a deletion S14.
var columns = map[string]string{ // only used for lookups, so map order does not matter
	"lock": "S05", "token": "S05", "attempt count": "S04", "visible": "S15", "events": "S07", "executions": "S06", "status": "S06", "output": "S06",
	"instance": "S06", "orchestration": "S06", "version": "S06", "current execution": "S06", "parent": "S06", "pin": "S09", "messages": "S12", "activities": "S12", "kind": "S12",
	"custom status": "S17", "stored keys": "S17", "changed keys": "S17", "sessions": "S16",
}

// compare compares the rows of the instances that a call has touched, and the lengths of the queues, with the
// specification's. If the lengths differ, it compares all.
func (r *Judge) compare(e *oracle.Exchange) {
	m := r.Run.Model
	r.rows.touched = r.rows.touched[:0]
	touch := func(in *model.Instance) {
		if in != nil && !slices.Contains(r.rows.touched, in) {
			r.rows.touched = append(r.rows.touched, in)
		}
	}
	if c := m.Call(r.ended.call); c != nil {
		for _, in := range c.Instances {
			touch(in)
		}
		for _, x := range c.Executions {
			touch(x.Instance)
		}
		for _, row := range c.Rows {
			touch(row.Instance)
		}
	}
	queued := 0
	for _, in := range m.Queued {
		queued += len(in.Queue)
	}
	if !r.whole || !r.oracle.Holds(queued, len(m.Work)) {
		r.whole = true
		r.touchAll(touch)
	}
	r.report(r.oracle.Compare(r.stored(), r.rows.sessions), e)
}

// Finish compares everything.
func (r *Judge) Finish() {
	if r.oracle == nil || !r.watches || r.Run.World.Foreign() {
		return
	}
	r.rows.touched = r.rows.touched[:0]
	r.touchAll(func(in *model.Instance) {
		if in != nil && !slices.Contains(r.rows.touched, in) {
			r.rows.touched = append(r.rows.touched, in)
		}
	})
	r.report(r.oracle.Compare(r.stored(), r.rows.sessions), nil)
}

func (r *Judge) touchAll(touch func(in *model.Instance)) {
	for _, in := range r.Run.Model.Instances {
		touch(in)
	}
}

func (r *Judge) report(d *oracle.Difference, e *oracle.Exchange) {
	if d == nil {
		return
	}
	r.oracle = nil
	f := check.Breach{Property: columns[d.Column], Class: cluster.ClassSafety}
	when := "at the end of the run"
	if e != nil {
		f.Node, f.Instance = r.ended.caller.Node, r.ended.instance
		when = fmt.Sprintf("after a call of %s at %s", r.Run.Who(r.ended.caller), r.Run.At(r.ended.atMs))
		switch e.Call.(type) {
		case call.DeleteInstance, call.DeleteInstancesAtomic, call.DeleteInstanceBulk, call.PruneExecutions, call.PruneExecutionsBulk:
			f.Property = "S14"
		}
		if e.Answer.Err != nil {
			f.Property = "S06"
		}
	}
	f.Message = fmt.Sprintf("second judge: the store is not what the contract makes of it %s:\n%s", when, d.Text)
	if d.Instance != "" {
		f.Instance = r.Run.Model.Number(d.Instance)
	}
	if e != nil {
		f.Message += fmt.Sprintf("\n  call       %s\n  answered   %s", e, e.AnswerText())
	}
	r.Run.Violate(f)
}

// stored returns the rows of the touched instances, in memory that the next call uses again.
func (r *Judge) stored() []*oracle.Rows {
	r.rows.sessions = r.rows.sessions[:0]
	for _, s := range r.Run.Model.Sessions {
		r.rows.sessions = append(r.rows.sessions, oracle.SessionRow(s))
	}
	for len(r.rows.list) < len(r.rows.touched) {
		r.rows.list = append(r.rows.list, &oracle.Rows{})
	}
	list := r.rows.list[:len(r.rows.touched)]
	for i, in := range r.rows.touched {
		fill(list[i], in)
	}
	return list
}

func fill(to *oracle.Rows, in *model.Instance) {
	*to = oracle.Rows{
		Instance: in.Name, Created: in.Created, Orchestration: in.Orchestration, Version: in.Version, Current: in.CurrentID, Parent: in.Parent,
		LockToken: in.Lock.Token, LockUntilMs: in.Lock.UntilMs, CustomStatus: in.Values.CustomStatus, CustomVersion: in.Values.CustomVersion,
		Executions: to.Executions[:0], Queue: queue(to.Queue[:0], in.Queue), Work: queue(to.Work[:0], in.Work),
		Stored: keys(to.Stored[:0], in.Values.Store), Delta: keys(to.Delta[:0], in.Values.Delta),
	}
	for _, x := range in.Executions {
		if !x.Created && x.Pin == nil && len(x.Events) == 0 {
			continue
		}
		n := len(to.Executions)
		to.Executions = slices.Grow(to.Executions, 1)[:n+1]
		events := to.Executions[n].Events[:0]
		for i := range x.Events {
			events = append(events, x.Events[i].ID)
		}
		to.Executions[n] = oracle.ExecutionRow{ID: x.ID, Created: x.Created, Status: x.Status, Output: x.Output, Pin: x.Pin, Events: events}
	}
}

func queue(list []oracle.QueueRow, rows []*model.Row) []oracle.QueueRow {
	for _, row := range rows {
		list = append(list, oracle.QueueRow{Kind: row.Kind, VisibleMs: row.VisibleMs, Count: row.Count, Token: row.Lock.Token, UntilMs: row.Lock.UntilMs})
	}
	return list
}

func keys(list []oracle.KeyRow, rows []model.KeyValue) []oracle.KeyRow {
	for _, row := range rows {
		list = append(list, oracle.KeyRow(row))
	}
	return list
}
