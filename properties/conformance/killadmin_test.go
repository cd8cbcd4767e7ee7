package conformance_test

import (
	"cmp"
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/memprovider"
)

// adminKillers make mistakes in the management surface.
var adminKillers = []killer{
	answers("one instance is listed", "ListInstances", func(c *call) { c.names = c.names[:min(1, len(c.names))] }),
	answers("an unknown status lists all", "ListInstancesByStatus", func(c *call) {
		if c.status == "Sleeping" {
			c.names, c.err = c.inner.Admin().ListInstances(c.ctx)
		}
	}),
	skips("no status lists any", "ListInstancesByStatus", always),
	answers("old executions count for the status", "ListInstancesByStatus", func(c *call) {
		all, _ := c.inner.Admin().ListInstances(c.ctx)
		for _, in := range all {
			if e, err := c.inner.Admin().GetExecutionInfo(c.ctx, in, 1); err == nil && e.Status == c.status && !slices.Contains(c.names, in) {
				c.names = append(c.names, in)
			}
		}
	}),
	answers("the last execution is listed", "ListExecutions", func(c *call) { c.ids = c.ids[max(0, len(c.ids)-1):] }),
	answers("the unnamed have no executions", "ListExecutions", func(c *call) {
		if c.infoOf(c.instance).InstanceID == "" {
			c.ids = nil
		}
	}),
	answers("strangers have an execution", "ListExecutions", func(c *call) {
		if len(c.ids) == 0 {
			c.ids = []uint64{1}
		}
	}),
	spoil("strangers have no latest execution", "LatestExecutionID", func(c *call) { c.execution, c.err = 0, nil }),
	alters("info without version", func(i *engine.InstanceInfo) { i.OrchestrationVersion = "" }),
	fails("strangers have an info", "GetInstanceInfo", func(c *call) {
		c.info, c.err = &engine.InstanceInfo{InstanceID: c.instance, Status: engine.StatusRunning, CurrentExecutionID: 1}, nil
	}),
	fails("unknown executions have an info", "GetExecutionInfo", func(c *call) {
		c.about, c.err = &engine.ExecutionInfo{ExecutionID: c.execution}, nil
	}),
	alters("the running have ended", func(e *engine.ExecutionInfo) { e.CompletedAt = cmp.Or(e.CompletedAt, new(uint64)) }),
	alters("nothing has ended", func(e *engine.ExecutionInfo) { e.CompletedAt = nil }),
	spoil("metrics are zero", "GetSystemMetrics", func(c *call) { c.metrics = &engine.SystemMetrics{} }),
	alters("metrics count the unnamed", func(m *engine.SystemMetrics) { m.TotalInstances = m.TotalExecutions }),
	spoil("depths are zero", "GetQueueDepths", func(c *call) { c.depths = &engine.QueueDepths{} }),
	spoil("depths count held messages", "", func(c *call) {
		if c.do(); c.is("GetQueueDepths") {
			c.depths.OrchestratorQueue = max(c.depths.OrchestratorQueue, 3)
		}
	}),
	answers("strangers have statistics", "GetInstanceStats", func(c *call) { c.stats = cmp.Or(c.stats, &engine.SystemStats{}) }),
	alters("events are not measured", func(s *engine.SystemStats) { s.HistorySizeBytes = 0 }),
	alters("nothing is pending", func(s *engine.SystemStats) { s.QueuePendingCount = 0 }),
	alters("a key too few is counted", func(s *engine.SystemStats) { s.KVUserKeyCount = min(1, s.KVUserKeyCount) }),
	alters("keys are counted in five bytes", func(s *engine.SystemStats) { s.KVTotalValueBytes = min(5, s.KVTotalValueBytes) }),
	alters("keys are counted twice", func(s *engine.SystemStats) { s.KVUserKeyCount *= 2 }),
	answers("statistics of the first execution", "GetInstanceStats", func(c *call) {
		if c.stats != nil {
			events, _ := c.inner.ReadWithExecution(c.ctx, c.instance, 1)
			c.stats.HistoryEventCount = uint64(len(events))
		}
	}),
	remembers("statistics count cleared keys", "", func(c *call, cleared *uint64) {
		c.do()
		for _, e := range c.ack.HistoryDelta {
			if e.Kind() == eventdata.KindKeyValueCleared {
				(*cleared)++
			}
		}
		if c.stats != nil {
			c.stats.KVUserKeyCount += *cleared
		}
	}),

	spoil("children of all depths", "ListChildren", func(c *call) {
		tree, err := c.inner.Admin().GetInstanceTree(c.ctx, c.instance)
		if c.err = err; err == nil {
			c.names = slices.DeleteFunc(tree.AllIDs, func(s string) bool { return s == c.instance })
		}
	}),
	answers("strangers have no parent", "GetParentID", func(c *call) { c.err = nil }),
	remembers("the last parent counts", "", func(c *call, last *string) {
		if p := c.ack.Metadata.ParentInstanceID; p != "" {
			*last = p
		}
		if c.do(); c.is("GetParentID") && c.parent != "" {
			c.parent = *last
		}
	}),
	spoil("trees of two levels", "GetInstanceTree", func(c *call) {
		names, err := c.inner.Admin().ListChildren(c.ctx, c.instance)
		c.tree, c.err = &engine.InstanceTree{RootID: c.instance, AllIDs: append(names, c.instance)}, err
	}),

	asks("deletes by force", "DeleteInstance DeleteInstancesAtomic", func(c *call) { c.force = true }),
	skips("deletes only by force", "DeleteInstance DeleteInstancesAtomic", func(c *call) bool {
		c.err = engine.Permanentf("delete", "still running")
		return !c.force
	}),
	refuses("the continued run", "DeleteInstance", func(c *call) bool {
		return !c.force && c.infoOf(c.instance).Status == engine.StatusContinuedAsNew
	}),
	answers("deletes strangers", "DeleteInstance", func(c *call) {
		if c.deleted == nil {
			c.deleted, c.err = &engine.DeleteInstanceResult{}, nil
		}
	}),
	answers("deletions count nothing", "DeleteInstance DeleteInstancesAtomic DeleteInstanceBulk", func(c *call) {
		if c.deleted != nil {
			c.deleted = &engine.DeleteInstanceResult{}
		}
	}),
	alters("deletions count no messages", func(d *engine.DeleteInstanceResult) { d.QueueMessagesDeleted = 0 }),
	answers("children can be deleted", "DeleteInstance", func(c *call) {
		if c.err != nil && c.force {
			c.deleted, c.err = &engine.DeleteInstanceResult{InstancesDeleted: 1}, nil
		}
	}),
	asks("an atomic deletion takes the first", "DeleteInstancesAtomic", func(c *call) { c.names = c.names[:min(1, len(c.names))] }),
	fails("an atomic deletion takes what it can", "DeleteInstancesAtomic", func(c *call) {
		for _, in := range c.names {
			_, _ = c.inner.Admin().DeleteInstance(c.ctx, in, false)
		}
	}),
	refuses("an empty deletion is refused", "DeleteInstancesAtomic", func(c *call) bool { return len(c.names) == 0 }),
	rule("orphans are left", func(r *memprovider.Rules) { r.RefusesOrphans = false }),
	deletes("messages outlive their instance", memprovider.DeleteMessages),
	deletes("work outlives its instance", memprovider.DeleteWork),
	deletes("stored keys outlive their instance", memprovider.DeleteKV),
	deletes("the lock outlives its instance", memprovider.DeleteLock),
	fails("late completions reach the new life", "AckWorkItem", func(c *call) {
		if c.item != nil {
			c.err = c.inner.EnqueueForOrchestrator(c.ctx, c.item, 0)
		}
	}),

	asks("bulk ids are ignored", "DeleteInstanceBulk PruneExecutionsBulk", func(c *call) { c.which.InstanceIDs = nil }),
	asks("an empty list of ids is none", "DeleteInstanceBulk", func(c *call) {
		if len(c.which.InstanceIDs) == 0 {
			c.which.InstanceIDs = nil
		}
	}),
	asks("bulk limits are ignored", "DeleteInstanceBulk", func(c *call) { c.which.Limit = nil }),
	asks("limit zero is no limit", "DeleteInstanceBulk", func(c *call) {
		if c.which.Limit != nil && *c.which.Limit == 0 {
			c.which.Limit = nil
		}
	}),
	asks("bulk cutoffs are ignored", "DeleteInstanceBulk PruneExecutionsBulk", func(c *call) { c.which.CompletedBefore = nil }),
	asks("cutoffs are inclusive", "DeleteInstanceBulk PruneExecutionsBulk", func(c *call) {
		if at := c.which.CompletedBefore; at != nil {
			c.which.CompletedBefore = pointer(*at + 1)
		}
	}),
	spoil("bulk takes the running", "DeleteInstanceBulk", func(c *call) {
		c.deleted, c.err = c.inner.Admin().DeleteInstancesAtomic(c.ctx, c.which.InstanceIDs, true)
	}),
	answers("bulk takes children", "DeleteInstanceBulk", func(c *call) {
		if c.deleted != nil && c.deleted.InstancesDeleted == 0 {
			c.deleted, c.err = c.inner.Admin().DeleteInstancesAtomic(c.ctx, c.which.InstanceIDs, false)
		}
	}),
	skips("bulk spares trees that run", "DeleteInstanceBulk", func(c *call) bool {
		c.deleted = &engine.DeleteInstanceResult{}
		return slices.ContainsFunc(c.which.InstanceIDs, func(in string) bool {
			names, _ := c.inner.Admin().ListChildren(c.ctx, in)
			return slices.ContainsFunc(names, func(child string) bool {
				status := c.infoOf(child).Status
				return status != "" && !status.Terminal()
			})
		})
	}),

	asks("keeps one more", "PruneExecutions PruneExecutionsBulk", func(c *call) {
		if k := c.options.KeepLast; k != nil {
			c.options.KeepLast = pointer(*k + 1)
		}
	}),
	fails("strangers are pruned", "PruneExecutions", func(c *call) { c.pruned, c.err = &engine.PruneResult{}, nil }),
	asks("a prune's cutoff is ignored", "PruneExecutions", func(c *call) { c.options.CompletedBefore = nil }),
	asks("a prune's number is ignored beside a cutoff", "PruneExecutions", func(c *call) {
		if c.options.CompletedBefore != nil {
			c.options.KeepLast = nil
		}
	}),
	alters("prunes are counted double", func(p *engine.PruneResult) {
		p.ExecutionsDeleted *= 2
		p.EventsDeleted++
	}),
	alters("idle prunes are not counted", func(p *engine.PruneResult) {
		if p.ExecutionsDeleted == 0 {
			p.InstancesProcessed = 0
		}
	}),
	answers("a prune takes activities", "PruneExecutions", func(c *call) {
		if f, _ := c.inner.FetchWorkItem(c.ctx, time.Second, 0, nil, engine.TagFilter{Mode: engine.TagAny}); f != nil {
			_ = c.inner.AckWorkItem(c.ctx, f.LockToken, nil)
		}
	}),
	skips("a bulk prune spares the running", "PruneExecutionsBulk", func(c *call) bool {
		c.pruned = &engine.PruneResult{}
		return slices.ContainsFunc(c.which.InstanceIDs, func(in string) bool { return c.infoOf(in).Status == engine.StatusRunning })
	}),
	rule("prunes the running", func(r *memprovider.Rules) { r.Prunes = func(current, _ bool) bool { return !current } }),
}

// deletes makes a deletion skip one of its steps.
func deletes(name string, forgotten memprovider.DeleteStep) killer {
	return rule(name, func(r *memprovider.Rules) {
		r.DeleteSteps = slices.DeleteFunc(slices.Clone(r.DeleteSteps), func(s memprovider.DeleteStep) bool { return s == forgotten })
	})
}
