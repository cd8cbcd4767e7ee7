package properties

import (
	"fmt"
	"strconv"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/sim/cluster"
)

// deletionChecker asks that what is deleted stays deleted, and that pruning spares what is current or running: S14. It
// judges each management call at its end by what the call has removed, and later whether anything that was handed out
// before a deletion takes effect after it.
type deletionChecker struct {
	base
	// dead are the tokens of what was held when its instance was deleted, with the instance; only looked up.
	dead map[string]engine.InstanceNo
	// keys is an instance whose key-value state the running management call has touched, 0 for none; sessions says that
	// it has touched a session.
	keys     engine.InstanceNo
	sessions bool
}

func newDeletionChecker(m *run) checker { return &deletionChecker{base: base{m}} }

func (*deletionChecker) records() []cluster.RecordKind { return nil }

func (*deletionChecker) observes() []engine.ObservationKind {
	return []engine.ObservationKind{engine.ObsCallEnd, engine.ObsKVRemoved, engine.ObsKVSet, engine.ObsSessionRemoved}
}

func (k *deletionChecker) observe(o *engine.Observation) {
	c := k.m.store.call(o.Call)
	if c == nil {
		return
	}
	switch {
	case c.kind == engine.CallAdmin && (o.Kind == engine.ObsKVRemoved || o.Kind == engine.ObsKVSet):
		k.keys = o.Instance
	case c.kind == engine.CallAdmin && o.Kind == engine.ObsSessionRemoved:
		k.sessions = true
	case c.kind == engine.CallAdmin && o.Kind == engine.ObsCallEnd:
		k.managed(c, o)
		k.keys, k.sessions = 0, false
	case o.Kind == engine.ObsCallEnd && len(k.dead) > 0 && c.request.Token != "":
		k.used(c)
	}
}

// managed judges a management call by its effects.
func (k *deletionChecker) managed(c *callState, o *engine.Observation) {
	if k.sessions {
		k.report(c, 0, "removed a session: expected sessions to stay")
	}
	removed := 0
	for _, in := range c.instances {
		if in.was.created && !in.created {
			removed++
			k.gone(c, in)
		}
	}
	if o.Outcome != engine.OutcomeOK && removed > 0 {
		k.report(c, 0, "failed ("+errorText(o)+") and deleted "+strconv.Itoa(removed)+" instances: expected all or nothing")
	}
	deletes := isDeletion(c.request.Admin)
	for _, r := range c.rows {
		if r.was.present && !r.present && r.instance.created {
			k.report(c, r.instance.no, "removed "+itemText(r)+", and the instance is still there: expected the queues to stay")
			return
		}
	}
	if !deletes && k.keys != 0 {
		k.report(c, k.keys, "changed the key-value state: expected it to live as long as its instance")
	}
	for _, ex := range c.executions {
		if ex.was.created && !ex.created && ex.instance.created {
			k.pruned(c, ex)
		}
	}
	if !deletes && removed == 0 && len(c.executions) > 0 {
		k.m.happened(factPruned)
		if len(c.executions[0].instance.queue) > 0 || c.executions[0].instance.locked(o.AtMs) {
			k.m.happened(factPrunedAtWork)
		}
	}
}

func isDeletion(method string) bool {
	return method == "delete_instance" || method == "delete_instances_atomic" || method == "delete_instance_bulk"
}

// pruned judges that an execution is gone whose instance is not.
func (k *deletionChecker) pruned(c *callState, ex *executionState) {
	in := ex.instance
	switch {
	case isDeletion(c.request.Admin):
		k.report(c, in.no, fmt.Sprintf("removed execution %d, and the instance is still there", ex.id))
	case ex.id == in.currentID:
		k.report(c, in.no, fmt.Sprintf("removed execution %d, which is the current one: expected it to be spared", ex.id))
	case ex.was.status == engine.StatusRunning:
		k.report(c, in.no, fmt.Sprintf("removed execution %d, which is running: expected it to be spared", ex.id))
	}
}

// gone judges a deleted instance: whether it may go, and that nothing of it stays.
func (k *deletionChecker) gone(c *callState, in *instanceState) {
	k.bury(c, in)
	k.m.happened(factDeleted)
	was := k.statusBefore(c, in)
	if was == engine.StatusRunning {
		k.m.happened(factDeletedRunning)
	}
	if in.was.lock.live(c.beganMs) {
		k.m.happened(factDeletedHeld)
	}
	switch {
	case !isDeletion(c.request.Admin):
		k.report(c, in.no, "deleted the instance: expected a prune or a reading to leave it")
		return
	case was == engine.StatusRunning && !c.request.Force && c.request.Admin != "delete_instance_bulk":
		k.report(c, in.no, "deleted the instance while it was running, and was not forced: expected a permanent error")
		return
	}
	if left := k.left(in); left != "" {
		k.report(c, in.no, "deleted the instance and left "+left+": expected nothing of it to stay")
		return
	}
	for no := 1; no <= k.m.store.instanceCount(); no++ {
		if child := k.m.store.instance(engine.InstanceNo(no)); child.created && child.parent.Instance == in.name {
			k.report(c, in.no, "deleted the instance and left its child "+child.name+": expected the whole tree to go, or nothing")
			return
		}
	}
}

// statusBefore is the status of the instance's current execution before the call.
func (k *deletionChecker) statusBefore(c *callState, in *instanceState) engine.Status {
	if ex := in.execution(in.was.currentID); ex != nil {
		return ex.before(c.id).status
	}
	return ""
}

// left is the first thing that is still there of an instance, empty if there is none.
func (k *deletionChecker) left(in *instanceState) string {
	for _, ex := range in.executions {
		switch {
		case ex.created:
			return fmt.Sprintf("execution %d", ex.id)
		case len(ex.events) > 0:
			return fmt.Sprintf("%d events of execution %d", len(ex.events), ex.id)
		}
	}
	switch {
	case len(in.queue) > 0:
		return itemText(in.queue[0])
	case !in.kept.empty():
		return "its key-value state"
	case in.lock.token != "":
		return k.m.lockText(in.lock)
	}
	return ""
}

// bury notes the tokens that were given out for the instance and not used.
func (k *deletionChecker) bury(c *callState, in *instanceState) {
	if k.dead == nil {
		k.dead = make(map[string]engine.InstanceNo)
	}
	if in.was.lock.token != "" {
		k.dead[in.was.lock.token] = in.no
	}
	for _, r := range in.work {
		if r.lock.token != "" {
			k.dead[r.lock.token] = in.no // a provider may leave the row, if its token is dead (F28)
		}
	}
	for _, r := range c.rows {
		if r.instance == in && r.queue == engine.QueueWorker && r.was.lock.token != "" {
			k.dead[r.was.lock.token] = in.no
		}
	}
}

// used: what was fetched before its instance was deleted changes nothing any more.
func (k *deletionChecker) used(c *callState) {
	no, ok := k.dead[c.request.Token]
	if !ok {
		return
	}
	if c.outcome == engine.OutcomeOK {
		k.report(c, no, "with token "+c.request.Token+" took effect, and the instance that it was given out for has been deleted since: expected a permanent error")
		return
	}
	if c.kind == engine.CallAckOrchestrationItem || c.kind == engine.CallAckWorkItem {
		k.m.happened(factLateAck)
	}
}

func (k *deletionChecker) report(c *callState, instance engine.InstanceNo, seen string) {
	what := c.kind.String()
	if c.kind == engine.CallAdmin {
		what = c.request.Admin
	}
	k.m.safety("S14", c.caller.Node, instance, "%s by %s %s", what, k.m.who(c.caller), seen)
}
