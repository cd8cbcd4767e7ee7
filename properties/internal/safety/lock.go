package safety

import (
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
)

// lockChecker checks rule S05: peek-locks are exclusive. An abandon with an expired lock may succeed
// (docs/contract/provider.md#f8); an ack or a renewal may not.
type lockChecker struct{ check.Base }

func newLockChecker(m *check.Run) check.Checker { return &lockChecker{check.Base{Run: m}} }

func (*lockChecker) Observes() check.Set[observe.Kind] {
	return check.SetOf(observe.LockTaken, observe.LockExtended)
}

func (*lockChecker) Ends() check.Ends {
	return check.Ends{
		Any: check.SetOf(observe.CallFetchOrchestrationItem, observe.CallFetchWorkItem),
		OK: check.SetOf(observe.CallAckOrchestrationItem, observe.CallRenewOrchestrationItemLock, observe.CallAbandonOrchestrationItem,
			observe.CallAckWorkItem, observe.CallRenewWorkItemLock, observe.CallAbandonWorkItem),
	}
}

func (l *lockChecker) Observe(o *observe.Observation) {
	c := l.Run.Model.Call(o.Call)
	if c == nil {
		return
	}
	if o.Kind == observe.LockTaken {
		l.checkTaken(c, o)
		return
	}
	l.checkExtended(c, o)
}

func (l *lockChecker) Ended(c *model.Call, o *observe.Observation) {
	switch c.Kind {
	case observe.CallFetchOrchestrationItem, observe.CallFetchWorkItem:
		l.checkFetched(c)
	case observe.CallAckOrchestrationItem, observe.CallRenewOrchestrationItemLock:
		l.checkInstanceHolder(c, o)
	case observe.CallAckWorkItem, observe.CallRenewWorkItemLock:
		l.checkRowHolder(c, o)
	case observe.CallAbandonOrchestrationItem, observe.CallAbandonWorkItem:
		l.checkAbandoned(c, o)
	}
}

// checkExtended checks that a renewal extends the lock by the requested time, starting now.
func (l *lockChecker) checkExtended(c *model.Call, o *observe.Observation) {
	if want := after(o.AtMs, c.Request.LockTimeout); !o.Undo && o.UntilMs != want {
		l.Run.Safety("S05", c.Caller.Node, o.Instance, "%s by %s with token %s at %s extends the lock until %s: expected until %s, %v from then",
			c.Kind, l.Run.Who(c.Caller), c.Request.Token, l.Run.At(o.AtMs), l.Run.At(o.UntilMs), l.Run.At(want), c.Request.LockTimeout)
	}
}

// checkAbandoned checks that the caller of a successful abandon had the lock, even if it had expired.
func (l *lockChecker) checkAbandoned(c *model.Call, o *observe.Observation) {
	for _, in := range c.Instances {
		if in.Was.Lock.Token == c.Request.Token {
			return
		}
	}
	for _, r := range c.Rows {
		if r.Queue == observe.QueueWorker && r.Was.Lock.Token == c.Request.Token {
			return
		}
	}
	l.refuse(c, o.Instance, "", o.AtMs, model.Lock{})
}

// checkTaken checks that no caller takes a lock that someone else holds.
func (l *lockChecker) checkTaken(c *model.Call, o *observe.Observation) {
	if o.Undo {
		return
	}
	was := l.Run.Model.LockBefore(o)
	if !was.Live(o.AtMs) {
		return
	}
	item := ""
	if o.Message != 0 {
		item = model.ItemText(l.Run.Model.Row(o.Message))
	}
	l.Run.Violate(check.Breach{
		Property: "S05", Class: cluster.ClassSafety, Node: c.Caller.Node, Instance: o.Instance, Item: item,
		Message: l.Run.Who(c.Caller) + " took the lock with token " + o.Token + " at " + l.Run.At(o.AtMs) + ", but it is held (" +
			l.Run.LockText(*was) + "): expected one live holder",
	})
}

// checkFetched checks that a delivery locks exactly what it names, and that a fetch without a delivery locks nothing.
func (l *lockChecker) checkFetched(c *model.Call) {
	for _, in := range c.Instances {
		if in.Lock.Token != "" && in.Lock.Call == c.ID && (c.Outcome != observe.OutcomeOK || in.No != c.Instance) {
			l.Run.Safety("S05", c.Caller.Node, in.No, "a fetch by %s ended with %s and left the instance locked (%s): expected no lock without a delivery",
				l.Run.Who(c.Caller), outcomeText(c.Outcome), l.Run.LockText(in.Lock))
			return
		}
	}
	for _, r := range c.Rows {
		if r.Queue == observe.QueueWorker && r.Lock.Token != "" && r.Lock.Call == c.ID && r.Delivered != c.ID {
			l.Run.Safety("S05", c.Caller.Node, r.Instance.No, "a fetch by %s ended with %s and left %s locked (%s): expected no lock without a delivery",
				l.Run.Who(c.Caller), outcomeText(c.Outcome), model.ItemText(r), l.Run.LockText(r.Lock))
			return
		}
	}
	if c.Outcome != observe.OutcomeOK {
		return
	}
	var held model.Lock
	if c.Kind == observe.CallFetchOrchestrationItem && c.Instance != 0 {
		held = l.Run.Model.Instance(c.Instance).Lock
	} else if c.Kind == observe.CallFetchWorkItem && len(c.Messages) == 1 {
		held = l.Run.Model.Row(c.Messages[0]).Lock
	} else {
		return
	}
	if held.Token != c.Token {
		l.Run.Safety("S05", c.Caller.Node, c.Instance, "%s got token %s, but the lock is another one: %s", l.Run.Who(c.Caller), c.Token, l.Run.LockText(held))
	}
}

// checkInstanceHolder checks that the caller of a successful ack or renewal had the live lock.
func (l *lockChecker) checkInstanceHolder(c *model.Call, o *observe.Observation) {
	for _, in := range c.Instances {
		if in.Was.Lock.Token == c.Request.Token && c.Request.Token != "" {
			if !in.Was.Lock.Live(o.AtMs) {
				l.refuse(c, in.No, "", o.AtMs, in.Was.Lock)
			}
			return
		}
	}
	no, lock := o.Instance, model.Lock{}
	for _, in := range c.Instances {
		if in.Was.Lock.Token != "" {
			no, lock = in.No, in.Was.Lock
			break
		}
	}
	if no == 0 && len(c.Instances) > 0 {
		no = c.Instances[0].No
	}
	l.refuse(c, no, "", o.AtMs, lock)
}

// checkRowHolder is like checkInstanceHolder, for a row of the worker queue.
func (l *lockChecker) checkRowHolder(c *model.Call, o *observe.Observation) {
	var other *model.Row
	for _, r := range c.Rows {
		if r.Queue != observe.QueueWorker || !r.Was.Present {
			continue
		}
		if r.Was.Lock.Token == c.Request.Token && c.Request.Token != "" {
			if !r.Was.Lock.Live(o.AtMs) {
				l.refuse(c, r.Instance.No, model.ItemText(r), o.AtMs, r.Was.Lock)
			}
			return
		}
		if other == nil {
			other = r
		}
	}
	if other == nil {
		l.refuse(c, 0, "", o.AtMs, model.Lock{})
		return
	}
	l.refuse(c, other.Instance.No, model.ItemText(other), o.AtMs, other.Was.Lock)
}

func (l *lockChecker) refuse(c *model.Call, instance observe.InstanceNo, item string, nowMs int64, was model.Lock) {
	l.Run.Violate(check.Breach{
		Property: "S05", Class: cluster.ClassSafety, Node: c.Caller.Node, Instance: instance, Item: item,
		Message: c.Kind.String() + " by " + l.Run.Who(c.Caller) + " with token " + c.Request.Token + " succeeded at " + l.Run.At(nowMs) +
			", although it does not hold the lock, which was: " + l.Run.LockText(was) + "; expected a permanent error",
	})
}
