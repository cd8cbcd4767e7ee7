package properties

import (
	"fmt"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/node"
	"github.com/durosim/durosim/sim/cluster"
	"github.com/durosim/durosim/sim/plan"
)

// poisonChecker watches the decisions of nodes (L05, and of L01 that a delivery above max_attempts is poison), and that
// what no node admits is left alone (the safe part of L03).
//
// A delivery is chargeable unless the node's note says otherwise: a delivery without a note ended by a crash, an expiry
// or a lost answer. Not chargeable are an incompatible pin, a history_error where everything decodes, a missing handler
// that another live node has, and an ack that was refused for good although no fault hit it and its lock was live.
type poisonChecker struct {
	base
	live *liveState
}

func newPoisonChecker(s *liveState) checker { return &poisonChecker{s.base, s} }

func (c *poisonChecker) observes() []engine.ObservationKind {
	return []engine.ObservationKind{engine.ObsLockTaken, engine.ObsCountChanged}
}

func (c *poisonChecker) records() []cluster.RecordKind { return []cluster.RecordKind{cluster.RecNote} }

func (c *poisonChecker) observe(o *engine.Observation) {
	call := c.m.store.call(o.Call)
	if call == nil || call.kind != engine.CallFetchOrchestrationItem || o.Undo || o.Queue == engine.QueueWorker {
		return
	}
	in := c.m.store.instance(o.Instance)
	pin := in.pin()
	n := c.live.node(call.caller.Node)
	if pin == nil || n == nil {
		return // unpinned work is everybody's, and a probe is no node
	}
	same := n.incarnation == c.live.executingInc
	if call.request.Filter.Admits(pin) && (!same || n.filter.Admits(pin)) {
		return
	}
	if ok, _ := c.live.admitted(in); ok {
		return // then it is S01's alone
	}
	what := "locked"
	if o.Kind == engine.ObsCountChanged {
		what = fmt.Sprintf("counted from %d to %d", o.OldCount, o.NewCount)
	}
	c.m.liveness("L03", n.number, in.no,
		"%s waits, since no live node admits its pin %s, and must stay unlocked and uncounted; the fetch of %s (filter %s, range %s) %s it. Live nodes: %s",
		in.name, pin, c.m.nodeName(n.number), call.request.Filter, n.filter, what, c.live.whyNot(in))
}

func (c *poisonChecker) record(r *cluster.Record) {
	note := r.Note
	n := c.live.node(r.Node)
	if n == nil {
		return
	}
	d := c.live.find(r.Node, note.Token)
	if d == nil {
		return
	}
	most := n.options.MaxAttempts
	switch note.Decision {
	case node.DecidePoison, node.DecideWorkPoison:
		c.judge(n, d, note)
		return
	case node.DecideHistoryError, node.DecideIncompatible, node.DecideNoHandler, node.DecideTurn, node.DecideWorkNoHandler, node.DecideWorkRun:
		if note.AttemptCount > most {
			c.m.liveness("L01", r.Node, d.instance,
				"delivery %d of %s is above max_attempts %d and must be poison; %s decided %s. Messages: %s",
				note.AttemptCount, c.m.store.name(d.instance), most, c.m.nodeName(r.Node), note.Decision, c.batch(d))
		}
	}
	if note.Decision == node.DecideIncompatible {
		c.bounced(n, d, note)
	}
	byHandler := false
	if !c.chargeable(n, d, note.Decision, &byHandler) {
		for _, no := range d.messages {
			row := c.live.row(no)
			row.spared++
			row.byHandler = row.byHandler || byHandler
		}
	}
}

// bounced counts how often a message was given back for its pin. Each time is counted by the provider, too, so that above
// max_attempts it must be poison, whatever the count says.
func (c *poisonChecker) bounced(n *liveNode, d *delivery, note *node.Note) {
	most := n.options.MaxAttempts
	for _, no := range d.messages {
		row := c.live.row(no)
		if row.bounced++; row.bounced == most+1 && note.AttemptCount <= most {
			c.m.liveness("L01", n.number, d.instance,
				"%s gave message %d of %s back for its pin at attempt %d, which is the %dth time that this is done: expected each to count, and poison above max_attempts %d. Messages: %s",
				c.m.nodeName(n.number), no, c.m.store.name(d.instance), note.AttemptCount, row.bounced, most, c.batch(d))
			return
		}
	}
}

// chargeable says whether a delivery that ended with that decision counts towards poison.
func (c *poisonChecker) chargeable(n *liveNode, d *delivery, decision node.Decision, byHandler *bool) bool {
	in := c.m.store.instance(d.instance)
	switch decision {
	case node.DecideIncompatible:
		return false
	case node.DecideHistoryError:
		return !c.live.reads(n, in)
	case node.DecideNoHandler:
		*byHandler = c.live.anyRuns(in)
		return !*byHandler
	case node.DecideWorkNoHandler:
		for _, no := range d.messages {
			for i := range c.live.nodes {
				if takes, has := c.live.takes(&c.live.nodes[i], c.m.store.row(no)); takes && has {
					*byHandler = true
					return false
				}
			}
		}
	case node.DecideAckFailed:
		return !d.refused
	}
	return true
}

// judge judges the poison of a delivery.
func (c *poisonChecker) judge(n *liveNode, d *delivery, note *node.Note) {
	most := n.options.MaxAttempts
	name, by := c.m.store.name(d.instance), c.m.nodeName(n.number)
	if note.AttemptCount <= most {
		c.m.liveness("L05", n.number, d.instance,
			"%s declared %s poisonous at attempt %d, and max_attempts is %d: attempt %d is still to be processed. Cause given: %q. Messages: %s",
			by, name, note.AttemptCount, most, most, note.Cause, c.batch(d))
		return
	}
	byHandler := false
	for _, no := range d.messages {
		row := c.live.row(no)
		if row.deliveries-min(row.spared, row.deliveries) > most {
			return
		}
		byHandler = byHandler || row.byHandler
	}
	runner := c.runner(d)
	if runner == 0 {
		return
	}
	c.m.happened(factHealthyPoisoned)
	strategy := c.live.plan.Strategy
	if strategy != "" && strategy != plan.StrategyFilter || byHandler {
		return // routing by bouncing, or handlers not everywhere: counted, not a violation
	}
	c.m.liveness("L05", n.number, d.instance,
		"%s declared %s poisonous at attempt %d, although live node %s runs it and none of its messages had more than max_attempts %d chargeable deliveries (crash, expiry, lost answer, true corruption, handler on no live node). Cause given: %q. Messages: %s",
		by, name, note.AttemptCount, c.m.nodeName(runner), most, note.Cause, c.batch(d))
}

// runner is a live node that runs the delivered work, 0 if there is none.
func (c *poisonChecker) runner(d *delivery) uint32 {
	for i := range c.live.nodes {
		n := &c.live.nodes[i]
		if !d.worker {
			if c.live.runs(n, c.m.store.instance(d.instance)) {
				return n.number
			}
			continue
		}
		for _, no := range d.messages {
			if takes, has := c.live.takes(n, c.m.store.row(no)); takes && has {
				return n.number
			}
		}
	}
	return 0
}

// batch tells of each message of a delivery how often it was delivered.
func (c *poisonChecker) batch(d *delivery) string {
	var b strings.Builder
	for i, no := range d.messages {
		if i > 0 {
			b.WriteString(", ")
		}
		r, row := c.live.row(no), c.m.store.row(no)
		fmt.Fprintf(&b, "%d %s (count %d, deliveries %d, not chargeable %d)", no, row.kind, row.count, r.deliveries, r.spared)
	}
	return b.String()
}
