package properties

import (
	"strconv"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim/plan"
)

// This file has the facts that the shared state tells expectations of, as they happen.

func (c *expectChecker) pin(v *engine.Version) string {
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

// buildName is the name of a build, made once.
func (c *expectChecker) buildName(b *engine.Build) string {
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

// place adds who and what a fact is about.
func (c *expectChecker) place(f *event, n *liveNode, in *instanceState) {
	if n != nil {
		f.add("node", c.m.nodeName(n.number))
		if n.build != nil {
			f.add("build", c.buildName(n.build))
		}
	}
	f.add("pin", c.pin(in.pin()))
	f.add("instance", in.name)
	f.add("phase", c.live.phase.String())
}

// caller is the node that made a call, with the build that it was then: its successor may run already.
func (c *expectChecker) caller(by engine.Caller) *liveNode {
	n := c.live.node(by.Node)
	if n == nil || by.Incarnation == n.incarnation {
		return n
	}
	was := &liveNode{number: by.Node}
	if inc := c.m.store.incarnation(by); inc != nil {
		was.build = inc.build
	}
	return was
}

// onFetched tells of a delivery.
func (c *expectChecker) onFetched(number uint32, d *delivery) {
	if !c.wants(plan.EventFetch) {
		return
	}
	f := c.begin(plan.EventFetch, number, d.instance)
	c.place(f, c.caller(engine.Caller{Node: number, Incarnation: d.incarnation}), c.m.store.instance(d.instance))
	f.add("attempt", strconv.FormatUint(uint64(d.told), 10))
	f.add("readable", yesNo(!d.historyError))
	c.emit()
}

func (c *expectChecker) passes() passing {
	if c.wants(plan.EventSkip) {
		return passAll
	}
	return passNone
}

// onPassed tells of an instance that a fetch passed over.
func (c *expectChecker) onPassed(by engine.Caller, in *instanceState) {
	if !c.wants(plan.EventSkip) {
		return
	}
	c.place(c.begin(plan.EventSkip, by.Node, in.no), c.caller(by), in)
	c.emit()
}

// onWaits tells of visible work that no live node admits.
func (c *expectChecker) onWaits(in *instanceState) {
	if !c.wants(plan.EventWait) {
		return
	}
	c.place(c.begin(plan.EventWait, 0, in.no), nil, in)
	c.emit()
}

// onCommitted tells of an ack that took effect: a turn, and its events.
func (c *expectChecker) onCommitted(number uint32, d *delivery, no engine.InstanceNo, ack *engine.OrchestrationAck) {
	n, in := c.live.node(number), c.m.store.instance(no)
	if d != nil {
		n = c.caller(engine.Caller{Node: number, Incarnation: d.incarnation})
	}
	if c.wants(plan.EventEvent) {
		handler := "none"
		if d != nil && d.decision == node.DecideTurn {
			handler = d.turn.Handler
		}
		for i := range ack.HistoryDelta {
			if !c.concerns(plan.EventEvent, "kind", string(ack.HistoryDelta[i].Kind())) {
				continue
			}
			f := c.begin(plan.EventEvent, number, no)
			f.add("kind", string(ack.HistoryDelta[i].Kind()))
			c.place(f, n, in)
			f.add("handler", handler)
			c.emit()
		}
	}
	if !c.wants(plan.EventTurn) || d == nil || d.decision != node.DecideTurn {
		return
	}
	f := c.begin(plan.EventTurn, number, no)
	c.place(f, n, in)
	f.add("first", yesNo(d.turn.First))
	f.add("start", startNames[d.start])
	f.add("handler", d.turn.Handler)
	f.add("result", d.turn.Result)
	f.add("execution", strconv.FormatUint(ack.ExecutionID, 10))
	c.emit()
}

// onNoted tells of poison and of work that was given back.
func (c *expectChecker) onNoted(n *liveNode, d *delivery, note *node.Note) {
	event, name, value := plan.EventAbandon, "reason", ""
	switch note.Decision {
	case node.DecidePoison, node.DecideWorkPoison:
		event, name, value = plan.EventPoison, "cause", c.cause(d)
	case node.DecideHistoryError:
		value = "history-error"
	case node.DecideIncompatible:
		value = "incompatible"
	case node.DecideWaitForStart:
		value = "wait-for-start"
	case node.DecideNoHandler, node.DecideWorkNoHandler:
		value = "no-handler"
	case node.DecideAckFailed:
		value = "ack-failed"
	case node.DecideDrained:
		value = "drained"
	case node.DecideWorkLost:
		value = "lost"
	default:
		return
	}
	if !c.wants(event) {
		return
	}
	f := c.begin(event, n.number, d.instance)
	c.place(f, n, c.m.store.instance(d.instance))
	f.add("queue", [...]string{"orchestrator", "worker"}[min(countOf(d.worker), 1)])
	f.add(name, value)
	f.add("attempt", strconv.FormatUint(uint64(note.AttemptCount), 10))
	if event == plan.EventAbandon {
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

// cause is why the deliveries of a poisoned batch did not end: what was decided about it before.
func (c *expectChecker) cause(d *delivery) string {
	if d.historyError {
		return "unreadable"
	}
	for _, no := range d.messages {
		switch c.live.row(no).before {
		case node.DecideHistoryError:
			return "unreadable"
		case node.DecideIncompatible:
			return "incompatible"
		case node.DecideNoHandler, node.DecideWorkNoHandler:
			return "no-handler"
		case node.DecideNone, node.DecideTurn, node.DecideWorkRun:
			return "crash"
		}
	}
	return "other"
}

// observe tells of locks that fetches take, of events that they decode, and of instances that reach their end.
func (c *expectChecker) observe(o *engine.Observation) {
	switch o.Kind {
	case engine.ObsLockTaken:
		if o.Message == 0 && !o.Undo {
			c.inFetch(plan.EventLock, o)
		}
		return
	case engine.ObsEventDecoded:
		c.decoded(o)
		return
	}
	if o.Undo || !c.wants(plan.EventEnd) || o.Status != engine.StatusCompleted && o.Status != engine.StatusFailed {
		return
	}
	in := c.m.store.instance(o.Instance)
	if o.Execution != max(in.currentID, 1) {
		return
	}
	f := c.begin(plan.EventEnd, 0, in.no)
	f.add("status", string(o.Status))
	c.place(f, nil, in)
	f.add("output", o.Name)
	f.add("execution", strconv.FormatUint(o.Execution, 10))
	c.emit()
}

// decoded tells of each event that a fetch decoded: those that were decoded before are one observation.
func (c *expectChecker) decoded(o *engine.Observation) {
	ex := c.m.store.instance(o.Instance).execution(o.Execution)
	if !o.Cached || o.Outcome != engine.OutcomeOK || ex == nil {
		c.inFetch(plan.EventDecode, o)
		return
	}
	one := *o
	for i := range ex.events {
		if one.EventID = ex.events[i].id; one.EventID > o.EventID {
			return
		}
		c.inFetch(plan.EventDecode, &one)
	}
}

// inFetch tells of something that a fetch of a node did on its way.
func (c *expectChecker) inFetch(event string, o *engine.Observation) {
	call := c.m.store.call(o.Call)
	if call == nil || call.kind != engine.CallFetchOrchestrationItem {
		return
	}
	n := c.caller(call.caller)
	if n == nil {
		return // a probe
	}
	f := c.begin(event, n.number, o.Instance)
	c.place(f, n, c.m.store.instance(o.Instance))
	if event == plan.EventDecode {
		if ex := c.m.store.instance(o.Instance).execution(o.Execution); ex != nil && ex.event(o.EventID) != nil {
			f.add("kind", c.m.store.kinds.name(ex.event(o.EventID).kind))
		}
		f.add("readable", yesNo(o.Outcome == engine.OutcomeOK))
	}
	c.emit()
}

// eachNode tells of each node that is up what it runs, declares and has registered.
func (c *expectChecker) eachNode() {
	if !c.wants(plan.EventNode) {
		return
	}
	for i := range c.live.nodes {
		n := &c.live.nodes[i]
		if !n.up || n.draining {
			continue
		}
		f := c.begin(plan.EventNode, n.number, 0)
		f.add("node", c.m.nodeName(n.number))
		f.add("build", n.build.Name())
		f.add("filter", c.m.w.Node(n.number).Filter.String())
		for _, handler := range n.registry.Orchestrations() {
			f.add(handler, yesNo(true))
		}
		c.emit()
	}
}
