package conformance_test

import (
	"slices"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/eventdata"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/conformance"
)

// adminKillers make mistakes in the management surface.
var adminKillers = []killer{
	spoil("no instance is listed", on("ListInstances", func(c *call) {})),
	spoil("one instance is listed", on("ListInstances", func(c *call) { c.do(); c.names = c.names[:min(1, len(c.names))] })),
	spoil("every status lists all", on("ListInstancesByStatus", func(c *call) { c.names, c.err = c.inner.Admin().ListInstances(c.ctx) })),
	spoil("an unknown status lists all", on("ListInstancesByStatus", func(c *call) {
		if c.do(); c.status == "Sleeping" {
			c.names, c.err = c.inner.Admin().ListInstances(c.ctx)
		}
	})),
	spoil("no status lists any", on("ListInstancesByStatus", func(c *call) {})),
	spoil("old executions count for the status", on("ListInstancesByStatus", func(c *call) {
		c.do()
		all, _ := c.inner.Admin().ListInstances(c.ctx)
		for _, in := range all {
			if e, err := c.inner.Admin().GetExecutionInfo(c.ctx, in, 1); err == nil && e.Status == c.status && !slices.Contains(c.names, in) {
				c.names = append(c.names, in)
			}
		}
	})),
	spoil("the last execution is listed", on("ListExecutions", func(c *call) { c.do(); c.ids = c.ids[max(0, len(c.ids)-1):] })),
	spoil("the unnamed have no executions", on("ListExecutions", func(c *call) {
		if c.do(); true {
			if _, err := c.inner.Admin().GetInstanceInfo(c.ctx, c.instance); err != nil {
				c.ids = nil
			}
		}
	})),
	spoil("strangers have an execution", on("ListExecutions", func(c *call) {
		if c.do(); len(c.ids) == 0 {
			c.ids = []uint64{1}
		}
	})),
	spoil("strangers have no latest execution", on("LatestExecutionID", func(c *call) { c.execution, c.err = 0, nil })),
	spoil("info without version", on("GetInstanceInfo", func(c *call) {
		if c.do(); c.info != nil {
			c.info.OrchestrationVersion = ""
		}
	})),
	spoil("info without output", on("GetInstanceInfo GetExecutionInfo", func(c *call) {
		c.do()
		if c.info != nil {
			c.info.Output = nil
		}
		if c.about != nil {
			c.about.Output = nil
		}
	})),
	spoil("info of the first execution", on("GetInstanceInfo", func(c *call) {
		if c.do(); c.info != nil {
			c.info.CurrentExecutionID = 1
		}
	})),
	spoil("strangers have an info", on("GetInstanceInfo", func(c *call) {
		if c.do(); c.err != nil {
			c.info, c.err = &engine.InstanceInfo{InstanceID: c.instance, Status: engine.StatusRunning, CurrentExecutionID: 1}, nil
		}
	})),
	spoil("unknown executions have an info", on("GetExecutionInfo", func(c *call) {
		if c.do(); c.err != nil {
			c.about, c.err = &engine.ExecutionInfo{ExecutionID: c.execution}, nil
		}
	})),
	spoil("the running have ended", on("GetExecutionInfo", func(c *call) {
		if c.do(); c.about != nil && c.about.CompletedAt == nil {
			c.about.CompletedAt = new(uint64)
		}
	})),
	spoil("nothing has ended", on("GetExecutionInfo", func(c *call) {
		if c.do(); c.about != nil {
			c.about.CompletedAt = nil
		}
	})),
	spoil("events are not counted", on("GetExecutionInfo", func(c *call) {
		if c.do(); c.about != nil {
			c.about.EventCount = 1
		}
	})),
	spoil("metrics are zero", on("GetSystemMetrics", func(c *call) { c.metrics = &engine.SystemMetrics{} })),
	spoil("metrics count the unnamed", on("GetSystemMetrics", func(c *call) {
		if c.do(); c.metrics != nil {
			c.metrics.TotalInstances = c.metrics.TotalExecutions
		}
	})),
	spoil("depths are zero", on("GetQueueDepths", func(c *call) { c.depths = &engine.QueueDepths{} })),
	spoil("depths count held messages", func(c *call) {
		if c.do(); c.is("GetQueueDepths") {
			c.depths.OrchestratorQueue = max(c.depths.OrchestratorQueue, 3)
		}
	}),
	spoil("there are no statistics", on("GetInstanceStats", func(c *call) {})),
	spoil("strangers have statistics", on("GetInstanceStats", func(c *call) {
		if c.do(); c.stats == nil {
			c.stats = &engine.SystemStats{}
		}
	})),
	stats("events are not measured", func(s *engine.SystemStats) { s.HistorySizeBytes = 0 }),
	stats("nothing is pending", func(s *engine.SystemStats) { s.QueuePendingCount = 0 }),
	stats("a key too few is counted", func(s *engine.SystemStats) { s.KVUserKeyCount = min(1, s.KVUserKeyCount) }),
	stats("keys are counted in five bytes", func(s *engine.SystemStats) { s.KVTotalValueBytes = min(5, s.KVTotalValueBytes) }),
	stats("keys are counted twice", func(s *engine.SystemStats) { s.KVUserKeyCount *= 2 }),
	spoil("statistics of the first execution", on("GetInstanceStats", func(c *call) {
		if c.do(); c.stats != nil {
			events, _ := c.inner.ReadWithExecution(c.ctx, c.instance, 1)
			c.stats.HistoryEventCount = uint64(len(events))
		}
	})),
	spoilWith("statistics count cleared keys", func(*conformance.Store) func(c *call) {
		cleared := uint64(0)
		return func(c *call) {
			c.do()
			for _, e := range c.ack.HistoryDelta {
				if e.Kind() == eventdata.KindKeyValueCleared {
					cleared++
				}
			}
			if c.stats != nil {
				c.stats.KVUserKeyCount += cleared
			}
		}
	}),

	spoil("children of all depths", on("ListChildren", func(c *call) {
		tree, err := c.inner.Admin().GetInstanceTree(c.ctx, c.instance)
		if c.err = err; err == nil {
			c.names = slices.DeleteFunc(tree.AllIDs, func(s string) bool { return s == c.instance })
		}
	})),
	spoil("strangers' children are an error", on("ListChildren", func(c *call) {
		if _, c.err = c.inner.Admin().GetInstanceInfo(c.ctx, c.instance); c.err == nil {
			c.do()
		}
	})),
	spoil("strangers have no parent", on("GetParentID", func(c *call) { c.do(); c.err = nil })),
	spoil("everybody is a root", on("GetParentID", func(c *call) { c.do(); c.parent = "" })),
	spoilWith("the last parent counts", func(*conformance.Store) func(c *call) {
		last := ""
		return func(c *call) {
			if p := c.ack.Metadata.ParentInstanceID; p != "" {
				last = p
			}
			if c.do(); c.is("GetParentID") && c.parent != "" {
				c.parent = last
			}
		}
	}),
	spoil("trees of two levels", on("GetInstanceTree", func(c *call) {
		names, err := c.inner.Admin().ListChildren(c.ctx, c.instance)
		c.tree, c.err = &engine.InstanceTree{RootID: c.instance, AllIDs: append(names, c.instance)}, err
	})),
	spoil("strangers' trees are empty", on("GetInstanceTree", func(c *call) {
		if c.do(); c.tree != nil {
			if _, err := c.inner.Admin().GetInstanceInfo(c.ctx, c.instance); err != nil {
				c.tree.AllIDs = nil
			}
		}
	})),

	spoil("deletes by force", on("DeleteInstance DeleteInstancesAtomic", func(c *call) { c.force = true; c.do() })),
	spoil("deletes only by force", on("DeleteInstance DeleteInstancesAtomic", func(c *call) {
		if !c.force {
			c.err = engine.Permanentf("delete", "still running")
			return
		}
		c.do()
	})),
	spoil("the continued run", on("DeleteInstance", func(c *call) {
		if info, err := c.inner.Admin().GetInstanceInfo(c.ctx, c.instance); err == nil && info.Status == engine.StatusContinuedAsNew && !c.force {
			c.err = permanent
			return
		}
		c.do()
	})),
	spoil("never deletes", on("DeleteInstance DeleteInstancesAtomic", func(c *call) { c.deleted = &engine.DeleteInstanceResult{} })),
	spoil("deletes strangers", on("DeleteInstance", func(c *call) {
		if c.do(); c.deleted == nil {
			c.deleted, c.err = &engine.DeleteInstanceResult{}, nil
		}
	})),
	spoil("refusals say nothing", on("DeleteInstance DeleteInstancesAtomic", func(c *call) {
		if c.do(); c.err != nil {
			c.err = permanent
		}
	})),
	spoil("deletions count nothing", on("DeleteInstance DeleteInstancesAtomic DeleteInstanceBulk", func(c *call) {
		if c.do(); c.deleted != nil {
			c.deleted = &engine.DeleteInstanceResult{}
		}
	})),
	spoil("deletions count no messages", on("DeleteInstance", func(c *call) {
		if c.do(); c.deleted != nil {
			c.deleted.QueueMessagesDeleted = 0
		}
	})),
	spoil("deletions count one instance", on("DeleteInstance DeleteInstanceBulk", func(c *call) {
		if c.do(); c.deleted != nil {
			c.deleted.InstancesDeleted = min(1, c.deleted.InstancesDeleted)
		}
	})),
	spoil("children can be deleted", on("DeleteInstance", func(c *call) {
		if c.do(); c.err != nil && c.force {
			c.deleted, c.err = &engine.DeleteInstanceResult{InstancesDeleted: 1}, nil
		}
	})),
	spoil("an atomic deletion takes the first", on("DeleteInstancesAtomic", func(c *call) { c.names = c.names[:min(1, len(c.names))]; c.do() })),
	spoil("an atomic deletion takes what it can", on("DeleteInstancesAtomic", func(c *call) {
		if c.do(); c.err != nil {
			for _, in := range c.names {
				_, _ = c.inner.Admin().DeleteInstance(c.ctx, in, false)
			}
		}
	})),
	spoil("an empty deletion is refused", on("DeleteInstancesAtomic", func(c *call) {
		if len(c.names) == 0 {
			c.err = permanent
			return
		}
		c.do()
	})),
	rule("orphans are left", func(r *memprovider.Rules) { r.RefusesOrphans = false }),
	rule("running descendants do not count", func(r *memprovider.Rules) { r.RefusesDelete = func(bool, bool) bool { return false } }),
	deletes("messages outlive their instance", memprovider.DeleteMessages),
	deletes("work outlives its instance", memprovider.DeleteWork),
	deletes("history outlives its instance", memprovider.DeleteHistory),
	deletes("stored keys outlive their instance", memprovider.DeleteKV),
	deletes("the lock outlives its instance", memprovider.DeleteLock),
	deletes("the row outlives its instance", memprovider.DeleteRow),
	spoilWith("late completions reach the new life", func(*conformance.Store) func(c *call) {
		return on("AckWorkItem", func(c *call) {
			if c.do(); c.err != nil && c.item != nil {
				c.err = c.inner.EnqueueForOrchestrator(c.ctx, c.item, 0)
			}
		})
	}),

	spoil("bulk ids are ignored", on("DeleteInstanceBulk PruneExecutionsBulk", func(c *call) { c.which.InstanceIDs = nil; c.do() })),
	spoil("an empty list of ids is none", on("DeleteInstanceBulk", func(c *call) {
		if len(c.which.InstanceIDs) == 0 {
			c.which.InstanceIDs = nil
		}
		c.do()
	})),
	spoil("bulk limits are ignored", on("DeleteInstanceBulk", func(c *call) { c.which.Limit = nil; c.do() })),
	spoil("limit zero is no limit", on("DeleteInstanceBulk", func(c *call) {
		if c.which.Limit != nil && *c.which.Limit == 0 {
			c.which.Limit = nil
		}
		c.do()
	})),
	spoil("bulk cutoffs are ignored", on("DeleteInstanceBulk PruneExecutionsBulk", func(c *call) { c.which.CompletedBefore = nil; c.do() })),
	spoil("cutoffs are inclusive", on("DeleteInstanceBulk PruneExecutionsBulk", func(c *call) {
		if at := c.which.CompletedBefore; at != nil {
			later := *at + 1
			c.which.CompletedBefore = &later
		}
		c.do()
	})),
	spoil("bulk takes the running", on("DeleteInstanceBulk", func(c *call) {
		c.deleted, c.err = c.inner.Admin().DeleteInstancesAtomic(c.ctx, c.which.InstanceIDs, true)
	})),
	spoil("bulk takes children", on("DeleteInstanceBulk", func(c *call) {
		if c.do(); c.deleted != nil && c.deleted.InstancesDeleted == 0 {
			c.deleted, c.err = c.inner.Admin().DeleteInstancesAtomic(c.ctx, c.which.InstanceIDs, false)
		}
	})),
	spoil("bulk spares trees that run", on("DeleteInstanceBulk", func(c *call) {
		for _, in := range c.which.InstanceIDs {
			names, _ := c.inner.Admin().ListChildren(c.ctx, in)
			for _, child := range names {
				if info, err := c.inner.Admin().GetInstanceInfo(c.ctx, child); err == nil && !info.Status.Terminal() {
					c.deleted = &engine.DeleteInstanceResult{}
					return
				}
			}
		}
		c.do()
	})),

	spoil("prunes nothing", on("PruneExecutions PruneExecutionsBulk", func(c *call) { c.pruned = &engine.PruneResult{InstancesProcessed: 1} })),
	spoil("keeps one more", on("PruneExecutions PruneExecutionsBulk", func(c *call) {
		if k := c.options.KeepLast; k != nil {
			more := *k + 1
			c.options.KeepLast = &more
		}
		c.do()
	})),
	spoil("keeps two without options", on("PruneExecutions", func(c *call) {
		if c.options.KeepLast == nil && c.options.CompletedBefore == nil {
			two := uint64(2)
			c.options.KeepLast = &two
		}
		c.do()
	})),
	spoil("strangers are pruned", on("PruneExecutions", func(c *call) {
		if c.do(); c.err != nil {
			c.pruned, c.err = &engine.PruneResult{}, nil
		}
	})),
	spoil("a prune's cutoff is ignored", on("PruneExecutions", func(c *call) { c.options.CompletedBefore = nil; c.do() })),
	spoil("a prune's number is ignored beside a cutoff", on("PruneExecutions", func(c *call) {
		if c.options.CompletedBefore != nil {
			c.options.KeepLast = nil
		}
		c.do()
	})),
	spoil("prunes are counted double", on("PruneExecutions PruneExecutionsBulk", func(c *call) {
		if c.do(); c.pruned != nil {
			c.pruned.ExecutionsDeleted *= 2
			c.pruned.EventsDeleted++
		}
	})),
	spoil("idle prunes are not counted", on("PruneExecutions", func(c *call) {
		if c.do(); c.pruned != nil && c.pruned.ExecutionsDeleted == 0 {
			c.pruned.InstancesProcessed = 0
		}
	})),
	spoil("a prune takes activities", on("PruneExecutions", func(c *call) {
		c.do()
		if f, _ := c.inner.FetchWorkItem(c.ctx, time.Second, 0, nil, engine.TagFilter{Mode: engine.TagAny}); f != nil {
			_ = c.inner.AckWorkItem(c.ctx, f.LockToken, nil)
		}
	})),
	spoil("a bulk prune spares the running", on("PruneExecutionsBulk", func(c *call) {
		for _, in := range c.which.InstanceIDs {
			if info, err := c.inner.Admin().GetInstanceInfo(c.ctx, in); err == nil && info.Status == engine.StatusRunning {
				c.pruned = &engine.PruneResult{}
				return
			}
		}
		c.do()
	})),
	rule("prunes the running", func(r *memprovider.Rules) { r.Prunes = func(current, _ bool) bool { return !current } }),
	rule("prunes the current one", func(r *memprovider.Rules) { r.Prunes = func(_, running bool) bool { return !running } }),
}

// stats falsifies an instance's statistics.
func stats(name string, change func(s *engine.SystemStats)) killer {
	return spoil(name, on("GetInstanceStats", func(c *call) {
		if c.do(); c.stats != nil {
			change(c.stats)
		}
	}))
}

// deletes makes a deletion skip one of its steps.
func deletes(name string, forgotten memprovider.DeleteStep) killer {
	return rule(name, func(r *memprovider.Rules) {
		r.DeleteSteps = slices.DeleteFunc(slices.Clone(r.DeleteSteps), func(s memprovider.DeleteStep) bool { return s == forgotten })
	})
}
