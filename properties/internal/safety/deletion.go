package safety

import (
	"fmt"
	"strconv"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/internal/observe"
	"github.com/durosim/durosim/properties/internal/check"
	"github.com/durosim/durosim/properties/internal/model"
)

// deletionChecker checks rule S14: deleted instances stay deleted, and pruning spares current and running executions.
// At the end of each management call, it judges what the call removed. From then on, it checks that nothing delivered
// before a deletion takes effect after it.
type deletionChecker struct {
	check.Base
	// dead maps the tokens of locks that were held when their instance was deleted to that instance. It is never
	// iterated over.
	dead map[string]observe.InstanceNo
	// keys is the instance whose key-value state the current management call has touched, or 0 if there is none.
	// sessions is set if the call has touched a session.
	keys     observe.InstanceNo
	sessions bool
}

func newDeletionChecker(m *check.Run) check.Checker {
	return &deletionChecker{Base: check.Base{Run: m}}
}

func (*deletionChecker) Observes() check.Set[observe.Kind] {
	return check.SetOf(observe.KVRemoved, observe.KVSet, observe.SessionRemoved)
}

func (*deletionChecker) Ends() check.Ends {
	return check.Ends{Any: check.SetOf(
		observe.CallAdmin, observe.CallAckOrchestrationItem, observe.CallAbandonOrchestrationItem, observe.CallRenewOrchestrationItemLock,
		observe.CallAckWorkItem, observe.CallAbandonWorkItem, observe.CallRenewWorkItemLock,
	)}
}

func (k *deletionChecker) Observe(o *observe.Observation) {
	if c := k.Run.Model.Call(o.Call); c == nil || c.Kind != observe.CallAdmin {
		return
	}
	if o.Kind == observe.SessionRemoved {
		k.sessions = true
	} else {
		k.keys = o.Instance
	}
}

func (k *deletionChecker) Ended(c *model.Call, o *observe.Observation) {
	if c.Kind != observe.CallAdmin {
		k.used(c)
		return
	}
	k.managed(c, o)
	k.keys, k.sessions = 0, false
}

// managed judges a management call by its effects.
func (k *deletionChecker) managed(c *model.Call, o *observe.Observation) {
	if k.sessions {
		k.report(c, 0, "removed a session: expected sessions to stay")
	}
	removed := 0
	for _, in := range c.Instances {
		if in.Was.Created && !in.Created {
			removed++
			k.gone(c, in)
		}
	}
	if o.Outcome != observe.OutcomeOK && removed > 0 {
		k.report(c, 0, "failed ("+errorText(o)+") but deleted "+strconv.Itoa(removed)+" instances: expected all or nothing")
	}
	deletes := isDeletion(c.Request.Admin)
	for _, r := range c.Rows {
		if !r.Present && r.Instance.Created {
			k.report(c, r.Instance.No, "removed "+model.ItemText(r)+", although the instance still exists: expected the queues to stay")
			return
		}
	}
	if !deletes && k.keys != 0 {
		k.report(c, k.keys, "changed the key-value state: expected it to live as long as its instance")
	}
	for _, ex := range c.Executions {
		if ex.Was.Created && !ex.Created && ex.Instance.Created {
			k.pruned(c, ex)
		}
	}
	if o.Outcome == observe.OutcomeOK {
		k.spared(c)
	}
	if !deletes && removed == 0 && len(c.Executions) > 0 {
		k.Run.Happened(check.FactPruned)
		if len(c.Executions[0].Instance.Queue) > 0 || c.Executions[0].Instance.Locked(o.AtMs) {
			k.Run.Happened(check.FactPrunedAtWork)
		}
	}
}

func isDeletion(method string) bool {
	return method == "delete_instance" || method == "delete_instances_atomic" || method == "delete_instance_bulk"
}

// spared judges the executions that a prune has left in place. In a run, a prune always asks to remove every execution
// that it is allowed to remove.
func (k *deletionChecker) spared(c *model.Call) {
	if c.Request.Admin != "prune_executions" && c.Request.Admin != "prune_executions_bulk" {
		return
	}
	for no := 1; no <= k.Run.Model.InstanceCount(); no++ {
		in := k.Run.Model.Instance(observe.InstanceNo(no))
		if !in.Created || c.Request.Admin == "prune_executions" && c.Request.Instance != in.Name {
			continue
		}
		for _, ex := range in.Executions {
			if ex.Created && ex.ID != in.CurrentID && ex.Status != engine.StatusRunning {
				k.report(c, in.No, fmt.Sprintf("left execution %d, which is %s, although %d is the current one: expected a prune to remove it", ex.ID, ex.Status, in.CurrentID))
				return
			}
		}
	}
}

// pruned judges an execution that was removed while its instance remains.
func (k *deletionChecker) pruned(c *model.Call, ex *model.Execution) {
	in := ex.Instance
	switch {
	case isDeletion(c.Request.Admin):
		k.report(c, in.No, fmt.Sprintf("removed execution %d, although the instance still exists", ex.ID))
	case ex.ID == in.CurrentID:
		k.report(c, in.No, fmt.Sprintf("removed execution %d, which is the current one: expected it to be spared", ex.ID))
	case ex.Was.Status == engine.StatusRunning:
		k.report(c, in.No, fmt.Sprintf("removed execution %d, which is running: expected it to be spared", ex.ID))
	}
}

// gone judges a deleted instance: whether it was allowed to be deleted, and whether any part of it remains.
func (k *deletionChecker) gone(c *model.Call, in *model.Instance) {
	k.bury(c, in)
	k.Run.Happened(check.FactDeleted)
	was := k.statusBefore(c, in)
	if was == engine.StatusRunning {
		k.Run.Happened(check.FactDeletedRunning)
	}
	if in.Was.Lock.Live(c.BeganMs) {
		k.Run.Happened(check.FactDeletedHeld)
	}
	switch {
	case !isDeletion(c.Request.Admin):
		k.report(c, in.No, "deleted the instance: expected a prune or a read to leave it")
		return
	case was == engine.StatusRunning && !c.Request.Force && c.Request.Admin != "delete_instance_bulk":
		k.report(c, in.No, "deleted the instance while it was running, without force: expected a permanent error")
		return
	}
	if left := k.left(in); left != "" {
		k.report(c, in.No, "deleted the instance but left "+left+": expected no part of it to stay")
		return
	}
	for no := 1; no <= k.Run.Model.InstanceCount(); no++ {
		if child := k.Run.Model.Instance(observe.InstanceNo(no)); child.Created && child.Parent.Instance == in.Name {
			k.report(c, in.No, "deleted the instance but left its child "+child.Name+": expected it to delete the whole tree or nothing")
			return
		}
	}
}

// statusBefore returns the status that the instance's current execution had before the call.
func (k *deletionChecker) statusBefore(c *model.Call, in *model.Instance) engine.Status {
	if ex := in.Execution(in.Was.CurrentID); ex != nil {
		return ex.Before(c.ID).Status
	}
	return ""
}

// left describes the first remaining part of an instance, or returns "" if nothing remains.
func (k *deletionChecker) left(in *model.Instance) string {
	for _, ex := range in.Executions {
		switch {
		case ex.Created:
			return fmt.Sprintf("execution %d", ex.ID)
		case len(ex.Events) > 0:
			return fmt.Sprintf("%d events of execution %d", len(ex.Events), ex.ID)
		}
	}
	switch {
	case len(in.Queue) > 0:
		return model.ItemText(in.Queue[0])
	case !in.Values.Empty():
		return "its key-value state"
	case in.Lock.Token != "":
		return k.Run.LockText(in.Lock)
	}
	return ""
}

// bury records the tokens that were handed out for the instance and have not been used yet.
func (k *deletionChecker) bury(c *model.Call, in *model.Instance) {
	if k.dead == nil {
		k.dead = make(map[string]observe.InstanceNo)
	}
	if in.Was.Lock.Token != "" {
		k.dead[in.Was.Lock.Token] = in.No
	}
	for _, r := range in.Work {
		if r.Lock.Token != "" {
			k.dead[r.Lock.Token] = in.No // a provider may keep the row if its token is dead (F28)
		}
	}
	for _, r := range c.Rows {
		if r.Instance == in && r.Queue == observe.QueueWorker && r.Was.Lock.Token != "" {
			k.dead[r.Was.Lock.Token] = in.No
		}
	}
}

// used checks that a token handed out before its instance was deleted no longer has any effect.
func (k *deletionChecker) used(c *model.Call) {
	no, ok := k.dead[c.Request.Token]
	if !ok {
		return
	}
	if c.Outcome == observe.OutcomeOK {
		k.report(c, no, "with token "+c.Request.Token+" took effect, although the instance of the token has been deleted: expected a permanent error")
		return
	}
	if c.Kind == observe.CallAckOrchestrationItem || c.Kind == observe.CallAckWorkItem {
		k.Run.Happened(check.FactLateAck)
	}
}

func (k *deletionChecker) report(c *model.Call, instance observe.InstanceNo, seen string) {
	what := c.Kind.String()
	if c.Kind == observe.CallAdmin {
		what = c.Request.Admin
	}
	k.Run.Safety("S14", c.Caller.Node, instance, "%s by %s %s", what, k.Run.Who(c.Caller), seen)
}
