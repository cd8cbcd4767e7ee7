package expect

import (
	"strconv"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/facts"
	"github.com/durosim/durosim/internal/machine"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/properties/internal/track"
)

// This file turns the facts of package track into events for the expectations.

func (c *Checker) pin(v *engine.Version) string {
	if v == nil {
		return "none"
	}
	s, ok := c.pins[*v]
	if !ok {
		s = v.String()
		c.pins[*v] = s
	}
	return s
}

// buildName returns the name of a build, and caches it.
func (c *Checker) buildName(b *engine.Build) string {
	for i := range c.builds {
		if c.builds[i].build == b {
			return c.builds[i].name
		}
	}
	c.builds = append(c.builds, namedBuild{b, b.Name()})
	return c.builds[len(c.builds)-1].name
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// place adds the attributes of a fact that say which node and instance it is about.
func (c *Checker) place(f *event, n *track.Node, in *model.Instance) {
	if n != nil {
		f.add("node", c.Run.NodeName(n.Number))
		if n.Build != nil {
			f.add("build", c.buildName(n.Build))
		}
	}
	f.add("pin", c.pin(in.Pin()))
	f.add("instance", in.Name)
	f.add("phase", c.live.Phase.String())
}

// caller returns the node that made a call, with its build at that time: the next incarnation may be up already.
func (c *Checker) caller(by observe.Caller) *track.Node {
	n := c.live.Node(by.Node)
	if n == nil || by.Incarnation == n.Incarnation {
		return n
	}
	was := &track.Node{Number: by.Node}
	if inc := c.Run.Model.Incarnation(by); inc != nil {
		was.Build = inc.Build
	}
	return was
}

// OnFetched emits a fact for a delivery.
func (c *Checker) OnFetched(number uint32, d *track.Delivery) {
	if !c.wants(facts.Fetch) {
		return
	}
	f := c.begin(facts.Fetch, number, d.Instance)
	c.place(f, c.caller(observe.Caller{Node: number, Incarnation: d.Incarnation}), c.Run.Model.Instance(d.Instance))
	f.add("attempt", strconv.FormatUint(uint64(d.Told), 10))
	f.add("readable", yesNo(!d.HistoryError))
	c.emit()
}

func (c *Checker) Passes() track.Passing {
	if c.wants(facts.Skip) {
		return track.PassAll
	}
	return track.PassNone
}

// OnPassed emits a fact for an instance that a fetch skipped.
func (c *Checker) OnPassed(by observe.Caller, in *model.Instance) {
	if !c.wants(facts.Skip) {
		return
	}
	c.place(c.begin(facts.Skip, by.Node, in.No), c.caller(by), in)
	c.emit()
}

// OnWaits emits a fact for visible work that no live node admits.
func (c *Checker) OnWaits(in *model.Instance) {
	if !c.wants(facts.Wait) {
		return
	}
	c.place(c.begin(facts.Wait, 0, in.No), nil, in)
	c.emit()
}

// OnCommitted emits facts for an ack that took effect: a turn, and its events.
func (c *Checker) OnCommitted(number uint32, d *track.Delivery, no observe.InstanceNo, ack *engine.OrchestrationAck) {
	n, in := c.live.Node(number), c.Run.Model.Instance(no)
	if d != nil {
		n = c.caller(observe.Caller{Node: number, Incarnation: d.Incarnation})
	}
	if c.wants(facts.Event) {
		handler := "none"
		if d != nil && d.Decision == machine.DecideTurn {
			handler = d.Turn.Handler
		}
		for i := range ack.HistoryDelta {
			if !c.concerns(facts.Event, "kind", string(ack.HistoryDelta[i].Kind())) {
				continue
			}
			f := c.begin(facts.Event, number, no)
			f.add("kind", string(ack.HistoryDelta[i].Kind()))
			c.place(f, n, in)
			f.add("handler", handler)
			c.emit()
		}
	}
	if !c.wants(facts.Turn) || d == nil || d.Decision != machine.DecideTurn {
		return
	}
	f := c.begin(facts.Turn, number, no)
	c.place(f, n, in)
	f.add("first", yesNo(d.Turn.First))
	f.add("start", track.StartNames[d.Start])
	f.add("handler", d.Turn.Handler)
	f.add("result", d.Turn.Result)
	f.add("execution", strconv.FormatUint(ack.ExecutionID, 10))
	c.emit()
}

// OnNoted emits facts for poison and for work that was given back.
func (c *Checker) OnNoted(n *track.Node, d *track.Delivery, note *machine.Note) {
	event, name, value := facts.Abandon, "reason", ""
	switch note.Decision {
	case machine.DecideSwept:
		event, name, value = facts.Poison, "cause", "swept"
	case machine.DecidePoison, machine.DecideWorkPoison:
		event, name, value = facts.Poison, "cause", c.cause(d)
	case machine.DecideHistoryError:
		value = "history-error"
	case machine.DecideIncompatible:
		value = "incompatible"
	case machine.DecideWaitForStart:
		value = "wait-for-start"
	case machine.DecideNoHandler, machine.DecideWorkNoHandler:
		value = "no-handler"
	case machine.DecideAckFailed:
		value = "ack-failed"
	case machine.DecideLooked:
		value = "looked"
	case machine.DecideDrained:
		value = "drained"
	case machine.DecideWorkLost:
		value = "lost"
	default:
		return
	}
	if !c.wants(event) {
		return
	}
	f := c.begin(event, n.Number, d.Instance)
	c.place(f, n, c.Run.Model.Instance(d.Instance))
	f.add("queue", [...]string{"orchestrator", "worker"}[min(countOf(d.Worker), 1)])
	f.add(name, value)
	f.add("attempt", strconv.FormatUint(uint64(note.AttemptCount), 10))
	if event == facts.Abandon {
		f.add("delay", note.Delay.String())
	}
	c.emit()
}

func countOf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// cause returns why the earlier deliveries of a poisoned batch did not complete: the decisions about it.
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

// Observe emits facts for locks that fetches take, for events that they decode, and for instances that end.
func (c *Checker) Observe(o *observe.Observation) {
	switch o.Kind {
	case observe.LockTaken:
		if o.Message == 0 && !o.Undo {
			c.inFetch(facts.Lock, o)
		}
		return
	case observe.EventDecoded:
		c.decoded(o)
		return
	}
	if o.Undo || !c.wants(facts.End) || o.Status != engine.StatusCompleted && o.Status != engine.StatusFailed {
		return
	}
	in := c.Run.Model.Instance(o.Instance)
	if o.Execution != max(in.CurrentID, 1) {
		return
	}
	f := c.begin(facts.End, 0, in.No)
	f.add("status", string(o.Status))
	c.place(f, nil, in)
	f.add("output", o.Name)
	f.add("execution", strconv.FormatUint(o.Execution, 10))
	c.emit()
}

// decoded emits a fact for each event that a fetch decoded. A single observation covers the events that were decoded
// before.
func (c *Checker) decoded(o *observe.Observation) {
	ex := c.Run.Model.Instance(o.Instance).Execution(o.Execution)
	if !o.Cached || o.Outcome != observe.OutcomeOK || ex == nil {
		c.inFetch(facts.Decode, o)
		return
	}
	one := *o
	for i := range ex.Events {
		if one.EventID = ex.Events[i].ID; one.EventID > o.EventID {
			return
		}
		c.inFetch(facts.Decode, &one)
	}
}

// inFetch emits a fact for an effect of a node's fetch.
func (c *Checker) inFetch(event string, o *observe.Observation) {
	call := c.Run.Model.Call(o.Call)
	if call == nil || call.Kind != observe.CallFetchOrchestrationItem {
		return
	}
	n := c.caller(call.Caller)
	if n == nil {
		return // a probe
	}
	f := c.begin(event, n.Number, o.Instance)
	c.place(f, n, c.Run.Model.Instance(o.Instance))
	if event == facts.Decode {
		if ex := c.Run.Model.Instance(o.Instance).Execution(o.Execution); ex != nil && ex.Event(o.EventID) != nil {
			f.add("kind", c.Run.Model.Kinds.Name(ex.Event(o.EventID).Kind))
		}
		f.add("readable", yesNo(o.Outcome == observe.OutcomeOK))
	}
	c.emit()
}

// eachNode emits a fact for each node that is up, with its build, its range and its handlers.
func (c *Checker) eachNode() {
	if !c.wants(facts.Node) {
		return
	}
	for i := range c.live.Nodes {
		n := &c.live.Nodes[i]
		if !n.Up || n.Draining {
			continue
		}
		f := c.begin(facts.Node, n.Number, 0)
		f.add("node", c.Run.NodeName(n.Number))
		f.add("build", n.Build.Name())
		f.add("filter", c.Run.World.Node(n.Number).Filter.String())
		for _, handler := range n.Registry.Orchestrations() {
			f.add(handler, yesNo(true))
		}
		c.emit()
	}
}
