package properties

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
)

// lockChecker asks for exclusive peek-locks: S05. An abandon with a lock that ran out is free to succeed
// (docs/contract/provider.md#f8); an ack and a renewal are not.
type lockChecker struct{ base }

func newLockChecker(m *run) checker { return &lockChecker{base{m}} }

func (*lockChecker) observes() []engine.ObservationKind {
	return []engine.ObservationKind{engine.ObsLockTaken, engine.ObsLockExtended, engine.ObsCallEnd}
}

func (*lockChecker) records() []cluster.RecordKind { return nil }

func (l *lockChecker) observe(o *engine.Observation) {
	c := l.m.store.call(o.Call)
	if c == nil {
		return
	}
	if o.Kind == engine.ObsLockTaken {
		l.checkTaken(c, o)
		return
	}
	if o.Kind == engine.ObsLockExtended {
		l.checkExtended(c, o)
		return
	}
	switch c.kind {
	case engine.CallFetchOrchestrationItem, engine.CallFetchWorkItem:
		l.checkFetched(c)
	case engine.CallAckOrchestrationItem, engine.CallRenewOrchestrationItemLock:
		if o.Outcome == engine.OutcomeOK {
			l.checkInstanceHolder(c, o)
		}
	case engine.CallAckWorkItem, engine.CallRenewWorkItemLock:
		if o.Outcome == engine.OutcomeOK {
			l.checkRowHolder(c, o)
		}
	case engine.CallAbandonOrchestrationItem, engine.CallAbandonWorkItem:
		if o.Outcome == engine.OutcomeOK {
			l.checkAbandoned(c, o)
		}
	}
}

// checkExtended: a renewal holds the lock for as long as it asks for, counted from now.
func (l *lockChecker) checkExtended(c *callState, o *engine.Observation) {
	if want := after(o.AtMs, c.request.LockTimeout); !o.Undo && o.UntilMs != want {
		l.m.safety("S05", c.caller.Node, o.Instance, "%s by %s with token %s at %s holds the lock until %s: expected until %s, %v from then",
			c.kind, l.m.who(c.caller), c.request.Token, l.m.at(o.AtMs), l.m.at(o.UntilMs), l.m.at(want), c.request.LockTimeout)
	}
}

// checkAbandoned: an abandon that succeeded had the lock, which may have run out.
func (l *lockChecker) checkAbandoned(c *callState, o *engine.Observation) {
	for _, in := range c.instances {
		if in.was.lock.token == c.request.Token {
			return
		}
	}
	for _, r := range c.rows {
		if r.queue == engine.QueueWorker && r.was.lock.token == c.request.Token {
			return
		}
	}
	l.refuse(c, o.Instance, "", o.AtMs, lockState{})
}

// checkTaken: nobody takes a lock that is held.
func (l *lockChecker) checkTaken(c *callState, o *engine.Observation) {
	if o.Undo {
		return
	}
	item := ""
	var was lockState
	if o.Message != 0 {
		r := l.m.store.row(o.Message)
		was, item = r.before(o.Call).lock, "message "
	} else {
		was = l.m.store.instance(o.Instance).before(o.Call).lock
	}
	if !was.live(o.AtMs) {
		return
	}
	if item != "" {
		item = itemText(l.m.store.row(o.Message))
	}
	l.m.violate(finding{
		property: "S05", class: cluster.ClassSafety, node: c.caller.Node, instance: o.Instance, item: item,
		message: l.m.who(c.caller) + " took the lock with token " + o.Token + " at " + l.m.at(o.AtMs) + ", but it is held (" +
			l.m.lockText(was) + "): expected one live holder",
	})
}

// checkFetched: a delivery holds the one lock that it says, anything else holds none.
func (l *lockChecker) checkFetched(c *callState) {
	for _, in := range c.instances {
		if in.lock.token != "" && in.lock.call == c.id && (c.outcome != engine.OutcomeOK || in.no != c.instance) {
			l.m.safety("S05", c.caller.Node, in.no, "a fetch by %s ended with %s and left the instance locked (%s): expected no lock without a delivery",
				l.m.who(c.caller), outcomeText(c.outcome), l.m.lockText(in.lock))
			return
		}
	}
	for _, r := range c.rows {
		if r.queue == engine.QueueWorker && r.lock.token != "" && r.lock.call == c.id && r.delivered != c.id {
			l.m.safety("S05", c.caller.Node, r.instance.no, "a fetch by %s ended with %s and left %s locked (%s): expected no lock without a delivery",
				l.m.who(c.caller), outcomeText(c.outcome), itemText(r), l.m.lockText(r.lock))
			return
		}
	}
	if c.outcome != engine.OutcomeOK {
		return
	}
	var held lockState
	if c.kind == engine.CallFetchOrchestrationItem && c.instance != 0 {
		held = l.m.store.instance(c.instance).lock
	} else if c.kind == engine.CallFetchWorkItem && len(c.messages) == 1 {
		held = l.m.store.row(c.messages[0]).lock
	} else {
		return
	}
	if held.token != c.token {
		l.m.safety("S05", c.caller.Node, c.instance, "%s was given token %s, and the lock is another: %s", l.m.who(c.caller), c.token, l.m.lockText(held))
	}
}

// checkInstanceHolder: an ack or a renewal that succeeded had the live lock.
func (l *lockChecker) checkInstanceHolder(c *callState, o *engine.Observation) {
	for _, in := range c.instances {
		if in.was.lock.token == c.request.Token && c.request.Token != "" {
			if !in.was.lock.live(o.AtMs) {
				l.refuse(c, in.no, "", o.AtMs, in.was.lock)
			}
			return
		}
	}
	no, lock := o.Instance, lockState{}
	for _, in := range c.instances {
		if in.was.lock.token != "" {
			no, lock = in.no, in.was.lock
			break
		}
	}
	if no == 0 && len(c.instances) > 0 {
		no = c.instances[0].no
	}
	l.refuse(c, no, "", o.AtMs, lock)
}

// checkRowHolder is the same for a row of the worker queue.
func (l *lockChecker) checkRowHolder(c *callState, o *engine.Observation) {
	var other *rowState
	for _, r := range c.rows {
		if r.queue != engine.QueueWorker || !r.was.present {
			continue
		}
		if r.was.lock.token == c.request.Token && c.request.Token != "" {
			if !r.was.lock.live(o.AtMs) {
				l.refuse(c, r.instance.no, itemText(r), o.AtMs, r.was.lock)
			}
			return
		}
		if other == nil {
			other = r
		}
	}
	if other == nil {
		l.refuse(c, 0, "", o.AtMs, lockState{})
		return
	}
	l.refuse(c, other.instance.no, itemText(other), o.AtMs, other.was.lock)
}

func (l *lockChecker) refuse(c *callState, instance engine.InstanceNo, item string, nowMs int64, was lockState) {
	l.m.violate(finding{
		property: "S05", class: cluster.ClassSafety, node: c.caller.Node, instance: instance, item: item,
		message: c.kind.String() + " by " + l.m.who(c.caller) + " with token " + c.request.Token + " succeeded at " + l.m.at(nowMs) +
			", although it does not hold the lock; that was: " + l.m.lockText(was) + "; expected a permanent error",
	})
}
