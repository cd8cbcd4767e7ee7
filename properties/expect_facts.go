package properties

import (
	"strconv"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim/cluster"
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

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// place adds who and what a fact is about.
func (c *expectChecker) place(f *fact, n *liveNode, in *instanceState) {
	if n != nil {
		f.add("node", c.m.nodeName(n.number))
		if n.build != nil {
			f.add("build", n.build.Name())
		}
	}
	f.add("pin", c.pin(in.pin()))
	f.add("instance", in.name)
	f.add("phase", c.live.phase.String())
}

// fetched tells of a delivery.
func (c *expectChecker) fetched(s *liveState, number uint32, d *delivery) {
	if !c.wants(cluster.EventFetch) {
		return
	}
	f := c.begin(cluster.EventFetch, number, d.instance)
	c.place(f, s.node(number), c.m.store.instance(d.instance))
	f.add("attempt", strconv.FormatUint(uint64(d.told), 10))
	f.add("readable", yesNo(!d.historyError))
	c.emit()
}

// skipped tells of an instance that a fetch passed over.
func (c *expectChecker) skipped(s *liveState, number uint32, in *instanceState) {
	c.place(c.begin(cluster.EventSkip, number, in.no), s.node(number), in)
	c.emit()
}

// waits tells of visible work that no live node admits.
func (c *expectChecker) waits(s *liveState, in *instanceState) {
	if !c.wants(cluster.EventWait) {
		return
	}
	c.place(c.begin(cluster.EventWait, 0, in.no), nil, in)
	c.emit()
}

// committed tells of an ack that took effect: a turn, and its events.
func (c *expectChecker) committed(s *liveState, number uint32, d *delivery, no engine.InstanceNo, ack *engine.OrchestrationAck) {
	n, in := s.node(number), c.m.store.instance(no)
	if n != nil && d != nil && d.incarnation != n.incarnation {
		n = &liveNode{number: number} // its successor runs already; its build is the one that fetched
		if inc := c.m.store.incarnation(engine.Caller{Node: number, Incarnation: d.incarnation}); inc != nil {
			n.build = inc.build
		}
	}
	if c.wants(cluster.EventEvent) {
		for i := range ack.HistoryDelta {
			f := c.begin(cluster.EventEvent, number, no)
			f.add("kind", string(ack.HistoryDelta[i].Kind()))
			c.place(f, n, in)
			c.emit()
		}
	}
	if !c.wants(cluster.EventTurn) || d == nil || d.decision != node.DecideTurn {
		return
	}
	f := c.begin(cluster.EventTurn, number, no)
	c.place(f, n, in)
	f.add("first", yesNo(d.turn.First))
	f.add("start", startNames[d.start])
	f.add("handler", d.turn.Handler)
	f.add("result", d.turn.Result)
	c.emit()
}

// noted tells of poison and of work that was given back.
func (c *expectChecker) noted(s *liveState, n *liveNode, d *delivery, note *node.Note) {
	event, name, value := cluster.EventAbandon, "reason", ""
	switch note.Decision {
	case node.DecidePoison, node.DecideWorkPoison:
		event, name, value = cluster.EventPoison, "cause", c.cause(d)
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

// observe tells of instances that reach their end.
func (c *expectChecker) observe(o *engine.Observation) {
	if o.Undo || !c.wants(cluster.EventEnd) || o.Status != engine.StatusCompleted && o.Status != engine.StatusFailed {
		return
	}
	in := c.m.store.instance(o.Instance)
	if o.Execution != max(in.currentID, 1) {
		return
	}
	f := c.begin(cluster.EventEnd, 0, in.no)
	f.add("status", string(o.Status))
	c.place(f, nil, in)
	c.emit()
}
