package expect

import (
	"math/bits"
	"strconv"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/properties/internal/track"
)

// This file turns the facts that package track reports into events for the expectations.

// pin returns a pin as a value. Its text is formatted only once.
func (c *Checker) pin(v *engine.Version) value {
	if v == nil {
		return numberedValue("none", 0)
	}
	for i := range c.pins {
		if p := &c.pins[i]; p.is == v || *p.is == *v {
			return p.value
		}
	}
	c.pins = append(c.pins, known[engine.Version]{v, numberedValue(v.String(), len(c.pins)+1)})
	return c.pins[len(c.pins)-1].value
}

// build returns a build as a value. Its name is formatted only once.
func (c *Checker) build(b *engine.Build) value {
	for i := range c.builds {
		if c.builds[i].is == b {
			return c.builds[i].value
		}
	}
	c.builds = append(c.builds, known[engine.Build]{b, numberedValue(b.Name(), len(c.builds))})
	return c.builds[len(c.builds)-1].value
}

func (c *Checker) kind(k model.KindNo) value { return value{c.Run.Model.Kinds.Name(k), uint8(k)} }

func yesNo(b bool) value {
	if b {
		return numberedValue("yes", 0)
	}
	return numberedValue("no", 1)
}

// about starts building a fact about an instance. by is the node's incarnation, or 0 for the current one.
func (c *Checker) about(e event, node, by uint32, in *model.Instance) *fact {
	f := c.begin(e, node)
	f.no, f.in, f.build, f.open = in.No, in, nil, attrsOfPlace
	n := c.live.Node(f.node)
	switch {
	case n == nil:
	case by == 0 || by == n.Incarnation:
		f.build = n.Build
	default: // the next incarnation is already up
		if inc := c.Run.Model.Incarnation(observe.Caller{Node: f.node, Incarnation: by}); inc != nil {
			f.build = inc.Build
		}
	}
	return f
}

// derive sets open attributes, as far as they apply.
func (c *Checker) derive(f *fact, open attrSet) {
	f.open &^= open
	for ; open != 0; open &= open - 1 {
		switch a := attr(bits.TrailingZeros32(uint32(open))); a {
		case attrNode:
			if c.live.Node(f.node) != nil {
				f.set(a, numberedValue(c.Run.NodeName(f.node), int(f.node)))
			}
		case attrBuild:
			if f.build != nil {
				f.set(a, c.build(f.build))
			}
		case attrPin:
			f.set(a, c.pin(f.in.Pin()))
		case attrInstance:
			f.set(a, textValue(f.in.Name))
		case attrPhase:
			f.set(a, numberedValue(c.live.Phase.String(), int(c.live.Phase)))
		case attrAttempt:
			f.set(a, textValue(strconv.FormatUint(uint64(f.attempt), 10)))
		case attrExecution:
			f.set(a, textValue(strconv.FormatUint(f.execution, 10)))
		}
	}
}

// setAttempt and setExecution set numbers that are formatted only when needed.
func (f *fact) setAttempt(n uint32) {
	f.attempt = n
	f.open |= 1 << attrAttempt
}

func (f *fact) setExecution(id uint64) {
	f.execution = id
	f.open |= 1 << attrExecution
}

// OnFetched emits a fact for a delivery.
func (c *Checker) OnFetched(number uint32, d *track.Delivery) {
	if !c.wants(eventFetch) {
		return
	}
	f := c.about(eventFetch, number, d.Incarnation, c.Run.Model.Instance(d.Instance))
	f.setAttempt(d.Told)
	f.set(attrReadable, yesNo(!d.HistoryError))
	c.emit()
}

func (c *Checker) Passes() track.Passing {
	if c.wants(eventSkip) {
		return track.PassAll
	}
	return track.PassNone
}

// OnPassed emits a fact for an instance skipped by a fetch.
func (c *Checker) OnPassed(by observe.Caller, in *model.Instance) {
	if c.wants(eventSkip) {
		c.about(eventSkip, by.Node, by.Incarnation, in)
		c.emit()
	}
}

// OnWaits emits a fact for visible work that no live node admits.
func (c *Checker) OnWaits(in *model.Instance, sinceMs int64) {
	if c.wants(eventWait) {
		c.about(eventWait, 0, 0, in).atMs = sinceMs
		c.emit()
	}
}

// OnCommitted emits facts for an ack that took effect: one for the turn, and one for each of its events.
func (c *Checker) OnCommitted(number uint32, d *track.Delivery, no observe.InstanceNo, call *model.Call) {
	if c.wants(eventEvent) {
		if kinds := c.concerned(call.Delta); kinds != 0 {
			c.committed(number, d, no, call, kinds)
		}
	}
	if !c.wants(eventTurn) || d == nil || d.Decision != machine.DecideTurn {
		return
	}
	f := c.about(eventTurn, number, d.Incarnation, c.Run.Model.Instance(no))
	f.set(attrFirst, yesNo(d.Turn.First))
	f.set(attrResumed, yesNo(d.Turn.Resumed))
	f.set(attrStart, numberedValue(track.StartNames[d.Start], int(d.Start)))
	f.set(attrHandler, textValue(d.Turn.Handler))
	f.set(attrResult, textValue(d.Turn.Result))
	f.setExecution(call.Request.Ack.ExecutionID)
	c.emit()
}

// committed emits a fact for each event of an ack that has one of the given kinds.
func (c *Checker) committed(number uint32, d *track.Delivery, no observe.InstanceNo, call *model.Call, kinds model.KindSet) {
	handler, by := "none", uint32(0)
	if d != nil {
		if by = d.Incarnation; d.Decision == machine.DecideTurn {
			handler = d.Turn.Handler
		}
	}
	for _, kind := range call.Kinds {
		if !kinds.Has(kind) {
			continue
		}
		f := c.about(eventEvent, number, by, c.Run.Model.Instance(no))
		f.set(attrKind, c.kind(kind))
		f.set(attrHandler, textValue(handler))
		c.emit()
	}
}

// reasons names why work is given back. It is never iterated over.
var reasons = map[machine.Decision]string{
	machine.DecideHistoryError: "history-error", machine.DecideIncompatible: "incompatible", machine.DecideWaitForStart: "wait-for-start",
	machine.DecideNoHandler: "no-handler", machine.DecideWorkNoHandler: "no-handler", machine.DecideAckFailed: "ack-failed",
	machine.DecideLooked: "looked", machine.DecideDrained: "drained", machine.DecideWorkLost: "lost",
}

// OnNoted emits facts for poison, and for work that is given back.
func (c *Checker) OnNoted(n *track.Node, d *track.Delivery, note *machine.Note) {
	event, name, value := eventAbandon, attrReason, reasons[note.Decision]
	switch note.Decision {
	case machine.DecideSwept:
		event, name, value = eventPoison, attrCause, "swept"
	case machine.DecidePoison, machine.DecideWorkPoison:
		event, name, value = eventPoison, attrCause, c.cause(d)
	}
	if value == "" || !c.wants(event) {
		return
	}
	queue := "orchestrator"
	if d.Worker {
		queue = "worker"
	}
	f := c.about(event, n.Number, 0, c.Run.Model.Instance(d.Instance))
	f.set(attrQueue, textValue(queue))
	f.set(name, textValue(value))
	f.setAttempt(note.AttemptCount)
	if event == eventAbandon {
		f.set(attrDelay, textValue(note.Delay.String()))
		if value == "no-handler" {
			f.detail = note.Cause // which code is missing
		}
	}
	c.emit()
}

// cause returns why the earlier deliveries of a poisoned batch did not complete, as recorded in the decisions about
// them.
func (c *Checker) cause(d *track.Delivery) string {
	if d.HistoryError {
		return "unreadable"
	}
	for _, no := range d.Messages {
		switch c.live.Row(no).Before {
		case machine.DecideHistoryError:
			return "unreadable"
		case machine.DecideIncompatible:
			return "incompatible"
		case machine.DecideNoHandler, machine.DecideWorkNoHandler:
			return "no-handler"
		case machine.DecideNone, machine.DecideTurn, machine.DecideWorkRun:
			return "crash"
		}
	}
	return "other"
}

// Observe emits facts for locks taken by fetches, for events decoded by fetches, and for instances that end.
func (c *Checker) Observe(o *observe.Observation) {
	switch o.Kind {
	case observe.LockTaken:
		if o.Message == 0 && !o.Undo {
			c.inFetch(eventLock, o)
		}
		return
	case observe.EventDecoded:
		c.decoded(o)
		return
	}
	if o.Undo || !c.wants(eventEnd) || o.Status != engine.StatusCompleted && o.Status != engine.StatusFailed {
		return
	}
	in := c.Run.Model.Instance(o.Instance)
	if o.Execution != max(in.CurrentID, 1) {
		return
	}
	f := c.about(eventEnd, 0, 0, in)
	f.set(attrStatus, textValue(string(o.Status)))
	f.set(attrOutput, textValue(o.Name))
	f.setExecution(o.Execution)
	c.emit()
}

// decoded emits a fact for each event that a fetch decoded. One observation covers all events that were decoded
// earlier.
func (c *Checker) decoded(o *observe.Observation) {
	ex := c.Run.Model.Instance(o.Instance).Execution(o.Execution)
	if !o.Cached || o.Outcome != observe.OutcomeOK || ex == nil {
		c.inFetch(eventDecode, o)
		return
	}
	one := *o
	for i := range ex.Events {
		if one.EventID = ex.Events[i].ID; one.EventID > o.EventID {
			return
		}
		c.inFetch(eventDecode, &one)
	}
}

// inFetch emits a fact for an effect that a node's fetch had.
func (c *Checker) inFetch(event event, o *observe.Observation) {
	call := c.Run.Model.Call(o.Call)
	if call == nil || call.Kind != observe.CallFetchOrchestrationItem {
		return
	}
	if c.live.Node(call.Caller.Node) == nil {
		return // a probe
	}
	f := c.about(event, call.Caller.Node, call.Caller.Incarnation, c.Run.Model.Instance(o.Instance))
	if event == eventDecode {
		if ex := c.Run.Model.Instance(o.Instance).Execution(o.Execution); ex != nil && ex.Event(o.EventID) != nil {
			f.set(attrKind, textValue(c.Run.Model.Kinds.Name(ex.Event(o.EventID).Kind)))
		}
		f.set(attrReadable, yesNo(o.Outcome == observe.OutcomeOK))
	}
	c.emit()
}

// eachNode emits a fact for each node that is up, with its build, its range and its handlers.
func (c *Checker) eachNode() {
	if !c.wants(eventNode) {
		return
	}
	for i := range c.live.Nodes {
		n := &c.live.Nodes[i]
		if !n.Up || n.Draining {
			continue
		}
		f := c.begin(eventNode, n.Number)
		f.set(attrNode, numberedValue(c.Run.NodeName(n.Number), int(n.Number)))
		f.set(attrBuild, c.build(n.Build))
		f.set(attrFilter, textValue(c.Run.World.Node(n.Number).Filter.String()))
		for _, handler := range n.Registry.Orchestrations() {
			f.addNamed(handler, yesNo(true))
		}
		c.emit()
	}
}
