package model

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/record"
)

// Observe applies an observation to the model. It believes every observation, right or wrong, because judging is up to
// the checkers.
func (m *Shadow) Observe(o *observe.Observation) {
	switch o.Kind {
	case observe.CallBegin:
		m.onCallBegin(o)
	case observe.CallEnd:
		m.onCallEnd(o)
	case observe.InstanceNamed:
		in := m.Instance(o.Instance)
		in.Name = o.Name
		m.numbers[o.Name] = o.Instance
	case observe.LockTaken, observe.LockExtended, observe.LockReleased:
		m.onLock(o)
	case observe.MessageMarked:
		m.touchRow(o).Lock = Lock{Token: o.Token}
	case observe.CountChanged:
		m.touchRow(o).Count = o.NewCount
	case observe.RowDelayed:
		m.touchRow(o).VisibleMs = o.UntilMs
	case observe.RowInserted:
		m.onInserted(o)
	case observe.RowRemoved:
		r := m.touchRow(o)
		if o.Reason == observe.RemovedOrphan {
			r.Instance.Orphaned = true
		}
		m.Unlink(r)
		r.Removed, r.RemovedBy = o.Reason, o.Call
		if o.Reason == observe.RemovedOrphan {
			m.Current.Orphans++
		}
		m.Current.Undone = m.Current.Undone || o.Reason == observe.RemovedUndone
	case observe.RowRestored:
		r := m.touchRow(o)
		r.Removed, r.RemovedBy = observe.RemovedNone, 0
		m.Link(r)
		m.Current.Undone = true
	case observe.InstanceCreated, observe.InstanceRemoved, observe.PointerSet, observe.ParentSet:
		m.onInstance(o)
	case observe.ExecutionCreated, observe.ExecutionRemoved, observe.StatusSet, observe.PinSet:
		m.onExecution(o)
	case observe.EventAppended:
		m.onAppended(o)
	case observe.EventRemoved:
		m.onEventRemoved(o)
	case observe.CustomStatusSet, observe.KVSet, observe.KVRemoved, observe.SessionSet, observe.SessionRemoved:
		m.onKept(o)
	case observe.Damaged:
		m.onDamaged(o)
	}
}

// nodes gives access to the current state of nodes.
type nodes interface {
	Node(number uint32) *cluster.NodeInfo
}

// Record stores what checkers need to know about nodes: each incarnation's build and options, and the node's decisions
// about deliveries.
func (m *Shadow) Record(w nodes, r *cluster.Record) {
	switch r.Kind {
	case record.NodeStarted:
		m.onNodeStarted(w.Node(r.Node), r)
	case record.Note:
		m.onNote(r)
	}
}

func (m *Shadow) onNodeStarted(info *cluster.NodeInfo, r *cluster.Record) {
	for len(m.Nodes) < int(r.Node) {
		m.Nodes = append(m.Nodes, Node{})
	}
	n := &m.Nodes[r.Node-1]
	for len(n.Incarnations) < int(r.Incarnation) {
		n.Incarnations = append(n.Incarnations, Incarnation{})
	}
	n.Incarnations[r.Incarnation-1] = Incarnation{
		Build: info.Build, Reads: m.Kinds.ReadBy(info.Build), Filter: engine.FilterFor(RangeOf(&info.Options, info.Build)),
	}
}

// Note is a decision that a node has announced about a delivery.
type Note struct {
	Token    string
	Decision machine.Decision
	Attempt  uint32
	Dropped  []machine.DroppedMessage
}

func (m *Shadow) onNote(r *cluster.Record) {
	n := r.Note
	if n.Slot.Kind != machine.SlotOrchestration || n.Decision == machine.DecideAckFailed {
		return
	}
	no := m.numbers[n.Instance]
	if no == 0 {
		return
	}
	in := m.Instances[no]
	in.Note = Note{Token: n.Token, Decision: n.Decision, Attempt: n.AttemptCount, Dropped: append(in.Note.Dropped[:0], n.Dropped...)}
}

func (m *Shadow) onCallBegin(o *observe.Observation) {
	c := &m.Current
	for _, r := range c.Rows { // these are no longer needed
		if !r.Present {
			r.Item, r.Bytes = nil, nil
		}
	}
	c.reset()
	m.readDelta(o)
	c.ID, c.Kind, c.Caller, c.BeganMs = o.Call, o.CallKind, o.Caller, o.AtMs
	if o.Request == nil {
		c.Request = observe.CallRequest{}
		return
	}
	c.Request = *o.Request
	if ack := c.Request.Ack; ack != nil && c.Request.Token == "" {
		c.Request.Token = ack.LockToken
	}
}

// readDelta computes which kinds of events a call's ack has, once for all checkers.
func (m *Shadow) readDelta(o *observe.Observation) {
	if o.Request == nil || o.Request.Ack == nil {
		return
	}
	c := &m.Current
	for i := range o.Request.Ack.HistoryDelta {
		no, ok := m.Kinds.Number(o.Request.Ack.HistoryDelta[i].Kind())
		if !ok {
			no = KindForeign
		}
		c.Kinds = append(c.Kinds, no)
		c.Delta |= MaskOf(no)
	}
}

// reset clears everything but the request and the lists' memory. It names the fields, because a Call is large, and
// assigning a new one would write all of it twice for each call of the store.
func (c *Call) reset() {
	c.ID, c.Kind, c.Caller, c.BeganMs, c.Kinds, c.Delta = 0, 0, observe.Caller{}, 0, c.Kinds[:0], 0
	c.Outcome, c.Instance, c.Messages, c.Token, c.Told = 0, 0, c.Messages[:0], "", 0
	c.Instances, c.Executions, c.Rows, c.Appended = c.Instances[:0], c.Executions[:0], c.Rows[:0], c.Appended[:0]
	c.Sessions, c.TouchedSessions, c.Undone, c.Orphans = c.Sessions[:0], false, false, 0
}

func (m *Shadow) onCallEnd(o *observe.Observation) {
	c := &m.Current
	if c.ID != o.Call {
		return
	}
	c.Outcome, c.Instance = o.Outcome, o.Instance
	c.Messages = append(c.Messages[:0], o.Messages...)
	c.Token, c.Told = o.Token, o.NewCount
	if o.Outcome != observe.OutcomeOK {
		return
	}
	switch o.CallKind {
	case observe.CallFetchOrchestrationItem:
		if o.Instance == 0 {
			return
		}
		in := m.Instance(o.Instance)
		in.Batch = append(in.Batch[:0], o.Messages...)
		in.BatchToken = o.Token
		for _, no := range o.Messages {
			m.Row(no).Delivered = o.Call
		}
	case observe.CallFetchWorkItem:
		for _, no := range o.Messages {
			m.Row(no).Delivered = o.Call
		}
	}
}

func (m *Shadow) onLock(o *observe.Observation) {
	var l, was *Lock
	if o.Message != 0 {
		r := m.touchRow(o)
		l, was = &r.Lock, &r.Was.Lock
	} else {
		in := m.touchInstance(o)
		l, was = &in.Lock, &in.Was.Lock
	}
	c := &m.Current
	c.Undone = c.Undone || o.Undo
	switch {
	case o.Kind == observe.LockReleased:
		*l = Lock{}
	case o.Kind == observe.LockExtended:
		l.UntilMs = o.UntilMs
	case o.Undo && o.Token == was.Token:
		*l = *was
		l.UntilMs = o.UntilMs
	default:
		*l = Lock{Token: o.Token, UntilMs: o.UntilMs, TakenMs: o.AtMs}
		if c.ID == o.Call && o.Call != 0 {
			l.Holder, l.Filter = c.Caller, c.Request.Filter
		}
	}
}

func (m *Shadow) onInstance(o *observe.Observation) {
	in := m.touchInstance(o)
	m.Current.Undone = m.Current.Undone || o.Undo
	switch o.Kind {
	case observe.InstanceCreated:
		in.Created, in.Orchestration, in.Version, in.CurrentID = true, o.Name, o.Token, o.Execution
	case observe.InstanceRemoved:
		in.Created, in.Orchestration, in.Version, in.CurrentID, in.Parent = false, "", "", 0, engine.ParentLink{}
		in.Values.CustomStatus, in.Values.CustomVersion = nil, 0
	case observe.PointerSet:
		in.CurrentID = o.Execution
	case observe.ParentSet:
		in.Parent = engine.ParentLink{Instance: o.Name, ExecutionID: o.Execution, EventID: o.EventID}
	}
	m.placeBare(in)
}

func (m *Shadow) onExecution(o *observe.Observation) {
	ex := m.touchExecution(o)
	m.Current.Undone = m.Current.Undone || o.Undo
	switch o.Kind {
	case observe.ExecutionCreated:
		ex.Created, ex.Status, ex.Output = true, o.Status, ""
	case observe.ExecutionRemoved:
		ex.Created, ex.Status, ex.Output = false, "", ""
		if !o.Undo {
			ex.Pin, ex.Deleted = nil, true
		}
	case observe.StatusSet:
		ex.Status, ex.Output = o.Status, o.Name
	case observe.PinSet:
		ex.Pin = o.Pin
		ex.Repinned = ex.Repinned || o.Call != 0 && m.Current.Caller.Node == 0 && len(ex.Events) > 0
	}
	m.placeBare(ex.Instance)
}

func (m *Shadow) onAppended(o *observe.Observation) {
	ex := m.touchExecution(o)
	e := Event{
		ID: o.EventID, Bytes: o.Bytes, Call: o.Call, Kind: m.Kinds.of(o.Bytes),
	}
	i, dup := ex.findEvent(o.EventID)
	if ex.Events == nil {
		ex.Events = m.arenas.events.Make(8)
	}
	if dup {
		ex.Events[i] = e
	} else {
		ex.Events = m.arenas.events.Insert(ex.Events, i, e)
	}
	ex.Kinds |= MaskOf(e.Kind)
	if m.Kinds.Terminal.Has(e.Kind) {
		ex.Terminals++
	}
	if o.Call != 0 {
		m.Current.Appended = append(m.Current.Appended, EventRef{ex, o.EventID})
	}
	m.Current.Undone = m.Current.Undone || o.Undo
}

func (m *Shadow) onEventRemoved(o *observe.Observation) {
	ex := m.touchExecution(o)
	if i, ok := ex.findEvent(o.EventID); ok {
		ex.Events = slices.Delete(ex.Events, i, i+1)
	}
	m.Current.Undone = m.Current.Undone || o.Undo
	if o.Undo && len(ex.Events) != ex.Was.Events {
		return // there are more to undo, starting with the newest event
	}
	m.recount(ex)
}

// recount recomputes which kinds and how many terminal events a history has.
func (m *Shadow) recount(ex *Execution) {
	ex.Kinds, ex.Terminals = 0, 0
	for i := range ex.Events {
		k := ex.Events[i].Kind
		ex.Kinds |= MaskOf(k)
		if m.Kinds.Terminal.Has(k) {
			ex.Terminals++
		}
	}
}

func (m *Shadow) onDamaged(o *observe.Observation) {
	m.Damaged++
	if o.Message != 0 {
		r := m.Row(o.Message)
		r.Bytes, r.Damaged = o.Bytes, true
		m.Changes.row(r, o.Call)
		return
	}
	ex := m.touchExecution(o)
	m.Changes.instance(ex.Instance, o.Call)
	if e := ex.Event(o.EventID); e != nil {
		e.Bytes, e.Damaged, e.Kind = o.Bytes, true, KindDamaged
		m.recount(ex)
	}
}

// touchInstance returns the instance that an observation is about, after saving the state that it had before the call.
func (m *Shadow) touchInstance(o *observe.Observation) *Instance {
	in := m.Instance(o.Instance)
	if o.Call != 0 && in.Was.call != o.Call {
		in.Was = InstanceBefore{
			call: o.Call, Created: in.Created, CurrentID: in.CurrentID, Lock: in.Lock,
		}
		m.Current.Instances = append(m.Current.Instances, in)
		m.Changes.instance(in, o.Call)
	} else if o.Call == 0 {
		m.Changes.instance(in, o.Call)
	}
	return in
}

// touchExecution returns the execution that an observation is about, creating it if it is new.
func (m *Shadow) touchExecution(o *observe.Observation) *Execution {
	in := m.Instance(o.Instance)
	ex := in.Execution(o.Execution)
	if ex == nil {
		ex = m.arenas.executions.New()
		ex.Instance, ex.ID = in, o.Execution
		i, _ := in.findExecution(o.Execution)
		in.Executions = m.arenas.lists.Insert(in.Executions, i, ex)
	}
	if o.Call != 0 && ex.Was.call != o.Call {
		ex.Was = ex.now(o.Call)
		m.Current.Executions = append(m.Current.Executions, ex)
		m.Changes.instance(in, o.Call)
	} else if o.Call == 0 {
		m.Changes.instance(in, o.Call)
	}
	return ex
}
