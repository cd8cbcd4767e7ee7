package properties

import (
	"slices"

	"github.com/durosim/durosim/engine"
)

func (m *model) onInserted(o *engine.Observation) {
	r := m.row(o.Message)
	*r = rowState{
		no: o.Message, queue: o.Queue, instance: m.instance(o.Instance), item: o.Item, execution: o.Execution, id: o.EventID,
		bytes: o.Bytes, sum: sumOf(o.Bytes), insertedBy: o.Call, insertedMs: o.AtMs, visibleMs: o.UntilMs, count: o.NewCount,
		was: rowWas{call: o.Call},
	}
	r.identify()
	if o.Call != 0 {
		m.current.rows = append(m.current.rows, r)
		if int(o.Queue) < len(m.current.inserted) {
			m.current.inserted[o.Queue]++
		}
	}
	m.link(r)
}

// identify fills in what the message says of itself.
func (r *rowState) identify() {
	if r.item == nil {
		r.kind = itemKindOf(r.bytes)
		return
	}
	r.kind = r.item.Kind()
	switch w := r.item.(type) {
	case engine.ActivityExecuteItem:
		r.execution, r.id = w.ExecutionID, w.ID
	case engine.ActivityCompletedItem:
		r.execution, r.id = w.ExecutionID, w.ID
	case engine.ActivityFailedItem:
		r.execution, r.id = w.ExecutionID, w.ID
	case engine.TimerFiredItem:
		r.execution, r.id, r.fireAtMs = w.ExecutionID, w.ID, clampMs(w.FireAtMs)
	case engine.SubOrchCompletedItem:
		r.execution, r.id = w.ParentExecutionID, w.ParentID
	case engine.SubOrchFailedItem:
		r.execution, r.id = w.ParentExecutionID, w.ParentID
	}
}

func (m *model) link(r *rowState) {
	if r.present {
		return
	}
	r.present = true
	in := r.instance
	if r.queue == engine.QueueWorker {
		in.work = insertByNumber(in.work, r)
		m.work = append(m.work, r)
		r.workAt = len(m.work)
		m.sessionWork += r.ofSession()
		return
	}
	in.queue = insertByNumber(in.queue, r)
	if in.queuedAt == 0 {
		m.queued = append(m.queued, in)
		in.queuedAt = len(m.queued)
	}
	m.placeBare(in)
}

func (m *model) unlink(r *rowState) {
	if !r.present {
		return
	}
	r.present = false
	in := r.instance
	if r.queue == engine.QueueWorker {
		in.work = deleteByNumber(in.work, r)
		last := m.work[len(m.work)-1]
		m.work[r.workAt-1], last.workAt = last, r.workAt
		m.work, r.workAt = m.work[:len(m.work)-1], 0
		m.sessionWork -= r.ofSession()
		return
	}
	in.queue = deleteByNumber(in.queue, r)
	if len(in.queue) == 0 {
		last := m.queued[len(m.queued)-1]
		m.queued[in.queuedAt-1], last.queuedAt = last, in.queuedAt
		m.queued, in.queuedAt = m.queued[:len(m.queued)-1], 0
	}
	m.placeBare(in)
}

// ofSession is 1 for an activity that belongs to a session, else 0.
func (r *rowState) ofSession() int {
	if w, ok := r.item.(engine.ActivityExecuteItem); ok && w.SessionID != "" {
		return 1
	}
	return 0
}

func insertByNumber(rows []*rowState, r *rowState) []*rowState {
	i := len(rows)
	for i > 0 && rows[i-1].no > r.no {
		i--
	}
	return slices.Insert(rows, i, r)
}

func deleteByNumber(rows []*rowState, r *rowState) []*rowState {
	for i, have := range rows {
		if have == r {
			return slices.Delete(rows, i, i+1)
		}
	}
	return rows
}

// placeBare keeps m.bare right: the instances with queued messages and without a pin.
func (m *model) placeBare(in *instanceState) {
	belongs := len(in.queue) > 0 && in.pin() == nil
	switch {
	case belongs && in.bare == 0:
		m.bare = append(m.bare, in)
		in.bare = len(m.bare)
	case !belongs && in.bare != 0:
		last := m.bare[len(m.bare)-1]
		m.bare[in.bare-1] = last
		last.bare = in.bare
		m.bare[len(m.bare)-1] = nil
		m.bare = m.bare[:len(m.bare)-1]
		in.bare = 0
	}
}

// touchRow is the row of an observation.
func (m *model) touchRow(o *engine.Observation) *rowState {
	r := m.row(o.Message)
	if r.instance == nil {
		r.instance, r.queue = m.instance(o.Instance), o.Queue
	}
	if o.Call != 0 && r.was.call != o.Call {
		r.was = rowWas{call: o.Call, present: r.present, count: r.count, visibleMs: r.visibleMs, lock: r.lock}
		m.current.rows = append(m.current.rows, r)
	}
	return r
}
