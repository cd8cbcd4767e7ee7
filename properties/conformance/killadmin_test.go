package conformance_test

import (
	"cmp"
	"slices"

	"github.com/durosim/durosim/engine"
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
	alters("a key too few is counted", func(s *engine.SystemStats) { s.KVUserKeyCount = min(1, s.KVUserKeyCount) }),
	alters("keys are counted in five bytes", func(s *engine.SystemStats) { s.KVTotalValueBytes = min(5, s.KVTotalValueBytes) }),
	alters("keys are counted twice", func(s *engine.SystemStats) { s.KVUserKeyCount *= 2 }),

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

	asks("bulk ids are ignored", "DeleteInstanceBulk PruneExecutionsBulk", func(c *call) { c.which.InstanceIDs = nil }),
	asks("bulk limits are ignored", "DeleteInstanceBulk", func(c *call) { c.which.Limit = nil }),
	spoil("bulk takes the running", "DeleteInstanceBulk", func(c *call) {
		c.deleted, c.err = c.inner.Admin().DeleteInstancesAtomic(c.ctx, c.which.InstanceIDs, true)
	}),

	fails("strangers are pruned", "PruneExecutions", func(c *call) { c.pruned, c.err = &engine.PruneResult{}, nil }),
	asks("a prune's cutoff is ignored", "PruneExecutions", func(c *call) { c.options.CompletedBefore = nil }),
	alters("prunes are counted double", func(p *engine.PruneResult) {
		p.ExecutionsDeleted *= 2
		p.EventsDeleted++
	}),
	alters("idle prunes are not counted", func(p *engine.PruneResult) {
		if p.ExecutionsDeleted == 0 {
			p.InstancesProcessed = 0
		}
	}),
	skips("a bulk prune spares the running", "PruneExecutionsBulk", func(c *call) bool {
		c.pruned = &engine.PruneResult{}
		return slices.ContainsFunc(c.which.InstanceIDs, func(in string) bool { return c.infoOf(in).Status == engine.StatusRunning })
	}),
}
