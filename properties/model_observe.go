package properties

import (
	"slices"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim/cluster"
)

// observe brings the model up to date. It believes what it is told, right or wrong: judging is for checkers.
func (m *model) observe(o *engine.Observation) {
	switch o.Kind {
	case engine.ObsEventDecoded:
		if o.Outcome == engine.OutcomePermanent {
			m.noteUnreadable(o)
		}
	case engine.ObsMessageDecoded:
		if o.Outcome == engine.OutcomePermanent && o.Queue != engine.QueueWorker {
			m.noteUnreadable(o)
		}
	case engine.ObsCallBegin:
		m.onCallBegin(o)
	case engine.ObsCallEnd:
		m.onCallEnd(o)
	case engine.ObsInstanceNamed:
		in := m.instance(o.Instance)
		in.name = o.Name
		m.numbers[o.Name] = o.Instance
	case engine.ObsLockTaken, engine.ObsLockExtended, engine.ObsLockReleased:
		m.onLock(o)
	case engine.ObsMessageMarked:
		r := m.touchRow(o)
		r.lock = lockState{token: o.Token, call: o.Call}
	case engine.ObsCountChanged:
		m.touchRow(o).count = o.NewCount
	case engine.ObsRowDelayed:
		m.touchRow(o).visibleMs = o.UntilMs
	case engine.ObsRowInserted:
		m.onInserted(o)
	case engine.ObsRowRemoved:
		r := m.touchRow(o)
		m.unlink(r)
		r.removed, r.removedBy = o.Reason, o.Call
		if o.Reason == engine.RemovedOrphan {
			m.current.orphans++
		}
		m.current.undone = m.current.undone || o.Reason == engine.RemovedUndone
	case engine.ObsRowRestored:
		r := m.touchRow(o)
		r.removed, r.removedBy = engine.RemovedNone, 0
		m.link(r)
		m.current.undone = true
	case engine.ObsInstanceCreated, engine.ObsInstanceRemoved, engine.ObsPointerSet, engine.ObsParentSet:
		m.onInstance(o)
	case engine.ObsExecutionCreated, engine.ObsExecutionRemoved, engine.ObsStatusSet, engine.ObsPinSet:
		m.onExecution(o)
	case engine.ObsEventAppended:
		m.onAppended(o)
	case engine.ObsEventRemoved:
		m.onEventRemoved(o)
	case engine.ObsCustomStatusSet, engine.ObsKVSet, engine.ObsKVRemoved, engine.ObsSessionSet, engine.ObsSessionRemoved:
		m.onKept(o)
	case engine.ObsDamaged:
		m.onDamaged(o)
	}
}

// record keeps what checkers must know of nodes: what each incarnation ran, and what was decided about a delivery.
func (m *model) record(w world, r *cluster.Record) {
	switch r.Kind {
	case cluster.RecNodeStarted:
		m.onNodeStarted(w.Node(r.Node), r)
	case cluster.RecNote:
		m.onNote(r)
	}
}

func (m *model) onNodeStarted(info *cluster.NodeInfo, r *cluster.Record) {
	for len(m.nodes) < int(r.Node) {
		m.nodes = append(m.nodes, nodeModel{})
	}
	n := &m.nodes[r.Node-1]
	for len(n.incarnations) < int(r.Incarnation) {
		n.incarnations = append(n.incarnations, incarnationModel{})
	}
	n.incarnations[r.Incarnation-1] = incarnationModel{
		build: info.Build, reads: m.kinds.readBy(info.Build), filter: engine.FilterFor(info.Options.Range(info.Build)),
	}
}

// noteState is what a node said it decided about a delivery.
type noteState struct {
	caller   engine.Caller
	token    string
	decision node.Decision
	first    bool // for DecideTurn
	dropped  []node.DroppedMessage
}

func (m *model) onNote(r *cluster.Record) {
	n := r.Note
	if n.Slot.Kind != node.SlotOrchestration || n.Decision == node.DecideAckFailed {
		return
	}
	no := m.numbers[n.Instance]
	if no == 0 {
		return
	}
	in := m.instances[no]
	dropped := append(in.note.dropped[:0], n.Dropped...)
	in.note = noteState{
		caller: engine.Caller{Node: r.Node, Incarnation: r.Incarnation}, token: n.Token, decision: n.Decision,
		first: n.Turn != nil && n.Turn.First, dropped: dropped,
	}
}

func (m *model) onCallBegin(o *engine.Observation) {
	c := &m.current
	for _, r := range c.rows { // nobody asks for these any more
		if !r.present {
			r.item, r.bytes = nil, nil
		}
	}
	*c = callState{
		id: o.Call, kind: o.CallKind, caller: o.Caller, beganMs: o.AtMs,
		messages: c.messages[:0], instances: c.instances[:0], executions: c.executions[:0], rows: c.rows[:0], appended: c.appended[:0],
	}
	if o.Request != nil {
		c.request = *o.Request
		if ack := c.request.Ack; ack != nil && c.request.Token == "" {
			c.request.Token = ack.LockToken
		}
	}
}

func (m *model) onCallEnd(o *engine.Observation) {
	c := &m.current
	if c.id != o.Call {
		return
	}
	c.ended, c.outcome, c.instance = true, o.Outcome, o.Instance
	c.messages = append(c.messages[:0], o.Messages...)
	c.token, c.told = o.Token, o.NewCount
	if o.Outcome != engine.OutcomeOK {
		return
	}
	switch o.CallKind {
	case engine.CallFetchOrchestrationItem:
		if o.Instance == 0 {
			return
		}
		in := m.instance(o.Instance)
		in.batch = append(in.batch[:0], o.Messages...)
		in.batchCall, in.batchToken = o.Call, o.Token
		for _, no := range o.Messages {
			m.row(no).delivered = o.Call
		}
	case engine.CallFetchWorkItem:
		for _, no := range o.Messages {
			m.row(no).delivered = o.Call
		}
	}
}

func (m *model) noteUnreadable(o *engine.Observation) {
	if c := m.call(o.Call); c != nil && c.unreadable == 0 {
		c.unreadable, c.unreadableExecution, c.unreadableEvent, c.unreadableMessage = o.Instance, o.Execution, o.EventID, o.Message
	}
}

func (m *model) onLock(o *engine.Observation) {
	var l, was *lockState
	if o.Message != 0 {
		r := m.touchRow(o)
		l, was = &r.lock, &r.was.lock
	} else {
		in := m.touchInstance(o)
		l, was = &in.lock, &in.was.lock
	}
	c := &m.current
	c.undone = c.undone || o.Undo
	switch {
	case o.Kind == engine.ObsLockReleased:
		*l = lockState{}
	case o.Kind == engine.ObsLockExtended:
		l.untilMs = o.UntilMs
	case o.Undo && o.Token == was.token:
		*l = *was
		l.untilMs = o.UntilMs
	default:
		*l = lockState{token: o.Token, untilMs: o.UntilMs, call: o.Call, takenMs: o.AtMs}
		if c.id == o.Call && o.Call != 0 {
			l.holder, l.filter = c.caller, c.request.Filter
		}
	}
}

func (m *model) onInstance(o *engine.Observation) {
	in := m.touchInstance(o)
	m.current.undone = m.current.undone || o.Undo
	switch o.Kind {
	case engine.ObsInstanceCreated:
		in.created, in.orchestration, in.version, in.currentID = true, o.Name, o.Token, o.Execution
	case engine.ObsInstanceRemoved:
		in.created, in.orchestration, in.version, in.currentID, in.parent = false, "", "", 0, engine.ParentLink{}
		in.kept.customStatus, in.kept.customVersion = nil, 0
	case engine.ObsPointerSet:
		in.currentID = o.Execution
	case engine.ObsParentSet:
		in.parent = engine.ParentLink{Instance: o.Name, ExecutionID: o.Execution, EventID: o.EventID}
	}
	m.placeBare(in)
}

func (m *model) onExecution(o *engine.Observation) {
	ex := m.touchExecution(o)
	m.current.undone = m.current.undone || o.Undo
	switch o.Kind {
	case engine.ObsExecutionCreated:
		ex.created, ex.status, ex.output = true, o.Status, ""
	case engine.ObsExecutionRemoved:
		ex.created, ex.status, ex.output = false, "", ""
		if !o.Undo {
			ex.pin, ex.deleted = nil, true
		}
	case engine.ObsStatusSet:
		ex.status, ex.output = o.Status, o.Name
	case engine.ObsPinSet:
		ex.pin = o.Pin
		ex.repinned = ex.repinned || o.Call != 0 && m.current.caller.Node == 0 && len(ex.events) > 0
	}
	m.placeBare(ex.instance)
}

func (m *model) onAppended(o *engine.Observation) {
	ex := m.touchExecution(o)
	e := eventState{
		id: o.EventID, bytes: o.Bytes, sum: sumOf(o.Bytes), call: o.Call, kind: m.kinds.of(o.Bytes),
	}
	i, dup := ex.findEvent(o.EventID)
	m.overwritten = dup
	if ex.events == nil {
		ex.events = make([]eventState, 0, 8)
	}
	if dup {
		ex.events[i] = e
	} else {
		ex.events = slices.Insert(ex.events, i, e)
	}
	ex.kinds |= maskOf(e.kind)
	if m.kinds.terminal.has(e.kind) {
		ex.terminals++
	}
	if o.Call != 0 {
		m.current.appended = append(m.current.appended, eventRef{ex, o.EventID})
	}
	m.current.undone = m.current.undone || o.Undo
}

func (m *model) onEventRemoved(o *engine.Observation) {
	ex := m.touchExecution(o)
	m.removedCall = 0
	if i, ok := ex.findEvent(o.EventID); ok {
		m.removedCall = ex.events[i].call
		ex.events = slices.Delete(ex.events, i, i+1)
	}
	m.current.undone = m.current.undone || o.Undo
	if o.Undo && len(ex.events) != ex.was.events {
		return // more follow; what the call appended last is taken back first
	}
	m.recount(ex)
}

// recount finds the kinds and the terminal events of a history anew.
func (m *model) recount(ex *executionState) {
	ex.kinds, ex.terminals = 0, 0
	for i := range ex.events {
		k := ex.events[i].kind
		ex.kinds |= maskOf(k)
		if m.kinds.terminal.has(k) {
			ex.terminals++
		}
	}
}

func (m *model) onDamaged(o *engine.Observation) {
	m.damaged++
	if o.Message != 0 {
		r := m.row(o.Message)
		r.bytes, r.sum, r.damaged = o.Bytes, sumOf(o.Bytes), true
		return
	}
	ex := m.touchExecution(o)
	if e := ex.event(o.EventID); e != nil {
		e.bytes, e.sum, e.damaged, e.kind = o.Bytes, sumOf(o.Bytes), true, kindDamaged
		m.recount(ex)
	}
}

// touchInstance is the instance of an observation; what it was before the call is kept.
func (m *model) touchInstance(o *engine.Observation) *instanceState {
	in := m.instance(o.Instance)
	if o.Call != 0 && in.was.call != o.Call {
		in.was = instanceWas{call: o.Call, created: in.created, currentID: in.currentID, lock: in.lock}
		m.current.instances = append(m.current.instances, in)
	}
	return in
}

// touchExecution is the execution of an observation, made if it is not known yet.
func (m *model) touchExecution(o *engine.Observation) *executionState {
	in := m.instance(o.Instance)
	ex := in.execution(o.Execution)
	if ex == nil {
		ex = &executionState{instance: in, id: o.Execution}
		i, _ := in.findExecution(o.Execution)
		in.executions = slices.Insert(in.executions, i, ex)
	}
	if o.Call != 0 && ex.was.call != o.Call {
		ex.was = ex.now(o.Call)
		m.current.executions = append(m.current.executions, ex)
	}
	return ex
}
