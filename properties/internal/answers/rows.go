package answers

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/properties/oracle"
	"github.com/durosim/durosim/sim/cluster"
)

// columns says which property has a column or a table; propertyOf has the exceptions.
var columns = map[string]string{ // only used for lookups, so map order does not matter
	"lock": "S05", "token": "S05", "attempt count": "S04", "visible": "S15", "events": "S07", "executions": "S06", "status": "S06", "output": "S06",
	"instance": "S06", "orchestration": "S06", "version": "S06", "current execution": "S06", "parent": "S06", "pin": "S09", "messages": "S12", "activities": "S12", "kind": "S12",
	"custom status": "S17", "stored keys": "S17", "changed keys": "S17", "sessions": "S16",
}

// compare compares what a call has touched in the store or in the specification.
func (r *Judge) compare(e *oracle.Exchange) {
	t := r.oracle.Touched()
	if t.Whole {
		r.compareAll(e)
		return
	}
	c, m := r.emptied(), r.Run.Model
	if call := m.Call(r.ended.call); call != nil {
		if !call.Touched() && t.Nothing() && len(c.Sessions) == 0 {
			return
		}
		for _, in := range call.Instances {
			r.instance(in)
		}
		for _, x := range call.Executions {
			r.execution(x, call)
		}
		for _, row := range call.Rows {
			r.row(row)
		}
	}
	instances, executions := len(c.Instances), len(c.Executions)
	for _, id := range t.Columns {
		if slices.ContainsFunc(c.Instances[:instances], func(row oracle.InstanceRow) bool { return row.Instance == id }) {
			continue
		}
		if in := r.known(id); in != nil {
			r.instance(in)
		}
	}
	for _, x := range t.Executions {
		if slices.ContainsFunc(c.Executions[:executions], func(row oracle.ExecutionRow) bool { return row.ID == x.ID && row.Instance == x.Instance }) {
			continue
		}
		if in := r.known(x.Instance); in != nil {
			if have := in.Execution(x.ID); have != nil {
				r.execution(have, nil)
			} else {
				c.Executions = append(c.Executions, oracle.ExecutionRow{Instance: x.Instance, ID: x.ID})
			}
		}
	}
	for _, id := range t.Instances {
		if in := r.known(id); in != nil {
			r.instance(in)
			for _, x := range in.Executions {
				r.execution(x, nil)
			}
		}
	}
	for _, numbers := range [][]uint64{t.Queue, t.Work} {
		for _, no := range numbers {
			if row := m.Row(observe.MessageNo(no)); row != nil && !row.TouchedBy(r.ended.call) {
				r.row(row)
			}
		}
	}
	r.report(r.oracle.Compare(c), e)
}

// known returns an instance that the specification has touched. If the store does not know it, it has nothing of it.
func (r *Judge) known(id string) *model.Instance {
	no := r.Run.Model.Number(id)
	if no == 0 {
		r.change.Instances = append(r.change.Instances, oracle.InstanceRow{Instance: id})
		return nil
	}
	return r.Run.Model.Instance(no)
}

// compareAll compares everything that the store has.
func (r *Judge) compareAll(e *oracle.Exchange) {
	c := r.emptied()
	c.Whole = true
	for _, in := range r.Run.Model.Instances {
		if in == nil {
			continue
		}
		r.instance(in)
		columns := &c.Instances[len(c.Instances)-1]
		for _, x := range in.Executions {
			r.execution(x, nil)
			columns.Events += len(x.Events)
			if x.Created {
				columns.Executions++
			}
		}
		for _, row := range in.Queue {
			r.row(row)
		}
		for _, row := range in.Work {
			r.row(row)
		}
	}
	for _, rows := range [][]oracle.QueueRow{c.Queue, c.Work} {
		slices.SortFunc(rows, func(a, b oracle.QueueRow) int { return cmp.Compare(a.Number, b.Number) })
	}
	r.report(r.oracle.Compare(c), e)
}

// Finish compares everything.
func (r *Judge) Finish() {
	if r.oracle != nil && r.watches && !r.Run.World.Foreign() {
		r.compareAll(nil)
	}
	r.AfterStep()
}

// emptied returns the change, in the memory of the last call, with nothing but the sessions.
func (r *Judge) emptied() *oracle.Change {
	c := &r.change
	c.Whole, c.Instances, c.Executions, c.Queue, c.Work, c.Sessions = false, c.Instances[:0], c.Executions[:0], c.Queue[:0], c.Work[:0], c.Sessions[:0]
	r.ids, r.keys = r.ids[:0], r.keys[:0]
	for _, s := range r.Run.Model.Sessions {
		c.Sessions = append(c.Sessions, oracle.SessionRow(s))
	}
	return c
}

func (r *Judge) instance(in *model.Instance) {
	r.change.Instances = append(r.change.Instances, oracle.InstanceRow{
		Instance: in.Name, Created: in.Created, Orchestration: in.Orchestration, Version: in.Version, Current: in.CurrentID, Parent: in.Parent,
		LockToken: in.Lock.Token, LockUntilMs: in.Lock.UntilMs, CustomStatus: in.Values.CustomStatus, CustomVersion: in.Values.CustomVersion,
		Stored: r.keyRows(in.Values.Store), Delta: r.keyRows(in.Values.Delta),
	})
}

func (r *Judge) keyRows(rows []model.KeyValue) []oracle.KeyRow {
	n := len(r.keys)
	for _, row := range rows {
		r.keys = append(r.keys, oracle.KeyRow(row))
	}
	return r.keys[n:]
}

// execution adds an execution with the events that the call has appended or, if that is not all that has become of its
// events or there is no call, with all.
func (r *Judge) execution(x *model.Execution, c *model.Call) {
	n := len(r.ids)
	if c != nil {
		for _, e := range c.Appended {
			if e.Execution == x {
				r.ids = append(r.ids, e.ID)
			}
		}
	}
	if c == nil || x.Was.Events+len(r.ids)-n != len(x.Events) {
		r.ids = r.ids[:n]
		for i := range x.Events {
			r.ids = append(r.ids, x.Events[i].ID)
		}
	}
	r.change.Executions = append(r.change.Executions, oracle.ExecutionRow{
		Instance: x.Instance.Name, ID: x.ID, Created: x.Created, Status: x.Status, Output: x.Output, Pin: x.Pin, Events: len(x.Events), EventIDs: r.ids[n:],
	})
}

func (r *Judge) row(row *model.Row) {
	if row.Instance == nil {
		return // it has left its queue long ago
	}
	list := &r.change.Queue
	if row.Queue == observe.QueueWorker {
		list = &r.change.Work
	}
	*list = append(*list, oracle.QueueRow{
		Number: uint64(row.No), Present: row.Present, Instance: row.Instance.Name, Kind: row.Kind,
		VisibleMs: row.VisibleMs, Count: row.Count, Token: row.Lock.Token, UntilMs: row.Lock.UntilMs,
	})
}

func (r *Judge) report(d *oracle.Difference, e *oracle.Exchange) {
	if d == nil {
		return
	}
	f := check.Breach{Property: r.propertyOf(d, e), Class: cluster.ClassSafety}
	when := "at the end of the run"
	if e != nil {
		f.Node, f.Instance = r.ended.caller.Node, r.ended.instance
		when = fmt.Sprintf("after a call of %s at %s", r.Run.Who(r.ended.caller), r.Run.At(r.ended.atMs))
	}
	f.Message = fmt.Sprintf("second judge: the store is not what the contract makes of it %s:\n%s", when, d.Text)
	if d.Instance != "" {
		f.Instance = r.Run.Model.Number(d.Instance)
	}
	if e != nil {
		f.Message += fmt.Sprintf("\n  call       %s\n  answered   %s", e, e.AnswerText())
	}
	r.finds(f, d.Text)
}

// propertyOf returns the property that a difference after a call violates; at the end of the run, there is no call. A
// call that failed must have changed nothing, and an ack must have taken all of its steps.
func (r *Judge) propertyOf(d *oracle.Difference, e *oracle.Exchange) string {
	if e == nil {
		return columns[d.Column]
	}
	if e.Answer.Err != nil {
		return "S06"
	}
	switch e.Call.(type) {
	case call.DeleteInstance, call.DeleteInstancesAtomic, call.DeleteInstanceBulk, call.PruneExecutions, call.PruneExecutionsBulk:
		return "S14"
	case call.FetchOrchestrationItem, call.FetchWorkItem:
		if d.Column == "lock" {
			return "S25"
		}
	case call.AckOrchestrationItem, call.AckWorkItem:
		// S09 is about the pins that nodes ask for.
		if d.Surplus || d.Column == "pin" && r.ended.caller.Node == 0 {
			return "S06"
		}
	}
	return columns[d.Column]
}
