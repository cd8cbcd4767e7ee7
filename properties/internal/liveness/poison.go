package liveness

import (
	"fmt"
	"slices"
	"strings"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/machine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/internal/pretty"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/properties/internal/track"
	"github.com/durosim/durosim/sim/plan"
)

// poisonChecker watches the decisions of nodes. It checks L05, the part of L01 that requires a delivery above
// max_attempts to be poisoned, and the safety part of L03: work that no node admits is left alone.
//
// A delivery is chargeable unless the node's note says otherwise. A delivery without a note ended with a crash, an
// expired lock or a lost answer. Four kinds of deliveries are not chargeable: those with an incompatible pin; those
// with a history_error although everything can be decoded; those whose handler is missing on this node while another
// live node has it; and those whose ack was refused permanently although no fault hit it and its lock was live.
type poisonChecker struct {
	check.Base
	track.NopListener
	live *track.State
}

func newPoisonChecker(s *track.State) check.Checker {
	c := &poisonChecker{Base: check.Base{Run: s.Run, OnObserve: check.SetOf(observe.LockTaken, observe.CountChanged)}, live: s}
	s.Subscribe(c)
	return c
}

func (c *poisonChecker) Observe(o *observe.Observation) {
	call := c.Run.Model.Call(o.Call)
	if call == nil || call.Kind != observe.CallFetchOrchestrationItem || o.Undo || o.Queue == observe.QueueWorker {
		return
	}
	if s := c.live.Plan.Strategy; s == plan.StrategyBounce || s == plan.StrategyStall || s == plan.StrategySweeper {
		return // under the other strategies, nodes fetch work that they do not admit
	}
	in := c.Run.Model.Instance(o.Instance)
	pin := in.Pin()
	n := c.live.Node(call.Caller.Node)
	if pin == nil || n == nil {
		return // any caller may take unpinned work, and a probe is not a node
	}
	same := n.Incarnation == c.live.ExecutingInc
	if model.Admits(call.Request.Filter, pin) && (!same || model.Admits(n.Filter, pin)) {
		return
	}
	if ok, _ := c.live.Admitted(in); ok {
		return // some node admits it, so this violates only S01
	}
	what := "locked it"
	if o.Kind == observe.CountChanged {
		what = fmt.Sprintf("raised its count from %d to %d", o.OldCount, o.NewCount)
	}
	c.Run.Liveness("L03", n.Number, in.No,
		"no live node admits %s with pin %s, which must therefore stay unlocked and uncounted, but the fetch of %s (filter %s, range %s%s) %s. Live nodes: %s",
		in.Name, pin, c.Run.NodeName(n.Number), call.Request.Filter, n.Filter, c.Run.Since(n.Number), what, c.live.WhyNot(in))
}

// OnNoted judges a decision and counts the deliveries that are not chargeable.
func (c *poisonChecker) OnNoted(n *track.Node, d *track.Delivery, note *machine.Note) {
	most := n.Options.MaxAttempts
	// Under stall, what a node cannot replay is another's to poison, and between two executions it waits for the start.
	stalls := c.live.Plan.Strategy == plan.StrategyStall || betweenExecutions(c.Run, d)
	switch note.Decision {
	case machine.DecidePoison, machine.DecideWorkPoison:
		c.judge(n, d, note)
		return
	case machine.DecideHistoryError, machine.DecideIncompatible, machine.DecideNoHandler, machine.DecideTurn, machine.DecideWorkNoHandler, machine.DecideWorkRun:
		if note.AttemptCount > most && !(stalls && note.Decision == machine.DecideIncompatible) {
			c.Run.Liveness("L01", n.Number, d.Instance,
				"delivery %d of %s is above max_attempts %d and must be poisoned, but %s decided %s. Messages: %s",
				note.AttemptCount, c.Run.Model.Name(d.Instance), most, c.Run.NodeName(n.Number), note.Decision, c.batch(d))
		}
	}
	late := c.Run.Model.Instance(d.Instance).Lock.Token != d.Token // whoever has taken the work over has counted more
	if note.Decision == machine.DecideIncompatible && !stalls && !late {
		c.bounced(n, d, note)
	}
	forOthers := false
	if !c.chargeable(n, d, note.Decision, &forOthers) {
		for _, no := range d.Messages {
			row := c.live.Row(no)
			row.Spared++
			row.ForOthers = row.ForOthers || forOthers
		}
	}
}

// betweenExecutions reports whether an execution has continued as new, and the next one's start is not in the batch.
func betweenExecutions(run *check.Run, d *track.Delivery) bool {
	return run.Model.Instance(d.Instance).Status() == engine.StatusContinuedAsNew &&
		!slices.ContainsFunc(d.Messages, func(no observe.MessageNo) bool { return run.Model.Row(no).Kind == engine.ItemContinueAsNew })
}

// bounced counts how often a message was given back because of its pin. The provider counts each of these deliveries,
// too. So once there are more than max_attempts of them, the message must be poisoned, whatever its count is.
func (c *poisonChecker) bounced(n *track.Node, d *track.Delivery, note *machine.Note) {
	most := n.Options.MaxAttempts
	for _, no := range d.Messages {
		row := c.live.Row(no)
		if row.Bounced++; row.Bounced == most+1 && note.AttemptCount <= most {
			c.Run.Liveness("L01", n.Number, d.Instance,
				"%s gave message %d of %s back because of its pin at attempt %d, and this is time number %d: expected each time to count, and poison above max_attempts %d. Messages: %s",
				c.Run.NodeName(n.Number), no, c.Run.Model.Name(d.Instance), note.AttemptCount, row.Bounced, most, c.batch(d))
			return
		}
	}
}

// chargeable reports whether a delivery that ended with the given decision counts towards poison.
func (c *poisonChecker) chargeable(n *track.Node, d *track.Delivery, decision machine.Decision, forOthers *bool) bool {
	in := c.Run.Model.Instance(d.Instance)
	switch decision {
	case machine.DecideIncompatible:
		*forOthers = in.Pin() == nil && !c.live.Replays(n, in) // the filter cannot keep it from the node
		return false
	case machine.DecideHistoryError:
		return !c.live.Reads(n, in)
	case machine.DecideNoHandler:
		*forOthers = c.live.AnyRuns(in)
		return !*forOthers
	case machine.DecideWorkNoHandler:
		for _, no := range d.Messages {
			for i := range c.live.Nodes {
				if takes, has := c.live.Takes(&c.live.Nodes[i], c.Run.Model.Row(no)); takes && has {
					*forOthers = true
					return false
				}
			}
		}
	case machine.DecideAckFailed:
		return !d.Refused
	}
	return true
}

func (c *poisonChecker) judge(n *track.Node, d *track.Delivery, note *machine.Note) {
	most := n.Options.MaxAttempts
	name, by := c.Run.Model.Name(d.Instance), c.Run.NodeName(n.Number)
	if note.AttemptCount <= most {
		c.Run.Liveness("L05", n.Number, d.Instance,
			"%s declared %s poisonous at attempt %d, but max_attempts is %d: attempt %d must still be processed. Cause given: %q. Messages: %s",
			by, name, note.AttemptCount, most, most, note.Cause, c.batch(d))
		return
	}
	forOthers := false
	for _, no := range d.Messages {
		row := c.live.Row(no)
		if row.Deliveries-min(row.Spared, row.Deliveries) > most {
			return
		}
		forOthers = forOthers || row.ForOthers
	}
	runner := c.runner(d)
	if runner == 0 {
		return
	}
	c.Run.Happened(check.FactHealthyPoisoned)
	if !c.live.Plan.Strategy.Filters() || forOthers {
		return // this is counted but is no violation if nodes fetch what they cannot run, for want of a filter, a pin or a handler
	}
	c.Run.Liveness("L05", n.Number, d.Instance,
		"%s declared %s poisonous at attempt %d, although live node %s runs it and none of its messages had more than max_attempts %d chargeable deliveries (crash, expiry, lost answer, true corruption, handler on no live node). Cause given: %q. Messages: %s",
		by, name, note.AttemptCount, c.Run.NodeName(runner), most, note.Cause, c.batch(d))
}

// runner returns a live node that runs the delivered work, or 0 if there is none.
func (c *poisonChecker) runner(d *track.Delivery) uint32 {
	for i := range c.live.Nodes {
		n := &c.live.Nodes[i]
		if !d.Worker {
			if c.live.Runs(n, c.Run.Model.Instance(d.Instance)) {
				return n.Number
			}
			continue
		}
		for _, no := range d.Messages {
			if takes, has := c.live.Takes(n, c.Run.Model.Row(no)); takes && has {
				return n.Number
			}
		}
	}
	return 0
}

// batch lists a delivery's messages, with how often each was delivered.
func (c *poisonChecker) batch(d *track.Delivery) string {
	return strings.Join(pretty.Texts(d.Messages, func(no observe.MessageNo) string {
		r, row := c.live.Row(no), c.Run.Model.Row(no)
		return fmt.Sprintf("%d %s (count %d, deliveries %d, not chargeable %d)", no, row.Kind, row.Count, r.Deliveries, r.Spared)
	}), ", ")
}
