package coverage

import (
	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/properties/internal/model"
)

// This file counts points that show in what a call changes in the store.

func (c *Counter) Ended(call *model.Call, o *observe.Observation) {
	switch {
	case call.Kind == observe.CallAdmin:
		c.managed(call, o.AtMs)
	case call.Kind == observe.CallFetchWorkItem:
		c.claimed(call)
	case o.Outcome != observe.OutcomeOK:
		if c.dead[call.Request.Token] {
			c.hit(pointLateAck)
		}
	case call.Request.Ack != nil && call.Request.Ack.Metadata.Status.Terminal():
		c.ended(call)
	}
}

// ended counts what the end of an execution does: it merges keys, and a continue-as-new carries messages over.
func (c *Counter) ended(call *model.Call) {
	if c.keys == call.ID {
		c.hit(pointKVMerged)
		c.counts[pointTombstoneMerged] += c.keysRemoved
	}
	for _, w := range call.Request.Ack.OrchestratorItems {
		next, ok := w.(engine.ContinueAsNewItem)
		if !ok || call.Caller.Node == 0 || len(next.CarryForwardEvents) == 0 {
			continue
		}
		c.hit(pointCarried)
		if inc := c.Run.Model.Incarnation(call.Caller); inc != nil && len(next.CarryForwardEvents) == inc.Build.Bounds().CarriedEvents {
			c.hit(pointCarryLimit)
		}
	}
}

// Observe notes that a call changes keys, and how many stored ones it removes.
func (c *Counter) Observe(o *observe.Observation) {
	if c.keys != o.Call {
		c.keys, c.keysRemoved = o.Call, 0
	}
	if o.Kind == observe.KVRemoved && o.Table == observe.KVStore {
		c.keysRemoved++
	}
}

// managed counts what a deletion or a prune removes.
func (c *Counter) managed(call *model.Call, nowMs int64) {
	deleted := false
	for _, in := range call.Instances {
		if !in.Was.Created || in.Created {
			continue
		}
		deleted = true
		c.hit(pointDeleted)
		if ex := in.Execution(in.Was.CurrentID); ex != nil && ex.Before(call.ID).Status == engine.StatusRunning {
			c.hit(pointDeletedRunning)
		}
		if in.Was.Lock.Live(call.BeganMs) {
			c.hit(pointDeletedHeld)
		}
		c.bury(call, in)
	}
	if !deleted && len(call.Executions) > 0 {
		c.hit(pointPruned)
		if in := call.Executions[0].Instance; len(in.Queue) > 0 || in.Locked(nowMs) {
			c.hit(pointPrunedAtWork)
		}
	}
}

// bury notes the tokens that were handed out for a deleted instance and have not been used yet.
func (c *Counter) bury(call *model.Call, in *model.Instance) {
	if c.dead == nil {
		c.dead = map[string]bool{}
	}
	if in.Was.Lock.Token != "" {
		c.dead[in.Was.Lock.Token] = true
	}
	for _, r := range call.Rows {
		if r.Instance == in && r.Queue == observe.QueueWorker && r.Was.Lock.Token != "" {
			c.dead[r.Was.Lock.Token] = true
		}
	}
}

// claimed counts a session that goes to another owner.
func (c *Counter) claimed(call *model.Call) {
	if !call.TouchedSessions || call.Request.Session == nil || len(call.Messages) == 0 {
		return
	}
	w, ok := c.Run.Model.Row(call.Messages[0]).Item.(engine.ActivityExecuteItem)
	if i, had := model.FindSession(call.Sessions, w.SessionID); ok && had && call.Sessions[i].Owner != call.Request.Session.OwnerID {
		c.hit(pointSessionTakenOver)
	}
}
