package secondjudge

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/call"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/memprovider"
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
	for _, id := range t.Columns {
		if in := r.known(id); in != nil {
			r.instance(in)
		}
	}
	for _, x := range t.Executions {
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
			if row := m.Row(observe.MessageNo(no)); row != nil {
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
	first := !r.compared
	r.compared = true
	if d == nil {
		return
	}
	f := check.Breach{Property: r.propertyOf(d, e), Class: cluster.ClassSafety}
	what := r.virtual(d.Text)
	switch {
	case d.Row != 0:
		row := r.Run.Model.Row(observe.MessageNo(d.Row))
		if d.Lacks && row.Instance != nil { // otherwise the model has forgotten the row
			what = removals[row.Removed]
			if row.Removed == observe.RemovedAcked && e != nil && e.Answer.Err == nil {
				what += ", although the delivery with that token did not have it"
			}
			what += ": expected it in its queue" + r.queued(row.Instance)
		}
		if d.Surplus && e != nil && row.InsertedBy != r.ended.call {
			what = "still in its queue: expected it to have left"
			if ack, ok := e.Call.(call.AckOrchestrationItem); ok && len(ack.CancelledActivities) > 0 && row.Queue == observe.QueueWorker {
				what += ", since the ack cancels it"
			}
		}
		f.Item = model.ItemText(row)
		what = fmt.Sprintf("%s of %s: %s", f.Item, d.Instance, what)
	case d.Lacks:
		what = string(d.Kind) + " for " + d.Instance + ": " + what
	case d.Instance != "":
		what = d.Instance + ": " + what
		if no := r.Run.Model.Number(d.Instance); d.Column == "token" && no != 0 {
			what += "; " + r.Run.LockText(r.Run.Model.Instance(no).Lock)
		}
	}
	if d.Instance != "" {
		f.Instance = r.Run.Model.Number(d.Instance)
	}
	f.Message = "second judge: at the end of the run: " + what
	if e != nil {
		f.Node, f.Instance = r.ended.caller.Node, cmp.Or(f.Instance, r.ended.instance)
		f.Message = r.after(e, false, "") + what + r.evidence(e)
		if first && r.preloaded(d) {
			f.Node, f.Message = 0, "second judge: at the start of the run: "+what
		}
	}
	r.finds(f, what)
}

// preloaded reports whether a difference is in what was put into the store before the run, and the call, which is the
// first, has touched nothing.
func (r *Judge) preloaded(d *oracle.Difference) bool {
	return d.Row == 0 && !d.Lacks && !r.last().Touched() && slices.ContainsFunc(r.Run.World.Preloaded(), func(in memprovider.PreloadedInstance) bool { return in.Instance == d.Instance })
}

// last returns the call that has ended, or one that has touched nothing if there is none.
func (r *Judge) last() *model.Call { return cmp.Or(r.Run.Model.Call(r.ended.call), &model.Call{}) }

// dropped lists the messages that the call has dropped as orphans although their instances have begun, or returns "".
func (r *Judge) dropped() string {
	c := r.last()
	var list []string
	for _, row := range c.Rows {
		if row.Removed == observe.RemovedOrphan && row.Instance != nil && row.Instance.Created {
			list = append(list, fmt.Sprintf("%s %s, although %s has begun", removals[row.Removed], model.ItemText(row), row.Instance.Name))
		}
	}
	return strings.Join(list[:min(len(list), didMost)], ", ")
}

// leftover says which part of an instance a deletion has left, or which current executions a prune has removed although
// their instances stay, or returns "".
func (r *Judge) leftover() string {
	c := r.last()
	var list []string
	for _, x := range c.Executions {
		if x.Was.Created && !x.Created && x.Instance.Created && x.Instance.CurrentID == x.ID {
			list = append(list, fmt.Sprintf("removed execution %d of %s, which is the current one", x.ID, x.Instance.Name))
		}
	}
	for _, in := range c.Instances {
		for _, x := range in.Executions {
			if n := len(x.Events); in.Was.Created && !in.Created && n > 0 {
				list = append(list, fmt.Sprintf("removed %s and left %d events of execution %d", in.Name, n, x.ID))
			}
		}
	}
	return strings.Join(list[:min(len(list), didMost)], ", ")
}

// after names the call after which something was found, and what it has done that no call may. refused is set if its
// answer is wrong, and took is the row that it has touched, if that is the only one.
func (r *Judge) after(e *oracle.Exchange, refused bool, took string) string {
	text := fmt.Sprintf("second judge: after %s by %s", call.Method(e.Call), r.Run.Who(r.ended.caller))
	_, fetch := e.Call.(call.FetchWorkItem)
	switch err := e.Answer.Err; {
	case err != nil && engine.IsRetryable(err):
		text += ", which failed with a retryable error and so must have changed nothing"
	case err != nil:
		text += ", which failed with a permanent error and so must have changed nothing"
	case fetch && took != "":
		text += ", which took " + took
	case refused:
		text += ", which succeeded"
	}
	text += ": "
	if wrong := cmp.Or(r.dropped(), r.leftover()); wrong != "" {
		text += wrong + "; "
	}
	return text
}

// evidence says what the call was and what it has done, in lines of their own.
func (r *Judge) evidence(e *oracle.Exchange) string {
	c := e.Call
	if ack, ok := c.(call.AckOrchestrationItem); ok {
		ack.HistoryDelta = nil // its events are in what has changed
		c = ack
	}
	text := "\n  call       " + pretty.Cut(r.virtual(call.CallText(c)), mostText)
	if answer := e.AnswerText(); answer != "done" && answer != "null" {
		text += "\n  answered   " + pretty.Cut(r.virtual(answer), mostText)
	}
	if did := r.did(); did != "" {
		text += "\n  changed    " + did
	}
	return text
}

func (r *Judge) queued(in *model.Instance) string {
	if len(in.Queue) == 0 {
		return ""
	}
	return "; queued for the instance: " + strings.Join(pretty.Texts(in.Queue[:min(len(in.Queue), didMost)], model.ItemText), ", ")
}

// didMost limits how much of what a call has done evidence lists, and mostText the length of a call and of an answer.
const (
	didMost  = 6
	mostText = 300
)

// did lists what the call has done to messages and histories, by the store's own account.
func (r *Judge) did() string {
	c := r.last()
	var list []string
	for _, row := range c.Rows {
		switch {
		case row.Present && row.InsertedBy == c.ID:
			list = append(list, "enqueued "+model.ItemText(row))
		case !row.Present:
			list = append(list, removals[row.Removed]+" "+model.ItemText(row))
		}
	}
	for _, in := range c.Instances {
		switch {
		case in.Was.Created && !in.Created:
			list = append(list, "removed "+in.Name)
		case !in.Was.Created && in.Created:
			list = append(list, "created "+in.Name)
		}
	}
	for _, x := range c.Executions {
		if x.Was.Created && !x.Created {
			list = append(list, fmt.Sprintf("removed execution %d of %s", x.ID, x.Instance.Name))
		}
	}
	for _, e := range c.Appended {
		list = append(list, fmt.Sprintf("appended event %d of execution %d", e.ID, e.Execution.ID))
	}
	if more := len(list) - didMost; more > 0 {
		list = append(list[:didMost], fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, ", ")
}

var removals = map[observe.RemoveReason]string{ // only used for lookups
	observe.RemovedNone: "removed", observe.RemovedAcked: "acknowledged", observe.RemovedCancelled: "cancelled", observe.RemovedOrphan: "dropped as an orphan",
	observe.RemovedDeleted: "deleted", observe.RemovedUndone: "taken back",
}

// instants matches times of the store, and the unit behind them.
var instants = regexp.MustCompile(`\b[0-9]{13}\b( ms)?`)

const yearMs = 366 * 24 * 3600 * 1000

// virtual writes the times of the store in a text as times of the run.
func (r *Judge) virtual(text string) string {
	return instants.ReplaceAllStringFunc(text, func(t string) string {
		ms, err := strconv.ParseInt(strings.TrimSuffix(t, " ms"), 10, 64)
		if err != nil || ms < r.Run.World.StartMs() || ms > r.Run.World.NowMs()+yearMs {
			return t // a number of the user's
		}
		return r.Run.At(ms)
	})
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
