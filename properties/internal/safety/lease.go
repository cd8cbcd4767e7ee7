package safety

import (
	"time"

	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
	"github.com/durosim/durosim/sim/cluster"
)

// leaseChecker checks rule S25: locks last for their whole timeout. The holder learns of its lock from the answer, so
// the timeout must count from the moment at which the call takes effect. If it counts from the call's arrival and the
// call has to wait in the store, the lock is shorter than requested or has even expired, and its holder cannot know
// that:
//
//  1. A's fetch arrives at 0 s and waits in line. The store computes that the lock ends at 5 s.
//  2. The fetch takes effect at 6 s. A holds a lock that expired before A got the answer.
//  3. A's ack is refused, B's fetch fails in the same way, and the attempt count keeps growing.
//
// The store is not responsible for an answer that is delayed on its way back.
type leaseChecker struct{ check.Base }

func newLeaseChecker(m *check.Run) check.Checker { return &leaseChecker{check.Base{Run: m}} }

func (*leaseChecker) Ends() check.Ends {
	return check.Ends{OK: check.SetOf(
		observe.CallFetchOrchestrationItem, observe.CallFetchWorkItem, observe.CallRenewOrchestrationItemLock, observe.CallRenewWorkItemLock,
	)}
}

func (l *leaseChecker) Ended(c *model.Call, o *observe.Observation) {
	switch c.Kind {
	case observe.CallFetchOrchestrationItem:
		if c.Instance != 0 {
			l.judge(c, c.Instance, nil, l.Run.Model.Instance(c.Instance).Lock, o.AtMs)
		}
	case observe.CallFetchWorkItem:
		if len(c.Messages) == 1 {
			r := l.Run.Model.Row(c.Messages[0])
			l.judge(c, r.Instance.No, r, r.Lock, o.AtMs)
		}
	case observe.CallRenewOrchestrationItemLock:
		for _, in := range c.Instances {
			if in.Lock.Token == c.Request.Token {
				l.judge(c, in.No, nil, in.Lock, o.AtMs)
			}
		}
	case observe.CallRenewWorkItemLock:
		for _, r := range c.Rows {
			if r.Queue == observe.QueueWorker && r.Lock.Token == c.Request.Token {
				l.judge(c, r.Instance.No, r, r.Lock, o.AtMs)
			}
		}
	}
}

func (l *leaseChecker) judge(c *model.Call, no observe.InstanceNo, row *model.Row, lock model.Lock, nowMs int64) {
	want := after(nowMs, c.Request.LockTimeout)
	if lock.Token == "" || lock.UntilMs >= want {
		return
	}
	item := ""
	if row != nil {
		item = model.ItemText(row)
	}
	left := time.Duration(lock.UntilMs-nowMs) * time.Millisecond
	l.Run.Violate(check.Breach{
		Property: "S25", Class: cluster.ClassSafety, Node: c.Caller.Node, Instance: no, Item: item,
		Message: c.Kind.String() + " by " + l.Run.Who(c.Caller) + " asked for a lock of " + c.Request.LockTimeout.String() + ", but its answer at " + l.Run.At(nowMs) +
			" leaves " + left.String() + " of it (" + l.Run.LockText(lock) + "): expected it to last until " + l.Run.At(want),
	})
}
