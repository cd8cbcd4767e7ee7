package conformance_test

import (
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/conformance"
)

// rareKillers make mistakes that show only in some states, or at one instant.
var rareKillers = []killer{
	rule("the parts of a version are compared one by one", func(r *memprovider.Rules) {
		r.Admits = func(f *engine.CapabilityFilter, pin *engine.Version) bool {
			if f == nil || len(f.SupportedVersions) == 0 || pin == nil {
				return f.Admits(pin)
			}
			to := f.SupportedVersions[0].Max
			return f.Admits(pin) && (pin.Major < to.Major || pin.Minor <= to.Minor && pin.Patch <= to.Patch)
		}
	}),
	spoil("locks end a millisecond late", on("FetchOrchestrationItem FetchWorkItem", func(c *call) { c.lock += time.Millisecond; c.do() })),
	spoil("delays end a millisecond late", on("EnqueueForOrchestrator AbandonWorkItem", func(c *call) {
		if c.delay > 0 {
			c.delay += time.Millisecond
		}
		c.do()
	})),
	spoil("events are sorted as texts", on("Read FetchOrchestrationItem", func(c *call) {
		c.do()
		list := c.events
		if c.fetched != nil {
			list = c.fetched.Item.History
		}
		list = slices.Clone(list)
		slices.SortFunc(list, func(a, b engine.Event) int {
			return compareText(strconv.FormatUint(a.EventID, 10), strconv.FormatUint(b.EventID, 10))
		})
		if c.events = list; c.fetched != nil {
			c.fetched.Item.History = list
		}
	})),
	spoil("executions are sorted as texts", on("ListExecutions", func(c *call) {
		c.do()
		slices.SortFunc(c.ids, func(a, b uint64) int { return compareText(strconv.FormatUint(a, 10), strconv.FormatUint(b, 10)) })
	})),
	spoilWith("an output outlives its status", func(*conformance.Store) func(c *call) {
		var last *string
		return on("GetExecutionInfo", func(c *call) {
			if c.do(); c.about != nil {
				if c.about.Output != nil {
					last = c.about.Output
				}
				c.about.Output = last
			}
		})
	}),
	snapshotsOf("continuing revives keys", engine.StatusContinuedAsNew),
	snapshotsOf("failing revives keys", engine.StatusFailed),
	spoilWith("later acks take the parent", func(*conformance.Store) func(c *call) {
		taken := false
		return func(c *call) {
			if m := c.ack.Metadata; m.OrchestrationName != "" {
				taken = m.ParentInstanceID == ""
			}
			if c.do(); c.info != nil && taken {
				c.info.ParentInstanceID = ""
			}
		}
	}),
	spoil("the owners before an unknown one are held", on("RenewSessionLock", func(c *call) {
		if i := slices.Index(c.owners, "w0"); i >= 0 {
			c.owners = c.owners[:i]
		}
		c.do()
	})),
	spoil("one unknown id ends a deletion", on("DeleteInstancesAtomic", func(c *call) {
		for i, in := range c.names {
			if _, err := c.inner.Admin().GetInstanceInfo(c.ctx, in); err != nil {
				c.names = c.names[:i]
				break
			}
		}
		c.do()
	})),
	spoilWith("an equal message that waits is not sent again", func(*conformance.Store) func(c *call) {
		var waiting []engine.WorkItem
		return func(c *call) {
			if c.is("EnqueueForOrchestrator") {
				if slices.ContainsFunc(waiting, func(w engine.WorkItem) bool { return reflect.DeepEqual(w, c.item) }) {
					return
				}
				waiting = append(waiting, c.item)
			}
			if c.do(); c.fetched != nil {
				waiting = nil
			}
		}
	}),
	spoil("bulk takes two levels", on("DeleteInstanceBulk", func(c *call) {
		ids, _ := c.inner.Admin().ListInstances(c.ctx)
		deepest := 0
		for _, in := range ids {
			tree, _ := c.inner.Admin().GetInstanceTree(c.ctx, in)
			deepest = max(deepest, len(tree.AllIDs))
		}
		if c.do(); c.deleted != nil && deepest > 2 {
			c.deleted.InstancesDeleted = 2
		}
	})),
}

// snapshotsOf delivers each key that was ever delivered, once an execution has ended with the status.
func snapshotsOf(name string, status engine.Status) killer {
	return spoilWith(name, func(*conformance.Store) func(c *call) {
		var seen []engine.KVEntry
		ended := false
		return func(c *call) {
			ended = ended || c.ack.Metadata.Status == status
			if c.do(); c.fetched == nil {
				return
			}
			for _, e := range c.fetched.Item.KVSnapshot {
				if !slices.ContainsFunc(seen, func(s engine.KVEntry) bool { return s.Key == e.Key }) {
					seen = append(seen, e)
				}
			}
			if ended {
				c.fetched.Item.KVSnapshot = slices.Clone(seen)
			}
		}
	})
}
