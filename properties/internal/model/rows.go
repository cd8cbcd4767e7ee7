package model

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
)

func (m *Shadow) onInserted(o *observe.Observation) {
	r := m.Row(o.Message)
	*r = Row{
		No: o.Message, Queue: o.Queue, Instance: m.Instance(o.Instance), Item: o.Item, Execution: o.Execution, ID: o.EventID,
		Bytes: o.Bytes, InsertedBy: o.Call, VisibleMs: o.UntilMs, Count: o.NewCount,
		Was: RowBefore{call: o.Call},
	}
	r.identify()
	if o.Call != 0 {
		m.Current.Rows = append(m.Current.Rows, r)
	}
	m.Link(r)
	m.Changes.row(r, o.Call)
}

// identify sets the fields that can be derived from the message.
func (r *Row) identify() {
	if r.Item == nil {
		r.Kind = itemKindOf(r.Bytes)
		return
	}
	r.Kind = r.Item.Kind()
	switch w := r.Item.(type) {
	case engine.ActivityExecuteItem:
		r.Execution, r.ID = w.ExecutionID, w.ID
	case engine.ActivityCompletedItem:
		r.Execution, r.ID = w.ExecutionID, w.ID
	case engine.ActivityFailedItem:
		r.Execution, r.ID = w.ExecutionID, w.ID
	case engine.TimerFiredItem:
		r.Execution, r.ID = w.ExecutionID, w.ID
	case engine.SubOrchCompletedItem:
		r.Execution, r.ID = w.ParentExecutionID, w.ParentID
	case engine.SubOrchFailedItem:
		r.Execution, r.ID = w.ParentExecutionID, w.ParentID
	}
}

func (m *Shadow) Link(r *Row) {
	if r.Present {
		return
	}
	r.Present = true
	in := r.Instance
	if r.Queue == observe.QueueWorker {
		in.Work = m.arenas.insertByNumber(in.Work, r)
		m.Work = append(m.Work, r)
		r.workAt = len(m.Work)
		m.SessionWork += r.ofSession()
		return
	}
	in.Queue = m.arenas.insertByNumber(in.Queue, r)
	if in.queuedAt == 0 {
		m.Queued = append(m.Queued, in)
		in.queuedAt = len(m.Queued)
	}
	m.placeBare(in)
}

func (m *Shadow) Unlink(r *Row) {
	if !r.Present {
		return
	}
	r.Present = false
	in := r.Instance
	if r.Queue == observe.QueueWorker {
		in.Work = deleteByNumber(in.Work, r)
		last := m.Work[len(m.Work)-1]
		m.Work[r.workAt-1], last.workAt = last, r.workAt
		m.Work, r.workAt = m.Work[:len(m.Work)-1], 0
		m.SessionWork -= r.ofSession()
		return
	}
	in.Queue = deleteByNumber(in.Queue, r)
	if len(in.Queue) == 0 {
		last := m.Queued[len(m.Queued)-1]
		m.Queued[in.queuedAt-1], last.queuedAt = last, in.queuedAt
		m.Queued, in.queuedAt = m.Queued[:len(m.Queued)-1], 0
	}
	m.placeBare(in)
}

// ofSession returns 1 for a session activity, and 0 otherwise.
func (r *Row) ofSession() int {
	if w, ok := r.Item.(engine.ActivityExecuteItem); ok && w.SessionID != "" {
		return 1
	}
	return 0
}

func (a *arenas) insertByNumber(rows []*Row, r *Row) []*Row {
	i := len(rows)
	for i > 0 && rows[i-1].No > r.No {
		i--
	}
	return a.rows.Insert(rows, i, r)
}

func deleteByNumber(rows []*Row, r *Row) []*Row {
	for i, have := range rows {
		if have == r {
			return slices.Delete(rows, i, i+1)
		}
	}
	return rows
}

// placeBare updates m.Bare, the list of instances that have queued messages but no pin.
func (m *Shadow) placeBare(in *Instance) {
	belongs := len(in.Queue) > 0 && in.Pin() == nil
	switch {
	case belongs && in.bare == 0:
		m.Bare = append(m.Bare, in)
		in.bare = len(m.Bare)
	case !belongs && in.bare != 0:
		last := m.Bare[len(m.Bare)-1]
		m.Bare[in.bare-1] = last
		last.bare = in.bare
		m.Bare[len(m.Bare)-1] = nil
		m.Bare = m.Bare[:len(m.Bare)-1]
		in.bare = 0
	}
}

// Added reports whether the call has put the row into its queue and has not taken that back.
func (c *Call) Added(r *Row) bool { return r.InsertedBy == c.ID && r.Present }

// touchRow returns the row that an observation is about.
func (m *Shadow) touchRow(o *observe.Observation) *Row {
	r := m.Row(o.Message)
	if r.Instance == nil {
		r.Instance, r.Queue = m.Instance(o.Instance), o.Queue
	}
	if o.Call != 0 && r.Was.call != o.Call {
		r.Was = RowBefore{call: o.Call, Present: r.Present, Count: r.Count, VisibleMs: r.VisibleMs, Lock: r.Lock}
		m.Current.Rows = append(m.Current.Rows, r)
		m.Changes.row(r, o.Call)
	} else if o.Call == 0 {
		m.Changes.row(r, o.Call)
	}
	return r
}
