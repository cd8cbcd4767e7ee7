package safety

import (
	"fmt"

	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/properties/internal/model"
)

// beyond judges a successful call other than an ack of a turn. It describes the first change that is not part of the
// call's effect, or the first part of the effect that is missing. It returns "" if there is neither. An ack of an
// activity removes its row and queues a completion; an abandon releases a lock and may change a row's visibility and
// count; a renewal extends a lock. Everything else must stay as it is: other rows, histories, instance rows, keys and
// custom status.
func (a *atomicChecker) beyond(c *model.Call) string {
	if seen := a.historyLeft(c); seen != "" {
		return seen
	}
	for _, in := range c.Instances {
		if seen := in.Left(); seen != "" {
			return seen
		}
	}
	switch c.Kind {
	case observe.CallAbandonOrchestrationItem, observe.CallAbandonWorkItem:
		return a.abandoned(c)
	case observe.CallRenewOrchestrationItemLock, observe.CallRenewWorkItemLock:
		return a.renewed(c)
	}
	return ""
}

func (a *atomicChecker) abandoned(c *model.Call) string {
	for _, in := range c.Instances {
		if in.Lock.Token == c.Request.Token {
			return "the instance is still locked (" + a.Run.LockText(in.Lock) + ")"
		}
	}
	for _, r := range c.Rows {
		switch {
		case r.Present != r.Was.Present:
			return fmt.Sprintf("%s is queued: %t, before the call: %t", model.ItemText(r), r.Present, r.Was.Present)
		case r.Queue == observe.QueueWorker && r.Lock.Token == c.Request.Token:
			return model.ItemText(r) + " is still locked (" + a.Run.LockText(r.Lock) + ")"
		}
	}
	return ""
}

func (a *atomicChecker) renewed(c *model.Call) string {
	for _, in := range c.Instances {
		if in.Lock.Token != in.Was.Lock.Token {
			return fmt.Sprintf("the instance has %s, before the call %s", a.Run.LockText(in.Lock), a.Run.LockText(in.Was.Lock))
		}
	}
	for _, r := range c.Rows {
		was := &r.Was
		switch {
		case r.Present != was.Present:
			return fmt.Sprintf("%s is queued: %t, before the call: %t", model.ItemText(r), r.Present, was.Present)
		case r.Count != was.Count:
			return model.ItemText(r) + countText(was.Count, r.Count, was.Count)
		case r.Queue == observe.QueueWorker && r.Lock.Token != was.Lock.Token:
			return fmt.Sprintf("%s has %s, before the call %s", model.ItemText(r), a.Run.LockText(r.Lock), a.Run.LockText(was.Lock))
		}
	}
	return ""
}
